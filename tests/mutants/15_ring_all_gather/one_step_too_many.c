/* SPDX-License-Identifier: MIT */
// what: a step too many, which sends every chunk once more.
// expect: Rank 0 sent 2 messages
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype);
    char *elements = buf;
    for (int s = 0; s < size && size > 1; s++) {
        int out = (rank - s + size) % size, in = (rank - s - 1 + 2 * size) % size;
        size_t of, ol, f, l;
        my_chunk(count, size, out, &of, &ol);
        my_chunk(count, size, in, &f, &l);
        p2p_err err = p2p_sendrecv(comm, elements + of * element, ol * element, right, TAG, elements + f * element,
                                   l * element, left, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
