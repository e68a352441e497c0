/* SPDX-License-Identifier: MIT */
// what: the gather receives from any rank, and puts each shard where its sender's belongs.
// expect: a shard of the second call for one of the first
// expect: Receive from rank q, by its number
#include <stdlib.h>
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
    char *begin = whole, *part = malloc(all + 1);
    if (!part) return P2P_ERR_NOMEM;
    p2p_err err = P2P_OK;
    for (int turn = 0; turn < size && !err; turn++) {
        int from = rank;
        if (turn != rank) err = p2p_recv(comm, part, all, P2P_ANY_SOURCE, TAG, &status);
        if (turn != rank) from = status.source;
        char *place = begin;
        for (int q = 0; q < from; q++) place += counts[q] * element;
        if (!err && counts[from]) memcpy(place, from == rank ? shard : part, counts[from] * element);
    }
    free(part);
    return err;
}
