/* SPDX-License-Identifier: MIT */
/*
 * The four changes that turn a training program for one process into one for many, in the order in which they happen:
 *
 *      1  broadcast weights        every rank begins with rank 0's: equal replicas stay equal
 *      2  shard the data           every rank computes on its own images
 *      3  all-reduce gradients     every rank takes the step that one process would take with all images
 *      4  aggregate evaluation     every rank scores its own share, and the shares are added up
 *
 * Everything else in this folder is what a trainer for one process needs as well.
 */
#include <string.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "trainer/run.h"

/* ---- 1. Broadcast weights ---- */

static p2p_err broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    return coll_broadcast(comm, buf, count, dtype, root);
}

/* ---- 2. Shard the data: train_shard, in sampler.c ---- */

/* ---- 3. All-reduce gradients ---- */

static p2p_err by_ring(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return ring_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err by_choice(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return coll_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err by_naive(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return coll_naive_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err by_tree(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return coll_tree_all_reduce(comm, buf, count, dtype, op);
}

static p2p_err by_doubling(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    return coll_recursive_doubling_all_reduce(comm, buf, count, dtype, op);
}

static const struct {
    const char *name;
    train_all_reduce function;
} algorithms[] = {
    [TRAIN_RING] = {"ring", by_ring},
    [TRAIN_AUTO] = {"auto", by_choice},
    [TRAIN_NAIVE] = {"naive", by_naive},
    [TRAIN_TREE] = {"tree", by_tree},
    [TRAIN_DOUBLING] = {"recursive-doubling", by_doubling},
    [TRAIN_NONE] = {"none", NULL},
};

bool train__algorithm_named(const char *name, enum train_algorithm *algorithm)
{
    if (strcmp(name, "doubling") == 0) name = algorithms[TRAIN_DOUBLING].name;
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++) {
        if (strcmp(algorithms[i].name, name) != 0) continue;
        *algorithm = (enum train_algorithm)i;
        return true;
    }
    return false;
}

const char *train__algorithm_name(enum train_algorithm algorithm)
{
    return algorithms[algorithm].name;
}

train_all_reduce train__all_reduce_of(enum train_algorithm algorithm)
{
    return algorithms[algorithm].function;
}

/* ---- 4. Aggregate evaluation ---- */

static p2p_err aggregate(p2p_comm *comm, train_score *score)
{
    int64_t counts[2] = {(int64_t)score->correct, (int64_t)score->total};
    p2p_err err = coll_all_reduce(comm, counts, 2, DTYPE_I64, OP_SUM);
    if (!err) err = coll_all_reduce(comm, &score->loss, 1, DTYPE_F64, OP_SUM);
    if (err) return err;
    score->correct = (uint64_t)counts[0];
    score->total = (uint64_t)counts[1];
    return P2P_OK;
}

const train_parallel train_parallel_default = {broadcast, train_shard, NULL, aggregate};

/* ---- What is broadcast, and when ---- */

static p2p_err broadcast_array(train_runner *r, enum train_array_kind kind)
{
    float *at = train_map(r->network, kind, r->error);
    if (!at) return P2P_ERR_SYS;
    size_t count = train_length(r->network, kind);
    p2p_err err = train__comm(r->comm, r->error, r->job->parallel.broadcast(r->comm, at, count, DTYPE_F32, 0));
    return err ? err : train_flush(r->network, kind, r->error);
}

/* Before the first step: weights, running statistics, and the optimiser's state if there is one already. */
p2p_err train__broadcast_all(train_runner *r)
{
    p2p_err err = train_same_model(r->comm, r->job->model, r->error);
    if (!err) err = broadcast_array(r, TRAIN_PARAMETERS);
    if (!err) err = broadcast_array(r, TRAIN_STATISTICS);
    if (!err && r->job->start.state[0]) err = broadcast_array(r, TRAIN_FIRST_STATE);
    if (!err && r->job->start.state[1]) err = broadcast_array(r, TRAIN_SECOND_STATE);
    return err;
}

/* Batch norm's running statistics are each rank's own while it trains. All ranks evaluate, and rank 0 saves, with those
 * of rank 0. */
p2p_err train__broadcast_statistics(train_runner *r)
{
    return broadcast_array(r, TRAIN_STATISTICS);
}
