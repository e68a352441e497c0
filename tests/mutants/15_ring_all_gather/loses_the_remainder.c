/* SPDX-License-Identifier: MIT */
// what: each chunk has count / n elements
// expect: belongs to no rank
#include "exercises/exercises.h"

enum { TAG = 15 };

p2p_err my_ring_all_gather(p2p_comm *comm, void *buf, size_t count, enum dtype dtype)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t element = dtype_size(dtype);
    char *elements = buf;
    for (int step = 0; step < size - 1; step++) {
        size_t out_first, out_length, in_first, in_length;
        out_length = count / (size_t)size;
        out_first = (size_t)((rank - step + size) % size) * out_length;
        in_length = count / (size_t)size;
        in_first = (size_t)((rank - step - 1 + size) % size) * in_length;
        p2p_err err = p2p_sendrecv(comm, elements + out_first * element, out_length * element, right, TAG,
                                   elements + in_first * element, in_length * element, left, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
