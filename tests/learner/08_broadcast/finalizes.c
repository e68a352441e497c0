/* SPDX-License-Identifier: MIT */
// what: ends the communicator that it was lent
// expect: p2p_finalize() at broadcast.c:{here}: not the world
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype, (void)root;
    return p2p_finalize(comm); // here
}
