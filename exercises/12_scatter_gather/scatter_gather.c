/* SPDX-License-Identifier: MIT */
/*
 * 12_scatter_gather: hand out shards of any length, and collect them again.
 *
 *      make test EX=12
 */
#include <string.h>

#include "exercises/exercises.h"

enum { TAG = 12 };

p2p_err my_scatter(p2p_comm *comm, const void *whole, const size_t counts[], void *shard, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    // TODO: the root sends each rank its shard, and copies its own; everyone else receives.
    (void)rank, (void)size, (void)element, (void)whole, (void)counts, (void)shard, (void)root;
    return P2P_ERR_TODO;
    // END TODO
}

p2p_err my_gather(p2p_comm *comm, const void *shard, const size_t counts[], void *whole, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t element = dtype_size(dtype);

    // TODO: the same backwards.
    (void)rank, (void)size, (void)element, (void)shard, (void)counts, (void)whole, (void)root;
    return P2P_ERR_TODO;
    // END TODO
}
