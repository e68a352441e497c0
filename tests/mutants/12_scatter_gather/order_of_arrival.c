/* SPDX-License-Identifier: MIT */
// what: the gather puts shards one behind the other as they come.
// expect: not from when it came
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
        p2p_err err = P2P_OK;
        if (q != rank)
            err = p2p_send(comm, next, bytes, q, TAG);
        else if (bytes)
            memcpy(shard, next, bytes);
        if (err) return err;
        next += bytes;
    }
    return P2P_OK;
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype), all = 0;
    p2p_status status;

    if (rank != root) return p2p_send(comm, shard, counts[rank] * element, root, TAG);
    for (int q = 0; q < size; q++) all += counts[q] * element;
    char *next = whole, *end = next + all;
    for (int q = 0; q < size; q++) {
        if (q == rank) {
            if (counts[q]) memcpy(next, shard, counts[q] * element);
            next += counts[q] * element;
            continue;
        }
        p2p_err err = p2p_recv(comm, next, (size_t)(end - next), P2P_ANY_SOURCE, TAG, &status);
        if (err) return err;
        next += status.bytes;
    }
    return P2P_OK;
}
