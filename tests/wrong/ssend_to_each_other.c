/* SPDX-License-Identifier: MIT */
/* ssend_to_each_other: synchronous sends wait for their receives whatever their size. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_ssend(dest 1, tag 0, 4 bytes) at {send}
// expect: rank 1 waits in p2p_ssend(dest 0, tag 0, 4 bytes) at {send}
// expect: try:
// report: deadlock/cycle [0,1]
// report: 0 waits p2p_ssend {send} peer 1 tag 0 4 bytes for [1]
// report: 1 waits p2p_ssend {send} peer 0 tag 0 4 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int other = 1 - p2p_rank(world), number = 1;

    p2p_ssend(world, &number, sizeof number, other, 0); // line: send
    p2p_recv(world, &number, sizeof number, other, 0, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
