/* SPDX-License-Identifier: MIT */
// what: the right tree, but each rank tells the child with the fewest ranks below it first
// expect: The messages are as few as they should be
// expect: most ranks below it must be told first
#include "exercises/exercises.h"

enum { TAG = 9 };

p2p_err my_tree_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    int size = p2p_size(comm), relative = (p2p_rank(comm) - root + size) % size, lowest = 1;
    size_t bytes = count * dtype_size(dtype);
    p2p_err err = P2P_OK;

    while (lowest < size && !(relative & lowest)) lowest *= 2;
    if (relative > 0) err = p2p_recv(comm, buf, bytes, (relative - lowest + root) % size, TAG, P2P_STATUS_IGNORE);
    for (int bit = 1; bit < lowest && !err; bit *= 2)
        if (relative + bit < size) err = p2p_send(comm, buf, bytes, (relative + bit + root) % size, TAG);
    return err;
}
