/* SPDX-License-Identifier: MIT */
// what: combines all types as floats.
// expect: combined as if they were floats
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 10 };

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    // dtype_reduce(into, from, count, dtype, op) does the arithmetic: into[i] = into[i] OP from[i]; OP_MEAN adds.
    // dtype_scale(buf, count, dtype, size) divides.
    if (rank != root) return p2p_send(comm, buf, bytes, root, TAG);

    p2p_err err = P2P_OK;
    void *part = malloc(bytes + 1); /* malloc(0) may be NULL */
    if (!part) return P2P_ERR_NOMEM;
    for (int q = 0; q < size && !err; q++) {
        if (q == root) continue;
        err = p2p_recv(comm, part, bytes, q, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(buf, part, count, DTYPE_F32, op);
    }
    free(part);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    return err;
}
