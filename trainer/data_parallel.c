/* SPDX-License-Identifier: MIT */
/* The one-call wrapper: broadcast at the start, gradients synced in buckets as they become ready. */
#include <stdlib.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/network.h"

struct train_data_parallel {
    train_network *network;
    p2p_comm *comm;
    train_sync *sync;
};

static p2p_err broadcast(p2p_comm *comm, train_network *network, enum train_array_kind kind, train_error *error)
{
    float *at = train_map(network, kind, error);
    if (!at) return P2P_ERR_SYS;
    p2p_err err = train__comm(comm, error, coll_broadcast(comm, at, train_length(network, kind), DTYPE_F32, 0));
    return err ? err : train_flush(network, kind, error);
}

p2p_err train_data_parallel_open(train_network *network, p2p_comm *comm, const train_sync_options *options,
                                 train_data_parallel **replica, train_error *error)
{
    static const train_sync_options usual = {
        .all_reduce = ring_all_reduce, .overlap = true, .bucket_bytes = (size_t)25 << 20};
    train_data_parallel *r = calloc(1, sizeof *r);
    if (!r) return train__fail(error, P2P_ERR_NOMEM, "no memory for a replica");
    r->network = network;
    r->comm = comm;
    p2p_err err = train_same_model(comm, network->model, error);
    if (!err) err = broadcast(comm, network, TRAIN_PARAMETERS, error);
    if (!err) err = broadcast(comm, network, TRAIN_STATISTICS, error);
    if (!err) err = train_sync_open(network, comm, options ? options : &usual, &r->sync, error);
    if (err)
        train_data_parallel_close(r);
    else
        *replica = r;
    return err;
}

p2p_err train_data_parallel_backward(train_data_parallel *replica, train_error *error)
{
    bool finite = true;
    p2p_err err = train_backward(replica->network, train_sync_ready, replica->sync, error);
    if (!err) err = train_sync_wait(replica->sync, &finite, error);
    if (!err && !finite) err = train__fail(error, P2P_ERR_ARG, "the gradients are not finite; no weight was changed");
    return err;
}

void train_data_parallel_close(train_data_parallel *replica)
{
    if (!replica) return;
    train_sync_close(replica->sync);
    free(replica);
}

train_sync *train__replica_sync(train_data_parallel *replica)
{
    return replica->sync;
}
