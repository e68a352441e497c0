/* SPDX-License-Identifier: MIT */
/*
 * tail_into_cycle: rank 0 waits for 1, 1 for 2, and 2 and 3 for each other. That is the mistake, the others only wait
 * for it.
 */
// ranks: 4
// expect: deadlock: ranks 2 and 3
// expect: rank 2 waits in p2p_recv(source 3, tag 0) at {receive}
// expect: rank 3 waits in p2p_recv(source 2, tag 0) at {receive}
// reject: rank 0 waits
// reject: rank 1 waits
// expect: try:
// report: deadlock/cycle [2,3]
// report: 2 waits p2p_recv {receive} peer 3 tag 0 4 bytes for [3]
// report: 3 waits p2p_recv {receive} peer 2 tag 0 4 bytes for [2]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    static const int waits_for[] = {1, 2, 3, 2};
    int number = 0;

    p2p_recv(world, &number, sizeof number, waits_for[p2p_rank(world)], 0, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
