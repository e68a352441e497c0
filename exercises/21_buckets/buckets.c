/* SPDX-License-Identifier: MIT */
/* Exercise 21: many small gradients, few messages. The page is README.md in this folder. */
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "ring/ring.h"

/* Reduce tensors[first] to tensors[last] (first <= last) as one: copy them together, reduce, copy them back. */
static p2p_err sync_together(p2p_comm *comm, float *const tensors[], const size_t counts[], size_t first, size_t last)
{
    // TODO: allocate room for all of them, copy them in, one ring_all_reduce with OP_MEAN, copy them out, free.
    (void)comm, (void)tensors, (void)counts, (void)first, (void)last;
    return P2P_ERR_TODO;
    // END TODO
}

p2p_err my_sync_buckets(p2p_comm *comm, float *const tensors[], const size_t counts[], size_t tensor_count,
                        size_t bucket)
{
    // TODO: from the last tensor to the first, see how many fit into a bucket together, and sync_together them.
    (void)bucket;
    return sync_together(comm, tensors, counts, 0, tensor_count - 1);
    // END TODO
}
