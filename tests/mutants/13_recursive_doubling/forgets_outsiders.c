/* SPDX-License-Identifier: MIT */
// what: the ranks beyond the power of two give what they have and get nothing back.
// expect: a rank inside must send it to them at the end
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 13 };

p2p_err my_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), power = 1;
    size_t bytes = count * dtype_size(dtype);
    void *theirs = malloc(bytes + 1);
    p2p_err err = P2P_OK;

    while (power * 2 <= size) power *= 2;
    if (rank >= power) {
        err = p2p_send(comm, buf, bytes, rank - power, TAG);
        free(theirs);
        return err;
    }
    if (rank + power < size) {
        err = p2p_recv(comm, theirs, bytes, rank + power, TAG, P2P_STATUS_IGNORE);
        dtype_reduce(buf, theirs, count, dtype, op);
    }
    for (int bit = 1; bit < power && !err; bit *= 2) {
        int partner = rank ^ bit;
        err = p2p_sendrecv(comm, buf, bytes, partner, TAG, theirs, bytes, partner, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(buf, theirs, count, dtype, op);
    }
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    free(theirs);
    return err;
}
