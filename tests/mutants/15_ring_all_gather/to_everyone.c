/* SPDX-License-Identifier: MIT */
// what: each rank sends its chunk to every other rank itself.
// expect: sends to its right-hand neighbour only
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype), first, length, in_first, in_length;
    char *elements = buf;
    p2p_err err = P2P_OK;

    my_chunk(count, size, rank, &first, &length);
    for (int step = 1; step < size && !err; step++) {
        int to = (rank + step) % size, from = (rank - step + size) % size;
        my_chunk(count, size, from, &in_first, &in_length);
        err = p2p_sendrecv(comm, elements + first * element, length * element, to, TAG, elements + in_first * element,
                           in_length * element, from, TAG, P2P_STATUS_IGNORE);
    }
    return err;
}
