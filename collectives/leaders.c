/* SPDX-License-Identifier: MIT */
/*
 * Leaders all-reduce, for ranks on several hosts: one rank of each host, its lowest, speaks for it. Within a host a
 * binomial tree to the leader (tree_reduce.c) and, later, down again; leaders do recursive doubling
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

/* Where the ranks of a communicator are, for one of them. */
typedef struct {
    int hosts, own;             /* this rank's */
    int here, number;           /* ranks on this host; this one's number among them: the leader's is 0 */
    int local[P2P_MAX_RANKS];   /* the ranks here, in order */
    int leaders[P2P_MAX_RANKS]; /* of each host */
} layout;

static layout find_layout(const frame__call *call)
{
    layout l = {.hosts = p2p_hosts(call->comm), .own = p2p_host(call->comm, call->rank)};
    for (int rank = call->size - 1; rank >= 0; rank--) l.leaders[p2p_host(call->comm, rank)] = rank;
    for (int rank = 0; rank < call->size; rank++) {
        if (p2p_host(call->comm, rank) != l.own) continue;
        if (rank == call->rank) l.number = l.here;
        l.local[l.here++] = rank;
    }
    return l;
}

static p2p_err to_leader(frame__call *call, const layout *l, const void **so_far)
{
    p2p_err err = P2P_OK;
    for (int bit = 1; bit < l->here && !err; bit *= 2) {
        if (l->number & bit)
            return p2p_layer_send(call->comm, *so_far, call->bytes, l->local[l->number - bit], FRAME_TAG);
        if (l->number + bit >= l->here) continue;
        frame__combines_next(call);
        err = p2p_layer_recv(call->comm, call->scratch, call->bytes, l->local[l->number + bit], FRAME_TAG,
                             P2P_STATUS_IGNORE);
        if (!err) frame__combine(call, call->work, *so_far, call->scratch);
        *so_far = call->work;
    }
    return err;
}

static p2p_err from_leader(frame__call *call, const layout *l, const void **so_far)
{
    int lowest = coll__tree_lowest_bit(l->number, l->here);
    p2p_err err = P2P_OK;
    if (l->number > 0) {
        *so_far = call->work;
        err = p2p_layer_recv(call->comm, call->work, call->bytes, l->local[l->number - lowest], FRAME_TAG,
                             P2P_STATUS_IGNORE);
    }
    for (int bit = lowest / 2; bit > 0 && !err; bit /= 2)
        if (l->number + bit < l->here)
            err = p2p_layer_send(call->comm, *so_far, call->bytes, l->local[l->number + bit], FRAME_TAG);
    return err;
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
    const void *so_far = buf;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    const layout l = find_layout(&call);
    err = frame__memory(&call, call.bytes);
    if (!err) err = to_leader(&call, &l, &so_far);
    if (!err && l.number == 0) err = coll__recursive_doubling(&call, l.leaders, l.hosts, l.own, &so_far);
    if (!err) err = from_leader(&call, &l, &so_far);
    return frame__end(&call, err, so_far);
}
