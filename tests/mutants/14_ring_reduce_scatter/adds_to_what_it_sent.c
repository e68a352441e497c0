/* SPDX-License-Identifier: MIT */
// what: adds what comes to the chunk that was sent
// expect: puts what comes to chunk 1; it should be chunk 0
/* SPDX-License-Identifier: MIT */
/*
 * 14_ring_reduce_scatter: the first half of the ring: rank r completes chunk r.
 *
 *      make test EX=14
 */
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 14 };

void my_chunk(size_t count, int n, int c, size_t *first, size_t *length)
{
    size_t each = count / (size_t)n, longer = count % (size_t)n, before = (size_t)c;
    *first = before * each + (before < longer ? before : longer); /* each longer one before it moves it by one */
    *length = each + (before < longer ? 1 : 0);
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
    // counted round the ring), and combine it with your own. Then the end of a mean.
    size_t out_first, out_length;
    for (int step = 0; step < size - 1 && !err; step++) {
        my_chunk(count, size, (rank - step - 1 + size) % size, &out_first, &out_length);
        my_chunk(count, size, (rank - step - 1 + size) % size, &first, &length);
        err = p2p_sendrecv(comm, elements + out_first * element, out_length * element, right, TAG, part,
                           length * element, left, TAG, P2P_STATUS_IGNORE);
        if (!err) dtype_reduce(elements + first * element, part, length, dtype, op);
    }
    my_chunk(count, size, rank, &first, &length);
    if (!err && op == OP_MEAN) dtype_scale(elements + first * element, length, dtype, size);
    free(part);
    return err;
}
