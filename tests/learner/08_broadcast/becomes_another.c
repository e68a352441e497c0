/* SPDX-License-Identifier: MIT */
// what: becomes a program that ends well
// expect: Rank 0 left without p2p_finalize (exit status 0)
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    execlp("true", "true", (char *)NULL);
    return P2P_OK;
}
