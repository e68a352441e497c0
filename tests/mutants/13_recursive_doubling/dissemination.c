/* SPDX-License-Identifier: MIT */
// what: sends to rank + 1, + 2, + 4 as the barrier does: with a power of two every rank has everything, each in an order of its own.
// expect: The ranks do not have the same bits
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
        if (!err) err = p2p_recv(comm, buf, bytes, rank - power, TAG, P2P_STATUS_IGNORE);
        free(theirs);
        return err;
    }
    if (rank + power < size) {
        err = p2p_recv(comm, theirs, bytes, rank + power, TAG, P2P_STATUS_IGNORE);
        dtype_reduce(buf, theirs, count, dtype, op);
    }
    for (int by = 1; by < power && !err; by *= 2) {
        int to = (rank + by) % power, from = (rank - by + power) % power;
        err = p2p_sendrecv(comm, buf, bytes, to, TAG, theirs, bytes, from, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(buf, theirs, count, dtype, op);
    }
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    if (!err && rank + power < size) err = p2p_send(comm, buf, bytes, rank + power, TAG);
    free(theirs);
    return err;
}
