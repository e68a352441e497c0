/* SPDX-License-Identifier: MIT */
/*
 * 08_broadcast: one rank's data, on every rank. The naive way: the root tells everyone, one after the other.
 *
 *      make test EX=08
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO: the root sends its count elements to every other rank; every other rank receives them in its buf.
    // stub: (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    // stub: return P2P_ERR_TODO;
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, root, TAG, P2P_STATUS_IGNORE);
    for (int rank = 0; rank < p2p_size(comm); rank++) {
        if (rank == root) continue;
        p2p_err err = p2p_send(comm, buf, bytes, rank, TAG);
        if (err) return err;
    }
    return P2P_OK;
    // END TODO
}
