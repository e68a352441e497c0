/* SPDX-License-Identifier: MIT */
// what: sends to a rank that is not there
// expect: Rank 0: p2p_send(dest 1, tag 1, 5 bytes) at broadcast.c:{here}: dest 1 is not a rank
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)dtype, (void)root;
    return p2p_send(comm, buf, count, p2p_size(comm), 1); // here
}
