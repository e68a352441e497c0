/* SPDX-License-Identifier: MIT */
// what: kills the process that watches
// expect: In line {here} of broadcast.c rank 0 sends a signal to another process.
#include <signal.h>
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    kill(getppid(), SIGKILL); // here
    return P2P_OK;
}
