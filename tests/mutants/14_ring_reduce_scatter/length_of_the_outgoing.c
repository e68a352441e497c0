/* SPDX-License-Identifier: MIT */
// what: receives and adds with the length of the chunk that it sends
// expect: beyond the end of a buffer
// expect: have lengths of their own
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 14 };

void my_chunk(size_t count, int n, int c, size_t *first, size_t *length)
{
    size_t each = count / (size_t)n, rest = count % (size_t)n, q = (size_t)c;
    *first = q * each + (q < rest ? q : rest);
    *length = each + (q < rest ? 1 : 0);
}

p2p_err my_ring_reduce_scatter(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype), first, length;
    char *elements = buf;
    p2p_err err = P2P_OK;

    my_chunk(count, size, 0, &first, &length); /* the longest */
    void *part = malloc(length * element + 1); /* malloc(0) may be NULL */
    if (!part) return P2P_ERR_NOMEM;
    for (int s = 0; s < size - 1 && !err; s++) {
        int out = (rank - s - 1 + size) % size, in = (rank - s - 2 + 2 * size) % size;
        size_t in_first, in_length;
        my_chunk(count, size, out, &first, &length);
        my_chunk(count, size, in, &in_first, &in_length);
        err = p2p_sendrecv(comm, elements + first * element, length * element, right, TAG, part, length * element, left,
                           TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(elements + in_first * element, part, length, dtype, op);
    }
    if (!err && op == OP_MEAN) {
        my_chunk(count, size, rank, &first, &length);
        dtype_scale(elements + first * element, length, dtype, size);
    }
    free(part);
    return err;
}
