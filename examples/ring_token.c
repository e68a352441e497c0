/* SPDX-License-Identifier: MIT */
/*
 * ring_token: a number travels once round the ring; every rank adds one to it.
 *
 *      0 --> 1 --> 2 --> ... --> n-1 --> 0
 *
 * Rank 0 starts: it sends, and waits until the token comes back. Every other rank receives, then sends on. One rank
 * must send first; examples/deadlock.c shows what happens when all receive first.
 *
 *      build/launch -n 4 build/examples/ring_token
 */
#include <stdio.h>

#include "p2p/p2p.h"

enum { TAG = 1, TALKATIVE = 16 }; /* up to this many ranks, each prints a line */

static void pass_on(p2p_comm *world, int left, int right)
{
    int token;

    p2p_recv(world, &token, sizeof token, left, TAG, P2P_STATUS_IGNORE);
    token++;
    if (p2p_size(world) <= TALKATIVE) printf("rank %d had the token from rank %d: %d\n", p2p_rank(world), left, token);
    p2p_send(world, &token, sizeof token, right, TAG);
}

/* Send and receive at once, because a ring of one rank sends to itself: a plain p2p_send would wait there for a receive
 * that comes after it, unless the message is buffered. */
static void start_and_finish(p2p_comm *world, int left, int right)
{
    int token = 1, back;

    p2p_sendrecv(world, &token, sizeof token, right, TAG, &back, sizeof back, left, TAG, P2P_STATUS_IGNORE);
    printf("rank 0 has the token back: it has been at %d of %d ranks\n", back, p2p_size(world));
}

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    if (rank == 0)
        start_and_finish(world, left, right);
    else
        pass_on(world, left, right);
    p2p_finalize(world);
    return 0;
}
