/* SPDX-License-Identifier: MIT */
// what: the root sends every rank the whole, and each rank picks its shard.
// expect: does it send everyone the whole?
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 12 };

p2p_err my_scatter(p2p_comm *comm, const void *whole, const size_t counts[], void *shard, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype), all = 0, begin = 0;
    p2p_err err = P2P_OK;

    for (int q = 0; q < size; q++) all += counts[q];
    for (int q = 0; q < rank; q++) begin += counts[q];
    char *copy = calloc(all + 1, element);
    if (rank != root) err = p2p_recv(comm, copy, all * element, root, TAG, P2P_STATUS_IGNORE);
    for (int q = 0; q < size && rank == root && !err; q++)
        if (q != root) err = p2p_send(comm, whole, all * element, q, TAG);
    if (rank == root && all) memcpy(copy, whole, all * element);
    if (!err && counts[rank]) memcpy(shard, copy + begin * element, counts[rank] * element);
    free(copy);
    return err;
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    if (rank != root) return p2p_send(comm, shard, counts[rank] * element, root, TAG);
    char *next = whole;
    for (int q = 0; q < size; q++) {
        size_t bytes = counts[q] * element;
        p2p_err err = P2P_OK;
        if (q != rank)
            err = p2p_recv(comm, next, bytes, q, TAG, P2P_STATUS_IGNORE);
        else if (bytes)
            memcpy(next, shard, bytes);
        if (err) return err;
        next += bytes;
    }
    return P2P_OK;
}
