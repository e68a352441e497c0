/* SPDX-License-Identifier: MIT */
/*
 * both_send: two ranks send each other a message and only then receive. Nothing to write here: run it, with more and
 * more bytes, until it stands still.
 *
 *      cc -g -I. exercises/03_deadlock/both_send.c build/libpairwise.a -o build/both_send
 *      build/launch -n 2 build/both_send 1024
 *      build/launch -n 2 build/both_send 1048576
 */
#include <stdio.h>
#include <stdlib.h>

#include "p2p/p2p.h"

static void exchange(p2p_comm *world, size_t bytes)
{
    int me = p2p_rank(world), peer = 1 - me;
    char *mine = calloc(bytes, 1), *theirs = calloc(bytes, 1);

    p2p_send(world, mine, bytes, peer, 1);
    p2p_recv(world, theirs, bytes, peer, 1, P2P_STATUS_IGNORE);
    printf("rank %d has sent and received %zu bytes\n", me, bytes);
    free(theirs);
    free(mine);
}

int main(int argc, char **argv)
{
    p2p_comm *world;
    long bytes = argc == 2 ? atol(argv[1]) : 0;

    p2p_init(&world);
    bool well = p2p_size(world) == 2 && bytes > 0;
    if (well)
        exchange(world, (size_t)bytes);
    else if (p2p_rank(world) == 0)
        fprintf(stderr, "usage: build/launch -n 2 build/both_send BYTES\n");
    p2p_finalize(world);
    return well ? 0 : 2;
}
