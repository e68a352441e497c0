/* SPDX-License-Identifier: MIT */
// what: all others receive from rank 0, whichever rank is the root.
// expect: a rank waits for a message from itself
// expect: the source of all others is `root`
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, 0, TAG, P2P_STATUS_IGNORE);
    for (int rank = 0; rank < p2p_size(comm); rank++) {
        if (rank == root) continue;
        p2p_err err = p2p_send(comm, buf, bytes, rank, TAG);
        if (err) return err;
    }
    return P2P_OK;
}
