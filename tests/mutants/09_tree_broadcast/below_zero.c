/* SPDX-License-Identifier: MIT */
// what: a rank below the root has a number below 0.
// expect: was sent to rank 0, and not received there
// expect: is below 0 if rank < root
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    int relative = (rank - root) % size;         /* the root is number 0, whichever it is */
    for (int have = 1; have < size; have *= 2) { /* numbers 0 to have - 1 have the data */
        p2p_err err = P2P_OK;
        if (relative < have && relative + have < size)
            err = p2p_send(comm, buf, bytes, (relative + have + root) % size, TAG);
        if (relative >= have && relative < 2 * have)
            err = p2p_recv(comm, buf, bytes, (relative - have + root) % size, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
