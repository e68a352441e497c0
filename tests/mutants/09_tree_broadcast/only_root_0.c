/* SPDX-License-Identifier: MIT */
// what: the tree is made of ranks, not of ranks counted from the root
// expect: does your tree begin at rank 0, whichever rank the root is?
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    (void)root;
    for (int have = 1; have < size; have *= 2) {
        p2p_err err = P2P_OK;
        if (rank < have && rank + have < size) err = p2p_send(comm, buf, bytes, rank + have, TAG);
        if (rank >= have && rank < 2 * have) err = p2p_recv(comm, buf, bytes, rank - have, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
