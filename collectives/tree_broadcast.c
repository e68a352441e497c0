/* SPDX-License-Identifier: MIT */
/*
 * Binomial tree broadcast: in each round every rank who has the data passes it on, so that twice as many have it.
 * Count ranks from the root: relative = (rank - root) mod n. Eight ranks, relative numbers:
 *
 *                       0                     round 1    0 -> 4
 *               .-------+---.---.             round 2    0 -> 2   4 -> 6
 *               4           2   1             round 3    0 -> 1   4 -> 5   2 -> 3   6 -> 7
 *           .---+---.       |
 *           6       5       3                 parent:    take away the lowest 1 bit     6 = 110 -> 100 = 4
 *           |                                 children:  add one bit below that bit     4 = 100 -> 110, 101
 *           7
 *
 * ceil(log2 n) rounds. Messages: the root sends ceil(log2 n) of all bytes, most for n ranks; n - 1 in all. Time:
 * ceil(log2 n) (latency + bytes / bandwidth). Thakur, Rabenseifner and Gropp, "Optimization of collective communication
 * operations in MPICH", 2005; the tree is older than that.
 */
#include "collectives/internal.h"

int coll__tree_lowest_bit(int place, int size)
{
    int bit = 1;
    while (bit < size && !(place & bit)) bit *= 2;
    return bit;
}

p2p_err coll__tree_broadcast(frame__call *call, const coll__party *p, void *data)
{
    int bit = coll__tree_lowest_bit(p->own, p->size);
    p2p_err err = P2P_OK;
    if (p->own > 0)
        err = p2p_layer_recv(call->comm, data, call->bytes, coll__rank_at(p, p->own - bit), FRAME_TAG,
                             P2P_STATUS_IGNORE);
    for (bit /= 2; bit > 0 && !err; bit /= 2) /* the child with the most descendants first */
        if (p->own + bit < p->size)
            err = p2p_layer_send(call->comm, data, call->bytes, coll__rank_at(p, p->own + bit), FRAME_TAG);
    return err;
}

p2p_err coll_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_tree_broadcast",
                        .count = count,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root,
                        .only_reads = p2p_rank(comm) == root};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, 0);
    const coll__party all = coll__all_from(&call, root);
    void *data = call.rank == root ? buf : call.work;
    if (!err) err = coll__tree_broadcast(&call, &all, data);
    return frame__end(&call, err, data);
}
