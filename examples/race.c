/* SPDX-License-Identifier: MIT */
/*
 * race: rank 0 adds up what the others send, and takes for granted that rank 1 is the first.
 *
 *      1 --size--> 0        rank 1 sends at once; the others wait for a word of rank 1, so they are later,
 *      1 --go----> 2, 3     as a rule: nothing says that what is sent first comes first, if it comes from different ranks.
 *      2, 3 -----> 0
 *
 * It is right a thousand times, and wrong in the order that --explore finds:
 *
 *      build/launch -n 4 build/examples/race
 *      build/launch --explore -n 4 build/examples/race
 *
 * The cure: rank 0 receives from rank 1 first, or the size has a tag of its own.
 */
#include <stdio.h>

#include "p2p/p2p.h"

enum { RESULT = 1, GO };

/* The first number is how many are in the sum; the others are added up. */
static int collect(p2p_comm *world)
{
    int count, part, sum = 0;

    p2p_recv(world, &count, sizeof count, P2P_ANY_SOURCE, RESULT, P2P_STATUS_IGNORE);
    for (int i = 2; i < p2p_size(world); i++) {
        p2p_recv(world, &part, sizeof part, P2P_ANY_SOURCE, RESULT, P2P_STATUS_IGNORE);
        sum += part;
    }
    printf("the sum of %d numbers is %d\n", count, sum);
    return count == p2p_size(world) - 2 ? 0 : 1;
}

int main(void)
{
    p2p_comm *world;
    int status = 0;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);
    int number = rank == 1 ? size - 2 : 10 * rank;

    if (rank > 1) p2p_recv(world, NULL, 0, 1, GO, P2P_STATUS_IGNORE);
    if (rank > 0) p2p_send(world, &number, sizeof number, 0, RESULT);
    for (int to = 2; rank == 1 && to < size; to++) p2p_send(world, NULL, 0, to, GO);
    if (rank == 0) status = collect(world);
    p2p_finalize(world);
    return status;
}
