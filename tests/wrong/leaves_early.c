/* SPDX-License-Identifier: MIT */
/* leaves_early: rank 1 returns from main without p2p_finalize while rank 0 waits for it. */
// ranks: 2
// expect: rank 1
// expect: finalize
// expect: exit
// report: call_order/never_finalized [1]
// report: 1 last
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number;

    if (p2p_rank(world) == 1) return 0;
    p2p_recv(world, &number, sizeof number, 1, 0, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
