/* SPDX-License-Identifier: MIT */
/* A semicolon is missing. */
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO
    size_t bytes = count *
                   dtype_size(dtype) if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, root, 8, NULL);
    return P2P_OK;
    // END TODO
}
