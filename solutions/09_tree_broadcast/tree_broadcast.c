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
    // stub: (void)rank, (void)size, (void)bytes, (void)buf, (void)root;
    // stub: return P2P_ERR_TODO;
    int relative = (rank - root + size) % size;  /* the root is number 0, whichever it is */
    for (int have = 1; have < size; have *= 2) { /* numbers 0 to have - 1 have the data */
        p2p_err err = P2P_OK;
        if (relative < have && relative + have < size)
            err = p2p_send(comm, buf, bytes, (relative + have + root) % size, TAG);
        if (relative >= have && relative < 2 * have)
            err = p2p_recv(comm, buf, bytes, (relative - have + root) % size, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
    // END TODO
}
