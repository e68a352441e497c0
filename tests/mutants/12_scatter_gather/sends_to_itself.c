/* SPDX-License-Identifier: MIT */
// what: the root sends its shard to itself before it receives
// expect: a send to oneself
// expect: in a gather everyone but the root sends
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
        if (q == root) {
            if (bytes) memcpy(shard, next, bytes);
        } else {
            p2p_err err = p2p_send(comm, next, bytes, q, TAG);
            if (err) return err;
        }
        next += bytes;
    }
    return P2P_OK;
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    p2p_err err = p2p_send(comm, shard, counts[rank] * element, root, TAG);
    if (err || rank != root) return err;
    char *next = whole;
    for (int q = 0; q < size; q++) {
        err = p2p_recv(comm, next, counts[q] * element, q, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        next += counts[q] * element;
    }
    return P2P_OK;
}
