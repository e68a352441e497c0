/* SPDX-License-Identifier: MIT */
/*
 * Leaders all-reduce, for ranks on several hosts: one rank of each host, its lowest, speaks for it. Within a host a
 * binomial tree to the leader (tree_reduce.c) and, later, down again (tree_broadcast.c); leaders do recursive doubling
 * (recursive_doubling.c). Two hosts, of two and of three ranks:
 *
 *      host                      A                    B
 *      rank                 0        1        2       3       4
 *      have                 a        b        c       d       e
 *      to the leader        ab <---- b        cd <--- d
 *                                             cde <---------- e
 *      leaders              abcde <---------> abcde
 *      from the leader      abcde -> abcde    abcde ----------> abcde
 *                                             abcde -> abcde
 *
 * For H hosts of R ranks and S bytes: 2 ceil(log2 R) + log2 H steps, and two more if H is no power of two; a host sends
 * log2 H messages of S to others, whatever R is, where recursive doubling of all ranks sends R times as many. So for short
 * buffers, where messages between hosts cost more than their bytes; for long ones hierarchical.c sends fewer bytes.
 *
 * Order: within a host in rank order, ((a b)(c d)) e; hosts by number, the lower on the left, so all leaders compute the
 * same bits. (Karonis et al. 2000, "Exploiting hierarchy in parallel computer networks to optimize collective operation
 * performance".)
 */
#include "collectives/internal.h"

/* The ranks on this rank's host, in order. */
static coll__party find_host(const frame__call *call, int ranks[])
{
    coll__party host = {.ranks = ranks};
    for (int rank = 0; rank < call->size; rank++) {
        if (p2p_host(call->comm, rank) != p2p_host(call->comm, call->rank)) continue;
        if (rank == call->rank) host.own = host.size;
        ranks[host.size++] = rank;
    }
    return host;
}

/* The lowest rank of each host; who is no leader has no part in it. */
static coll__party find_leaders(const frame__call *call, int ranks[])
{
    for (int rank = call->size - 1; rank >= 0; rank--) ranks[p2p_host(call->comm, rank)] = rank;
    return (coll__party){.ranks = ranks, .size = p2p_hosts(call->comm), .own = p2p_host(call->comm, call->rank)};
}

p2p_err coll_leaders_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_leaders_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .reorders = true};
    int here[P2P_MAX_RANKS], of_hosts[P2P_MAX_RANKS];
    const void *result = NULL;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    const coll__party host = find_host(&call, here), leaders = find_leaders(&call, of_hosts);
    err = frame__memory(&call, call.bytes);
    if (!err) err = coll__tree_reduce(&call, &host, buf, call.work, &result);
    if (!err && host.own == 0) err = coll__recursive_doubling(&call, &leaders, &result);
    if (!err && host.own == 0 && call.size > 1) frame__finish_mean(&call, call.work, count);
    if (host.own > 0) result = call.work;
    if (!err) err = coll__tree_broadcast(&call, &host, (void *)(uintptr_t)result);
    return frame__end(&call, err, result);
}
