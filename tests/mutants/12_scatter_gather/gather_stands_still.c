/* SPDX-License-Identifier: MIT */
// what: the pointer does not move on past shards that are received.
// expect: has the pointer moved on past them
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 12 };

p2p_err my_scatter(p2p_comm *comm, const void *whole, const size_t counts[], void *shard, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    if (rank != root) return p2p_recv(comm, shard, counts[rank] * element, root, TAG, P2P_STATUS_IGNORE);

    const char *next = whole; /* where shard q begins: where the shards before it end */
    for (int q = 0; q < size; q++) {
        size_t bytes = counts[q] * element;
        if (q != rank) {
            p2p_err err = p2p_send(comm, next, bytes, q, TAG);
            if (err) return err;
        } else if (bytes) {
            memcpy(shard, next, bytes);
        }
        next += bytes;
    }
    return P2P_OK;
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    if (rank != root) return p2p_send(comm, shard, counts[rank] * element, root, TAG);

    char *next = whole;
    for (int q = 0; q < size; q++) {
        size_t bytes = counts[q] * element;
        if (q != rank) {
            p2p_err err = p2p_recv(comm, next, bytes, q, TAG, P2P_STATUS_IGNORE);
            if (err) return err;
            continue;
        } else if (bytes) {
            memcpy(next, shard, bytes);
        }
        next += bytes;
    }
    return P2P_OK;
}
