/* SPDX-License-Identifier: MIT */
// what: stops one step too early: the chunk of the right-hand neighbour never comes.
// expect: was there before
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype), first, length, out_first, out_length;
    char *elements = buf;
    p2p_err err = P2P_OK;

    for (int step = 0; step < size - 2 && !err; step++) {
        my_chunk(count, size, (rank - step - 0 + 2 * size) % size, &out_first, &out_length);
        my_chunk(count, size, (rank - step - 1 + 2 * size) % size, &first, &length);
        err = p2p_sendrecv(comm, elements + out_first * element, out_length * element, right, TAG,
                           elements + first * element, length * element, left, TAG, P2P_STATUS_IGNORE);
    }
    return err;
}
