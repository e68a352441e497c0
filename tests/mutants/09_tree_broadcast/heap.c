/* SPDX-License-Identifier: MIT */
// what: the tree of a heap, in which each rank tells two others
// expect: no order of these messages needs less than 4 rounds
// expect: sends on in every round until all have it
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    size_t bytes = count * dtype_size(dtype);

    int number = (rank - root + size) % size;
    p2p_err err;
    if (number > 0) {
        err = p2p_recv(comm, buf, bytes, ((number - 1) / 2 + root) % size, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    for (int child = 2 * number + 1; child <= 2 * number + 2 && child < size; child++) {
        err = p2p_send(comm, buf, bytes, (child + root) % size, TAG);
        if (err) return err;
    }
    return P2P_OK;
}
