/* SPDX-License-Identifier: MIT */
/*
 * 13_recursive_doubling: the butterfly: an all-reduce in log2(n) rounds.
 *
 *      make test EX=13
 */
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 13 };

/* The ranks from `power` on stand outside: each gives its buffer to the rank `power` below it, and waits for the result. */
static p2p_err outside(p2p_comm *comm, void *buf, size_t bytes, int inside)
{
    // TODO: what a rank does that takes no part in the butterfly; `inside` is the rank that works for it.
    (void)comm, (void)buf, (void)bytes, (void)inside, (void)TAG;
    return P2P_ERR_TODO;
    // END TODO
}

/* buf becomes the combination of what all ranks of the butterfly, 0 to power - 1, bring along. `theirs` has room for a
 * buffer. */
static p2p_err butterfly(p2p_comm *comm, void *buf, void *theirs, size_t count, enum dtype dtype, enum op op, int power)
{
    int rank = p2p_rank(comm);
    size_t bytes = count * dtype_size(dtype);

    // TODO: in round k exchange the whole buffer with the rank whose number differs in bit k, and combine.
    (void)rank, (void)bytes, (void)buf, (void)theirs, (void)op, (void)power;
    return P2P_ERR_TODO;
    // END TODO
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
    // TODO: take in the buffer of the rank that stands outside and belongs to this one, if there is one; the butterfly; the
    // end of a mean; and give that rank the result.
    err = butterfly(comm, buf, theirs, count, dtype, op, power);
    // END TODO
    free(theirs);
    return err;
}
