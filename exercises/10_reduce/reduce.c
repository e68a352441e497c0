/* SPDX-License-Identifier: MIT */
/*
 * 10_reduce: everyone's numbers, combined on one rank.
 *
 *      make test EX=10
 */
#include <stdlib.h>

#include "exercises/exercises.h"

enum { TAG = 10 };

p2p_err my_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    // TODO: everyone sends buf to the root; the root combines what comes with what it has.
    // dtype_reduce(into, from, count, dtype, op) does the arithmetic: into[i] = into[i] OP from[i]; OP_MEAN adds.
    // dtype_scale(buf, count, dtype, size) divides.
    (void)rank, (void)bytes, (void)size, (void)buf, (void)op, (void)root;
    return P2P_ERR_TODO;
    // END TODO
}
