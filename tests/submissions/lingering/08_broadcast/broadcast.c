/* SPDX-License-Identifier: MIT */
/* Right, but would leave a process behind that stays for ten minutes. */
#include <unistd.h>

#include "exercises/exercises.h"

__attribute__((constructor(101))) static void first(void)
{
    if (fork() > 0) return;
    setsid();
    if (fork() > 0) _exit(0);
    sleep(600);
    _exit(0);
}

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO
    int me = p2p_rank(comm), n = p2p_size(comm);
    const size_t bytes = dtype_size(dtype) * count;
    if (me == root) {
        for (int i = 1; i < n; i++) {
            p2p_err err = p2p_send(comm, buf, bytes, (root + i) % n, 8);
            if (err != P2P_OK) return err;
        }
        return P2P_OK;
    }
    return p2p_recv(comm, buf, bytes, root, 8, NULL);
    // END TODO
}
