/* SPDX-License-Identifier: MIT */
// what: receives into memory of its own, which is not copied to buf.
// expect: nothing was written to buf
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int number = (rank - root + size) % size;
    size_t bytes = count * dtype_size(dtype);
    p2p_err err = P2P_OK;

    for (int have = 1; have < size && !err; have *= 2) {
        char other[64];
        if (number < have && number + have < size)
            err = p2p_send(comm, buf, bytes, (number + have + root) % size, TAG);
        else if (number >= have && number < 2 * have)
            err = p2p_recv(comm, bytes <= sizeof other ? (void *)other : buf, bytes, (number - have + root) % size, TAG,
                           P2P_STATUS_IGNORE);
    }
    return err;
}
