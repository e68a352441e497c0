/* SPDX-License-Identifier: MIT */
// what: writes to every descriptor there is; whether the broken link or the wrong buffer is seen first is a race
// expect: 08_broadcast: not yet
// expect: what broke
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    char junk[4096];

    memset(junk, 'x', sizeof junk);
    for (int fd = 3; fd < 300; fd++) {
        fcntl(fd, F_SETFL, O_NONBLOCK);
        for (int i = 0; i < 100 && write(fd, junk, sizeof junk) > 0; i++) continue;
    }
    return P2P_OK;
}
