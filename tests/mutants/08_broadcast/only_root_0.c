/* SPDX-License-Identifier: MIT */
// what: rank 0 sends whatever the root is: right only for root 0.
// expect: but the root is rank 1
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)root;
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != 0) return p2p_recv(comm, buf, bytes, 0, TAG, P2P_STATUS_IGNORE);
    for (int rank = 0; rank < p2p_size(comm); rank++) {
        if (rank == 0) continue;
        p2p_err err = p2p_send(comm, buf, bytes, rank, TAG);
        if (err) return err;
    }
    return P2P_OK;
}
