/* SPDX-License-Identifier: MIT */
// what: the root sends to one other rank: right only for two ranks.
// expect: deadlock
// expect: p2p_recv(source 0, tag 1)
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, root, TAG, P2P_STATUS_IGNORE);
    if (p2p_size(comm) == 1) return P2P_OK;
    return p2p_send(comm, buf, bytes, root == 0 ? 1 : 0, TAG);
}
