/* SPDX-License-Identifier: MIT */
// what: the root sends to every rank, as in exercise 08
// expect: the root, sent all
// expect: that is the naive broadcast of exercise 08
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype);

    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, bytes, root, TAG, P2P_STATUS_IGNORE);
    for (int q = 0; q < p2p_size(comm); q++) {
        p2p_err err = q == root ? P2P_OK : p2p_send(comm, buf, bytes, q, TAG);
        if (err) return err;
    }
    return P2P_OK;
}
