/* SPDX-License-Identifier: MIT */
// what: finds the descriptor it reports to, and writes something else to it
// expect: What rank 0 reported cannot be read: something wrote over it.
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    static const char garbage[64] = {-1, -1, -1, -1, -1, -1, -1, -1};

    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (int fd = 3; fd < 300; fd++)
        if (write(fd, garbage, sizeof garbage) < 0) continue;
    _exit(0);
}
