/* SPDX-License-Identifier: MIT */
// what: does not ask whether the rank it sends to exists, so that the tree bends round to ranks that have the data
// expect: with three ranks, number 1 has no rank at 1 + 2
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int relative = (rank - root + size) % size;
    size_t bytes = count * dtype_size(dtype);

    for (int have = 1; have < size; have *= 2) {
        p2p_err err = P2P_OK;
        if (relative < have)
            err = p2p_send(comm, buf, bytes, (relative + have + root) % size, TAG);
        else if (relative < 2 * have)
            err = p2p_recv(comm, buf, bytes, (relative - have + root) % size, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
