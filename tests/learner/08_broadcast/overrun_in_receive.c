/* SPDX-License-Identifier: MIT */
// what: receives more than there is room for
// expect: In line {here} of broadcast.c rank 1 writes beyond the end of a buffer of 20 bytes
// expect: in p2p_recv
// expect: count * dtype_size(dtype)
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    char big[9000] = {0};
    size_t bytes = count * dtype_size(dtype), more = bytes + 12;

    if (p2p_size(comm) == 1) return P2P_OK;
    if (p2p_rank(comm) != root) return p2p_recv(comm, buf, more, root, 1, NULL); // here
    for (size_t i = 0; i < bytes; i++) big[i] = ((char *)buf)[i];
    for (int r = 0; r < p2p_size(comm); r++)
        if (r != root) p2p_send(comm, big, more, r, 1);
    return P2P_OK;
}
