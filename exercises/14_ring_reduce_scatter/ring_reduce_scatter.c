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
    // TODO: where chunk c begins, and how many elements it has. The first count % n chunks have one more than the others.
    (void)count, (void)n, (void)c;
    *first = *length = 0;
    // END TODO
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
    // TODO: size - 1 steps; in step s send chunk rank - s - 1 to the right, receive chunk rank - s - 2 from the left (both
    // counted round the ring), and combine it with your own. Then the end of a mean.
    (void)right, (void)left, (void)elements, (void)op, (void)TAG;
    err = P2P_ERR_TODO;
    // END TODO
    free(part);
    return err;
}
