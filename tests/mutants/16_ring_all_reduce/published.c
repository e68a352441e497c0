/* SPDX-License-Identifier: MIT */
// what: a published one: the whole tensor in each step, 2(n-1) times the buffer; the second phase repeats what is done already; and each rank adds in another order.
// expect: are you sending the whole buffer in each step?
// expect: With 8 ranks that makes 14 times where 1.75 are enough
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 16 };

/* buf becomes the sum, or the copy, of what comes past; everything travels whole. */
static p2p_err go_round(p2p_comm *comm, char *buf, char *travelling, char *arriving, size_t count, enum dtype dtype,
                        enum op op, bool combine)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), right = (rank + 1) % size, left = (rank + size - 1) % size;
    size_t bytes = count * dtype_size(dtype);

    if (bytes) memcpy(travelling, buf, bytes);
    for (int step = 0; step < size - 1; step++) {
        p2p_err err = p2p_sendrecv(comm, travelling, bytes, right, TAG, arriving, bytes, left, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        if (combine)
            dtype_reduce(buf, arriving, count, dtype, op);
        else if (bytes)
            memcpy(buf, arriving, bytes);
        if (bytes) memcpy(travelling, arriving, bytes);
    }
    return P2P_OK;
}

p2p_err my_ring_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    size_t bytes = count * dtype_size(dtype);
    char *travelling = malloc(bytes + 1), *arriving = malloc(bytes + 1);
    p2p_err err = go_round(comm, buf, travelling, arriving, count, dtype, op, true);

    if (!err) err = go_round(comm, buf, travelling, arriving, count, dtype, op, false);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, p2p_size(comm));
    free(travelling);
    free(arriving);
    return err;
}
