/* SPDX-License-Identifier: MIT */
// what: closes every descriptor there is
// expect: does your code close descriptors that it has not opened?
// options: --limit 3
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    for (int fd = 0; fd < 300; fd++) close(fd);
    return P2P_OK;
}
