/* SPDX-License-Identifier: MIT */
/*
 * 09_tree_broadcast: one rank's data, on every rank, in log2(n) rounds: each rank that has it passes it on.
 *
 *      make test EX=09
 */
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    // TODO: in each round everyone who has the data sends it to one rank that has not.
    (void)rank, (void)size, (void)bytes, (void)buf, (void)root;
    return P2P_ERR_TODO;
    // END TODO
}
