/* SPDX-License-Identifier: MIT */
// what: looks for a message that is never sent
// expect: polls in p2p_iprobe(source 0, tag 1) at broadcast.c:{here}
// expect: looks again and again for a message, which never comes
// options: --limit 3
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)buf, (void)count, (void)dtype;
    bool found = p2p_size(comm) == 1;
    while (!found) p2p_iprobe(comm, root, 1, &found, NULL); // here
    return P2P_OK;
}
