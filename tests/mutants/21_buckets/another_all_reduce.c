/* SPDX-License-Identifier: MIT */
// what: uses coll_all_reduce.
// expect: is it ring_all_reduce that is called
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

/* Reduce tensors[first] to tensors[last] (first <= last) as one: copy them together, reduce, copy them back. */
static p2p_err sync_together(p2p_comm *comm, float *const tensors[], const size_t counts[], size_t first, size_t last)
{
    size_t total = 0, at = 0;
    for (size_t i = first; i <= last; i++) total += counts[i];
    float *bucket = malloc((total + 1) * sizeof *bucket);

    if (!bucket) return P2P_ERR_NOMEM;
    for (size_t i = first; i <= last; at += counts[i++]) memcpy(bucket + at, tensors[i], counts[i] * sizeof *bucket);
    p2p_err err = coll_all_reduce(comm, bucket, total, DTYPE_F32, OP_MEAN);
    at = 0;
    for (size_t i = first; i <= last && !err; at += counts[i++])
        memcpy(tensors[i], bucket + at, counts[i] * sizeof *bucket);
    free(bucket);
    return err;
}

p2p_err my_sync_buckets(p2p_comm *comm, float *const tensors[], const size_t counts[], size_t tensor_count,
                        size_t bucket)
{
    for (size_t end = tensor_count; end > 0;) {
        size_t first = end - 1, bytes = counts[first] * sizeof(float); /* one fits in any case */
        while (first > 0 && bytes + counts[first - 1] * sizeof(float) <= bucket)
            bytes += counts[--first] * sizeof(float);
        p2p_err err = sync_together(comm, tensors, counts, first, end - 1);
        if (err) return err;
        end = first;
    }
    return P2P_OK;
}
