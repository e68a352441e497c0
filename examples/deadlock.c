/* SPDX-License-Identifier: MIT */
/*
 * deadlock: the classic mistake. Every rank first receives from its left neighbour and only then sends to its right one.
 * So each waits for a message that its neighbour will send after it has received, and no rank ever sends. Elsewhere this
 * program hangs; here it ends within a second, and Pairwise prints which rank waits for which, and where.
 *
 *      build/launch -n 2 build/examples/deadlock       (exit status 1)
 *
 * To correct it: let one rank send first (examples/ring_token.c), or do both at once with p2p_sendrecv.
 */
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    int mine = rank, theirs;

    if (size == 1) {
        printf("deadlock: one rank cannot wait for another; try: build/launch -n 2 build/examples/deadlock\n");
    } else {
        p2p_recv(world, &theirs, sizeof theirs, left, 0, P2P_STATUS_IGNORE);
        p2p_send(world, &mine, sizeof mine, right, 0);
    }
    p2p_finalize(world);
    return 0;
}
