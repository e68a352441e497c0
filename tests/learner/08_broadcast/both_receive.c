/* SPDX-License-Identifier: MIT */
// what: every rank receives from the next rank
// expect: ranks 0 and 1 wait for each other
// expect: at broadcast.c:{here}
// expect: each receives before it sends
// reject: p2p_split
// reject: check_rank
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)root;
    int next = (p2p_rank(comm) + 1) % p2p_size(comm);
    if (p2p_size(comm) == 1) return P2P_OK;
    p2p_recv(comm, buf, count * dtype_size(dtype), next, 1, NULL); // here
    return p2p_send(comm, buf, count * dtype_size(dtype), next, 1);
}
