/* SPDX-License-Identifier: MIT */
/* leaves_early_alone: rank 1 returns from main without p2p_finalize; no rank waits for it, until finalize. */
// ranks: 3
// expect: try: p2p_finalize on every way out of main
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
    if (p2p_rank(world) == 1) return 0;
    p2p_finalize(world);
    return 0;
}
