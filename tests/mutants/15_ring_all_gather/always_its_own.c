/* SPDX-License-Identifier: MIT */
// what: sends its own chunk to the right in every step, and never what came from the left.
// expect: was there before
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype), first, length, in_first, in_length;
    char *elements = buf;
    p2p_err err = P2P_OK;

    my_chunk(count, size, rank, &first, &length);
    my_chunk(count, size, left, &in_first, &in_length);
    for (int step = 0; step < size - 1 && !err; step++)
        err = p2p_sendrecv(comm, elements + first * element, length * element, right, TAG,
                           elements + in_first * element, in_length * element, left, TAG, P2P_STATUS_IGNORE);
    return err;
}
