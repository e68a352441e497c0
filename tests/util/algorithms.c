/* SPDX-License-Identifier: MIT */
#include "tests/util/algorithms.h"

#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/p2p_layer.h"
#include "ring/ring.h"

#define RUNS(name, call)                    \
    static p2p_err name(const operation *o) \
    {                                       \
        return call;                        \
    }

RUNS(naive_all_reduce, coll_naive_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op))
RUNS(tree_all_reduce, coll_tree_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op))
RUNS(doubling_all_reduce, coll_recursive_doubling_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op))
RUNS(plain_all_reduce, coll_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op))
RUNS(blocking_ring, ring_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op))
RUNS(naive_reduce, coll_naive_reduce(o->comm, o->buf, o->count, o->dtype, o->op, o->root))
RUNS(tree_reduce, coll_tree_reduce(o->comm, o->buf, o->count, o->dtype, o->op, o->root))
RUNS(plain_reduce, coll_reduce(o->comm, o->buf, o->count, o->dtype, o->op, o->root))
RUNS(naive_broadcast, coll_naive_broadcast(o->comm, o->buf, o->count, o->dtype, o->root))
RUNS(tree_broadcast, coll_tree_broadcast(o->comm, o->buf, o->count, o->dtype, o->root))
RUNS(plain_broadcast, coll_broadcast(o->comm, o->buf, o->count, o->dtype, o->root))

/* Where ranks share no memory: another that combines in the same order. */
static p2p_err flat(const operation *o)
{
    if (!p2p_layer_has_shared_memory(o->comm)) return naive_all_reduce(o);
    return coll_one_shot_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op);
}

static p2p_err one_shot_reduce(const operation *o)
{
    if (!p2p_layer_has_shared_memory(o->comm)) return naive_reduce(o);
    return coll_one_shot_reduce(o->comm, o->buf, o->count, o->dtype, o->op, o->root);
}

static p2p_err direct(const operation *o)
{
    if (!p2p_layer_has_shared_memory(o->comm)) return naive_all_reduce(o);
    return coll_two_shot_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op);
}

/* Every rank's buffer but one's is read where it lies; not from its begin on. */
static p2p_err direct_in_place(const operation *o)
{
    size_t bytes = o->count * dtype_size(o->dtype), ahead = 64;
    void *block;

    if (!p2p_layer_has_shared_memory(o->comm) || p2p_rank(o->comm) == 1) return direct(o);
    p2p_err err = p2p_alloc(o->comm, bytes + ahead, &block);
    if (err) return err;
    char *buf = (char *)block + ahead;
    if (bytes) memcpy(buf, o->buf, bytes);
    err = coll_two_shot_all_reduce(o->comm, buf, o->count, o->dtype, o->op);
    if (!err && bytes) memcpy(o->buf, buf, bytes);
    p2p_err released = p2p_release(o->comm, block);
    return err ? err : released;
}

static p2p_err waited_for_ring(const operation *o)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(o->comm, o->buf, o->count, o->dtype, o->op, &request);

    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static p2p_err ring_in_halves(const operation *o)
{
    size_t first, length;
    p2p_err err = ring_reduce_scatter(o->comm, o->buf, o->count, o->dtype, o->op, &first, &length);

    return err ? err : ring_all_gather(o->comm, o->buf, o->count, o->dtype);
}

static p2p_err leaders(const operation *o)
{
    return coll_leaders_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op);
}

static p2p_err hierarchical(const operation *o)
{
    return coll_hierarchical_all_reduce(o->comm, o->buf, o->count, o->dtype, o->op);
}

const algorithm algorithms[] = {
    {"coll_naive_all_reduce", ALL_REDUCE, IN_RANK_ORDER, naive_all_reduce},
    {"coll_tree_all_reduce", ALL_REDUCE, TREE, tree_all_reduce},
    {"coll_recursive_doubling_all_reduce", ALL_REDUCE, DOUBLING, doubling_all_reduce},
    {"ring_all_reduce", ALL_REDUCE, RING, blocking_ring},
    {"ring_iall_reduce", ALL_REDUCE, RING, waited_for_ring},
    {"ring_reduce_scatter, ring_all_gather", ALL_REDUCE, RING, ring_in_halves},
    {"coll_one_shot_all_reduce", ALL_REDUCE, IN_RANK_ORDER, flat},
    {"coll_two_shot_all_reduce", ALL_REDUCE, IN_RANK_ORDER, direct},
    {"coll_two_shot_all_reduce, in place", ALL_REDUCE, IN_RANK_ORDER, direct_in_place},
    {"coll_leaders_all_reduce", ALL_REDUCE, LEADERS, leaders},
    {"coll_hierarchical_all_reduce", ALL_REDUCE, HIERARCHICAL, hierarchical},
    {"coll_all_reduce", ALL_REDUCE, RING, plain_all_reduce},
    {"coll_naive_reduce", REDUCE, IN_RANK_ORDER, naive_reduce},
    {"coll_tree_reduce", REDUCE, TREE, tree_reduce},
    {"coll_one_shot_reduce", REDUCE, IN_RANK_ORDER, one_shot_reduce},
    {"coll_reduce", REDUCE, TREE, plain_reduce},
    {"coll_naive_broadcast", BROADCAST, IN_RANK_ORDER, naive_broadcast},
    {"coll_tree_broadcast", BROADCAST, IN_RANK_ORDER, tree_broadcast},
    {"coll_broadcast", BROADCAST, IN_RANK_ORDER, plain_broadcast},
};

const size_t algorithm_count = sizeof algorithms / sizeof *algorithms;

bool algorithm_is_by_host(const algorithm *a, const p2p_comm *comm, size_t bytes, enum shape shape)
{
    if (a->run != plain_all_reduce) return a->shape == shape;
    int hosts = p2p_hosts(comm), n = p2p_size(comm);
    const char *name = shape == LEADERS ? "leaders" : "hierarchical";
    return hosts > 1 &&
           strcmp(coll_choose_placed("all_reduce", p2p_layer_has_inline(comm), hosts, n, bytes), name) == 0;
}

enum shape algorithm_shape(const algorithm *a, int n, size_t bytes)
{
    static const struct {
        const char *name;
        enum shape shape;
    } shapes[] = {{"naive", IN_RANK_ORDER},         {"tree", TREE},
                  {"recursive-doubling", DOUBLING}, {"ring", RING},
                  {"one-shot", IN_RANK_ORDER},      {"two-shot", IN_RANK_ORDER}};
    bool plain = a->run == plain_all_reduce || a->run == plain_reduce;

    if (!plain) return a->shape;
    const char *world = getenv("PAIRWISE_WORLD");
    const char *several = getenv("PAIRWISE_HOSTS");
    int hosts = several && atoi(several) > 1 ? atoi(several) < n ? atoi(several) : n : 1;
    bool shared = world && strcmp(world, "shm") == 0;
    const char *chosen = coll_choose_placed(a->kind == REDUCE ? "reduce" : "all_reduce", shared, hosts, n, bytes);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, chosen) == 0) return shapes[i].shape;
    return a->shape;
}
