/* SPDX-License-Identifier: MIT */
/*
 * The collective calls of a learner's code, in a rank, as check_calls.c has the others: linked where the library has collectives.
 */
#include "collectives/collectives.h"
#include "exercises/check/check_internal.h"
#include "ring/ring.h"

void (*check_on_collective)(const check_collective *call);

/* NOLINTBEGIN(bugprone-macro-parentheses): `args` has its own */
#define STANDS_FOR(name, params, args, request)                                                      \
    p2p_err check_##name params;                                                                     \
    p2p_err check_##name params                                                                      \
    {                                                                                                \
        p2p_err err;                                                                                 \
        return check_pretends(#name, request, __builtin_return_address(0), &err) ? err : (name)args; \
    }
/* The same, and the test is told. */
#define NOTED(name, params, args, ...)                                                                 \
    p2p_err check_##name params;                                                                       \
    p2p_err check_##name params                                                                        \
    {                                                                                                  \
        p2p_err err;                                                                                   \
        if (check_pretends(#name, NULL, NULL, &err)) return err;                                       \
        if (check_on_collective) check_on_collective(&(check_collective){#name, __VA_ARGS__, {NULL}}); \
        return (name)args;                                                                             \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
#define CALLS(name, params, args) STANDS_FOR(name, params, args, NULL)
#define BEGINS(name, params, args) STANDS_FOR(name, params, args, request)

CALLS(coll_barrier, (p2p_comm * comm), (comm))
NOTED(coll_broadcast, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, int root),
      (comm, buf, count, dtype, root), buf, buf, count, dtype, OP_SUM)
NOTED(coll_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, int root),
      (comm, buf, count, dtype, op, root), buf, buf, count, dtype, op)
NOTED(coll_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op), buf, buf, count, dtype, op)
NOTED(coll_scan, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op), buf, buf, count, dtype, op)
CALLS(coll_exscan, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_scatter, (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root),
      (comm, send, recv, count_per_rank, dtype, root))
CALLS(coll_gather, (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, int root),
      (comm, send, recv, count_per_rank, dtype, root))
NOTED(coll_all_gather, (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype),
      (comm, send, recv, count_per_rank, dtype), send, recv, count_per_rank, dtype, OP_SUM)
NOTED(coll_reduce_scatter,
      (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, enum op op),
      (comm, send, recv, count_per_rank, dtype, op), send, recv, count_per_rank, dtype, op)
NOTED(coll_all_to_all, (p2p_comm * comm, const void *send, void *recv, size_t count_per_pair, enum dtype dtype),
      (comm, send, recv, count_per_pair, dtype), send, recv, count_per_pair, dtype, OP_SUM)
CALLS(coll_scatterv,
      (p2p_comm * comm, const void *send, const size_t counts[], const size_t offsets[], void *recv, size_t recv_count,
       enum dtype dtype, int root),
      (comm, send, counts, offsets, recv, recv_count, dtype, root))
CALLS(coll_gatherv,
      (p2p_comm * comm, const void *send, size_t send_count, void *recv, const size_t counts[], const size_t offsets[],
       enum dtype dtype, int root),
      (comm, send, send_count, recv, counts, offsets, dtype, root))
NOTED(coll_all_gatherv,
      (p2p_comm * comm, const void *send, size_t send_count, void *recv, const size_t counts[], const size_t offsets[],
       enum dtype dtype),
      (comm, send, send_count, recv, counts, offsets, dtype), send, recv, send_count, dtype, OP_SUM)
NOTED(coll_reduce_scatterv,
      (p2p_comm * comm, const void *send, const size_t counts[], const size_t offsets[], void *recv, size_t recv_count,
       enum dtype dtype, enum op op),
      (comm, send, counts, offsets, recv, recv_count, dtype, op), send, recv, recv_count, dtype, op)
BEGINS(coll_ibarrier, (p2p_comm * comm, p2p_request *request), (comm, request))
BEGINS(coll_ibroadcast, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, int root, p2p_request *request),
       (comm, buf, count, dtype, root, request))
BEGINS(coll_iall_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request),
       (comm, buf, count, dtype, op, request))
BEGINS(coll_iall_gather,
       (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, p2p_request *request),
       (comm, send, recv, count_per_rank, dtype, request))
BEGINS(coll_ireduce_scatter,
       (p2p_comm * comm, const void *send, void *recv, size_t count_per_rank, enum dtype dtype, enum op op,
        p2p_request *request),
       (comm, send, recv, count_per_rank, dtype, op, request))
CALLS(coll_naive_broadcast, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, int root),
      (comm, buf, count, dtype, root))
CALLS(coll_naive_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, int root),
      (comm, buf, count, dtype, op, root))
CALLS(coll_naive_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_tree_broadcast, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, int root),
      (comm, buf, count, dtype, root))
CALLS(coll_tree_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, int root),
      (comm, buf, count, dtype, op, root))
CALLS(coll_tree_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_recursive_doubling_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_one_shot_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, int root),
      (comm, buf, count, dtype, op, root))
CALLS(coll_one_shot_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_two_shot_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_leaders_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
CALLS(coll_hierarchical_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op))
NOTED(ring_all_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op),
      (comm, buf, count, dtype, op), buf, buf, count, dtype, op)
BEGINS(ring_iall_reduce, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request),
       (comm, buf, count, dtype, op, request))
NOTED(ring_all_gather, (p2p_comm * comm, void *buf, size_t count, enum dtype dtype), (comm, buf, count, dtype), buf,
      buf, count, dtype, OP_SUM)

p2p_err check_coll_all_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[],
                               const size_t send_offsets[], void *recv, const size_t recv_counts[],
                               const size_t recv_offsets[], enum dtype dtype);
p2p_err check_coll_all_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[],
                               const size_t send_offsets[], void *recv, const size_t recv_counts[],
                               const size_t recv_offsets[], enum dtype dtype)
{
    p2p_err err;
    const check_collective call = {
        "coll_all_to_allv", send, recv, 0, dtype, OP_SUM, {send_counts, send_offsets, recv_counts, recv_offsets}};
    if (check_pretends(call.name, NULL, NULL, &err)) return err;
    if (check_on_collective) check_on_collective(&call);
    return (coll_all_to_allv)(comm, send, send_counts, send_offsets, recv, recv_counts, recv_offsets, dtype);
}

/* A rank's chunk is empty then. */
p2p_err check_ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, size_t *first,
                                  size_t *length);
p2p_err check_ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, size_t *first,
                                  size_t *length)
{
    p2p_err err;
    bool pretends = check_pretends("ring_reduce_scatter", NULL, NULL, &err);
    if (!pretends && check_on_collective)
        check_on_collective(&(check_collective){"ring_reduce_scatter", buf, buf, count, dtype, op, {NULL}});
    if (!pretends) return (ring_reduce_scatter)(comm, buf, count, dtype, op, first, length);
    *first = *length = 0;
    return err;
}
