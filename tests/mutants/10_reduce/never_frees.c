/* SPDX-License-Identifier: MIT */
// what: the root takes memory for each part, and frees the last one only.
// expect: did not give back memory that it took at reduce.c:
// expect: needs a free
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 10 };

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);
    void *part = NULL;

    if (rank != root) return p2p_send(comm, buf, bytes, root, TAG);
    for (int q = 0; q < size; q++) {
        if (q == root) continue;
        part = malloc(bytes + 1);
        p2p_err err = p2p_recv(comm, part, bytes, q, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        dtype_reduce(buf, part, count, dtype, op);
    }
    free(part);
    if (op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    return P2P_OK;
}
