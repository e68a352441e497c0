/* SPDX-License-Identifier: MIT */
// what: the second all-reduce's error takes the place of the first one's.
// expect: coll_all_reduce failed on rank 0
// expect: my_whole_score returned P2P_OK all the same
#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

p2p_err my_first_weights(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    return coll_broadcast(comm, buf, count, dtype, root);
}

size_t my_share_of_images(size_t count, int rank, int size, size_t mine[])
{
    size_t used = 0;

    for (size_t at = (size_t)rank; at < count; at += (size_t)size) mine[used++] = at;
    return used;
}

p2p_err my_gradient_sum(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return ring_all_reduce(comm, buf, count, dtype, op);
}

p2p_err my_whole_score(p2p_comm *comm, my_score *score)
{
    int64_t counts[2] = {score->correct, score->total};
    p2p_err err = coll_all_reduce(comm, counts, 2, DTYPE_I64, OP_SUM);

    err = coll_all_reduce(comm, &score->loss, 1, DTYPE_F64, OP_SUM);
    score->correct = counts[0];
    score->total = counts[1];
    return err;
}
