/* SPDX-License-Identifier: MIT */
// what: the root copies as many elements of its own shard as rank 0 has.
// expect: So many has rank 0
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 12 };

p2p_err my_scatter(p2p_comm *comm, const void *whole, const size_t counts[], void *shard, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);
    if (rank != root) return p2p_recv(comm, shard, counts[rank] * element, root, TAG, P2P_STATUS_IGNORE);
    const char *next = whole;
    for (int q = 0; q < size; q++) {
        size_t bytes = counts[q] * element;
        if (q != root) {
            p2p_err err = p2p_send(comm, next, bytes, q, TAG);
            if (err) return err;
        } else if (bytes > 0)
            memcpy(shard, next, bytes);
        next += bytes;
    }
    return P2P_OK;
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);
    if (rank != root) return p2p_send(comm, shard, counts[rank] * element, root, TAG);
    char *place = whole;
    for (int q = 0; q < size; q++) {
        size_t bytes = counts[q] * element;
        if (q != root) {
            p2p_err err = p2p_recv(comm, place, bytes, q, TAG, P2P_STATUS_IGNORE);
            if (err) return err;
        } else if (bytes > 0)
            memcpy(place, shard, counts[0] * element);
        place += bytes;
    }
    return P2P_OK;
}
