/* SPDX-License-Identifier: MIT */
// what: sends chunk s in step s, on every rank
// expect: In step 0 rank 1 sends chunk 0; it should be chunk 1
/* SPDX-License-Identifier: MIT */
/*
 * 15_ring_all_gather: the second half of the ring: every chunk comes to every rank.
 *
 *      make test EX=15
 */
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype);
    char *elements = buf;

    // my_chunk (that of solutions/14_ring_reduce_scatter) is there to be called.
    for (int step = 0; step < size - 1; step++) {
        size_t out_first, out_length, in_first, in_length;
        my_chunk(count, size, step, &out_first, &out_length);
        my_chunk(count, size, step + 1, &in_first, &in_length);
        p2p_err err = p2p_sendrecv(comm, elements + out_first * element, out_length * element, right, TAG,
                                   elements + in_first * element, in_length * element, left, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
