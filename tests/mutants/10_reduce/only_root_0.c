/* SPDX-License-Identifier: MIT */
// what: rank 0 gets the result, whichever rank is the root.
// expect: The result is at rank 0; the root of this reduce is rank
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 10 };

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    (void)root;
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);
    p2p_err err = P2P_OK;

    if (rank != 0) return p2p_send(comm, buf, bytes, 0, TAG);
    void *part = malloc(bytes + 1);
    for (int q = 0; q < size && !err; q++) {
        if (q == 0) continue;
        err = p2p_recv(comm, part, bytes, q, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(buf, part, count, dtype, op);
    }
    free(part);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    return err;
}
