/* SPDX-License-Identifier: MIT */
/*
 * only_polling [SECONDS]: both poll for a message that the other never sends. Polling could end by itself, as it does here,
 * after 2.5 seconds if nothing else is said, so this is a warning.
 */
// ranks: 2
// status: 0
// expect: rank 0
// expect: rank 1
// expect: p2p_test
// expect: {poll}
// reject: deadlock: rank
// report: status 0
#include <stdlib.h>

#include "p2p/p2p.h"

int main(int argc, char **argv)
{
    p2p_comm *world;
    p2p_init(&world);
    double start = p2p_time(world), seconds = argc > 1 ? strtod(argv[1], NULL) : 2.5;
    int number = 0, other = 1 - p2p_rank(world);
    p2p_request receive;
    bool done = false;

    p2p_irecv(world, &number, sizeof number, other, 0, &receive);
    while (!done && p2p_time(world) - start < seconds) p2p_test(&receive, &done, P2P_STATUS_IGNORE); // line: poll
    p2p_send(world, &number, sizeof number, other, 0);
    p2p_wait(&receive, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
