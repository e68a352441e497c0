/* SPDX-License-Identifier: MIT */
// what: the hub sends each rank the sum of what the others have, and each rank adds its own: in another order on each rank.
// expect: The ranks do not have the same bits
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 11 };

/* out becomes the sum of all parts but that of rank `but`. */
static void add_up(char *out, const char *parts, int size, int but, size_t count, enum dtype dtype, enum op op)
{
    size_t bytes = count * dtype_size(dtype);
    bool begun = false;

    for (int q = 0; q < size; q++) {
        if (q == but) continue;
        if (begun)
            dtype_reduce(out, parts + (size_t)q * bytes, count, dtype, op);
        else if (bytes)
            memcpy(out, parts + (size_t)q * bytes, bytes);
        begun = true;
    }
}

p2p_err my_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);
    char *parts = calloc((size_t)size, bytes + 1), *sum = calloc(1, bytes + 1);
    p2p_err err = P2P_OK;

    if (bytes) memcpy(parts, buf, bytes);
    for (int q = 1; q < size && rank == 0 && !err; q++)
        err = p2p_recv(comm, parts + (size_t)q * bytes, bytes, q, TAG, P2P_STATUS_IGNORE);
    for (int q = 1; q < size && rank == 0 && !err; q++) {
        add_up(sum, parts, size, q, count, dtype, op);
        err = p2p_send(comm, sum, bytes, q, TAG);
    }
    if (rank == 0) add_up(sum, parts, size, 0, count, dtype, op);
    if (rank > 0) err = p2p_send(comm, buf, bytes, 0, TAG);
    if (rank > 0 && !err) err = p2p_recv(comm, sum, bytes, 0, TAG, P2P_STATUS_IGNORE);
    if (size > 1) dtype_reduce(buf, sum, count, dtype, op);
    if (op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    free(parts);
    free(sum);
    return err;
}
