/* SPDX-License-Identifier: MIT */
// what: sends more than there is
// expect: In line {here} of broadcast.c rank 0 reads beyond the end of a buffer of 20 bytes
// expect: in p2p_send
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    size_t bytes = count * dtype_size(dtype) + 12;
    char big[9000];

    if (p2p_rank(comm) != root) return p2p_recv(comm, big, bytes, root, 1, NULL);
    for (int r = 0; r < p2p_size(comm); r++)
        if (r != root) p2p_send(comm, buf, bytes, r, 1); // here
    return P2P_OK;
}
