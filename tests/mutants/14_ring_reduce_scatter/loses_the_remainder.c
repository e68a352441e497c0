/* SPDX-License-Identifier: MIT */
// what: all chunks have count / n elements; what is left over belongs to no rank.
// expect: have 8 together, so 2 belong to no rank
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 14 };

void my_chunk(size_t count, int n, int c, size_t *first, size_t *length)
{
    *length = count / (size_t)n;
    *first = *length * (size_t)c;
}

p2p_err my_ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype), first, length, out_first, out_length;
    char *elements = buf, *part = malloc(count * element + 1);
    p2p_err err = P2P_OK;

    for (int step = 0; step < size - 1 && !err; step++) {
        my_chunk(count, size, (rank - step - 1 + 2 * size) % size, &out_first, &out_length);
        my_chunk(count, size, (rank - step - 2 + 2 * size) % size, &first, &length);
        err = p2p_sendrecv(comm, elements + out_first * element, out_length * element, right, TAG, part,
                           length * element, left, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(elements + first * element, part, length, dtype, op);
    }
    my_chunk(count, size, rank, &first, &length);
    if (!err && op == OP_MEAN) dtype_scale(elements + first * element, length, dtype, size);
    free(part);
    return err;
}
