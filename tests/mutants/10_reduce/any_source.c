/* SPDX-License-Identifier: MIT */
// what: receives from any rank
// expect: a message of the second call for one of the first
// expect: Name the rank that each receive is for
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 10 };

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    if (rank != root) return p2p_send(comm, buf, bytes, root, TAG);
    void *part = malloc(bytes + 1);
    if (!part) return P2P_ERR_NOMEM;
    p2p_err err = P2P_OK;
    for (int i = 0; i < size && !err; i++) {
        if (i == root) continue;
        err = p2p_recv(comm, part, bytes, P2P_ANY_SOURCE, TAG, P2P_STATUS_IGNORE);
        if (err) break;
        dtype_reduce(buf, part, count, dtype, op);
    }
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    free(part);
    return err;
}
