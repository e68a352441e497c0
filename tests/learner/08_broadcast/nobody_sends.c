/* SPDX-License-Identifier: MIT */
// what: every rank but the root waits, and the root has returned
// expect: rank 1 waits in p2p_recv(source 0, tag 1) at broadcast.c:{here} for rank 0
// expect: rank 0 has returned from my_broadcast
// expect: A deadlock: a rank waits for another that has returned from my_broadcast and sends nothing any more. Rank 0 sent 0 messages. Is a send missing
// reject: p2p_split
// reject: check_rank
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    if (p2p_rank(comm) == root) return P2P_OK;
    return p2p_recv(comm, buf, count * dtype_size(dtype), root, 1, NULL); // here
}
