/* SPDX-License-Identifier: MIT */
// what: combines what came from outside after the butterfly, which has overwritten it.
// expect: which stands outside the butterfly, and it is not in the sum
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 13 };

/* The ranks from `power` on stand outside: each gives its buffer to the rank `power` below it, and waits for the result. */
static p2p_err outside(p2p_comm *comm, void *buf, size_t bytes, int inside)
{
    p2p_err err = p2p_send(comm, buf, bytes, inside, TAG);
    return err ? err : p2p_recv(comm, buf, bytes, inside, TAG, P2P_STATUS_IGNORE);
}

/* buf becomes the combination of what all ranks of the butterfly, 0 to power - 1, bring along. `theirs` has room for a
 * buffer. */
static p2p_err butterfly(p2p_comm *comm, void *buf, void *theirs, size_t count, enum dtype dtype, enum op op, int power)
{
    int rank = p2p_rank(comm);
    size_t bytes = count * dtype_size(dtype);

    for (int bit = 1; bit < power; bit *= 2) {
        int partner = rank ^ bit;
        p2p_err err = p2p_sendrecv(comm, buf, bytes, partner, TAG, theirs, bytes, partner, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
        dtype_reduce(buf, theirs, count, dtype, op);
    }
    return P2P_OK;
}

p2p_err my_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), power = 1;
    size_t bytes = count * dtype_size(dtype);
    p2p_err err = P2P_OK;

    while (power * 2 <= size) power *= 2; /* the largest power of two that is not above size */
    if (rank >= power) return outside(comm, buf, bytes, rank - power);

    void *theirs = malloc(bytes + 1); /* malloc(0) may be NULL */
    if (!theirs) return P2P_ERR_NOMEM;
    // end of a mean; and give that rank the result.
    bool has_outsider = rank + power < size;
    if (has_outsider) err = p2p_recv(comm, theirs, bytes, rank + power, TAG, P2P_STATUS_IGNORE);
    if (!err) err = butterfly(comm, buf, theirs, count, dtype, op, power);
    if (has_outsider && !err) dtype_reduce(buf, theirs, count, dtype, op);
    if (!err && op == OP_MEAN) dtype_scale(buf, count, dtype, size);
    if (has_outsider && !err) err = p2p_send(comm, buf, bytes, rank + power, TAG);
    free(theirs);
    return err;
}
