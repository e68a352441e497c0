/* SPDX-License-Identifier: MIT */
// what: leaves a round out where the partner does not exist: right only for a power of two.
// expect: is missing
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 13 };

p2p_err my_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);
    void *theirs = malloc(bytes + 1);
    p2p_err err = P2P_OK;

    for (int bit = 1; bit < size && !err; bit *= 2) {
        int partner = rank ^ bit;
        if (partner >= size) continue;
        err = p2p_sendrecv(comm, buf, bytes, partner, TAG, theirs, bytes, partner, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(buf, theirs, count, dtype, op);
    }
    free(theirs);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    return err;
}
