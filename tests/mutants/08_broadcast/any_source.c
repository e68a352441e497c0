/* SPDX-License-Identifier: MIT */
// what: receives from any rank
// expect: a message of the second call for one of the first
// expect: Receive from `root`
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, P2P_ANY_SOURCE, TAG, P2P_STATUS_IGNORE);
    for (int rank = 0; rank < p2p_size(comm); rank++) {
        if (rank == root) continue;
        p2p_err err = p2p_send(comm, buf, bytes, rank, TAG);
        if (err) return err;
    }
    return P2P_OK;
}
