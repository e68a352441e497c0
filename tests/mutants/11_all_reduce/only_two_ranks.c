/* SPDX-License-Identifier: MIT */
// what: neighbours 0 and 1, 2 and 3, ... exchange their buffers: right only for two ranks.
// expect: is missing
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 11 };

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), partner = rank ^ 1;
    size_t bytes = count * dtype_size(dtype);

    if (partner >= size) return P2P_OK;
    void *theirs = malloc(bytes + 1);
    p2p_err err = p2p_sendrecv(comm, buf, bytes, partner, TAG, theirs, bytes, partner, TAG, P2P_STATUS_IGNORE);
    if (!err) dtype_reduce(buf, theirs, count, dtype, op);
    free(theirs);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    return err;
}
