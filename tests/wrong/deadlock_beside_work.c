/* SPDX-License-Identifier: MIT */
/* deadlock_beside_work: ranks 0 and 1 wait for each other; ranks 2 and 3 compute for a while and finish. */
// ranks: 4
// expect: deadlock: ranks 0 and 1
// expect: rank 0 waits in p2p_recv(source 1, tag 0) at {receive}
// expect: rank 1 waits in p2p_recv(source 0, tag 0) at {receive}
// reject: rank 2 waits
// reject: rank 3 waits
// expect: try:
// report: deadlock/cycle [0,1]
// report: 0 waits p2p_recv {receive} peer 1 tag 0 4 bytes for [1]
// report: 1 waits p2p_recv {receive} peer 0 tag 0 4 bytes for [0]
#include <time.h>

#include "p2p/p2p.h"

static void compute(double seconds)
{
    clock_t end = clock() + (clock_t)(seconds * CLOCKS_PER_SEC);

    while (clock() < end) continue;
}

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int rank = p2p_rank(world), number = 0;

    if (rank < 2) p2p_recv(world, &number, sizeof number, 1 - rank, 0, P2P_STATUS_IGNORE); // line: receive
    compute(rank == 2 ? 0.05 : 0.3);
    p2p_finalize(world);
    return 0;
}
