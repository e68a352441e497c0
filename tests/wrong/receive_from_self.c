/* SPDX-License-Identifier: MIT */
/* receive_from_self: rank 1 receives from itself what it has not sent. */
// ranks: 2
// expect: deadlock
// expect: rank 1 waits in p2p_recv(source 1, tag 0) at {receive}
// reject: rank 0 waits in p2p_recv
// expect: try:
// report: deadlock/self [1]
// report: 1 waits p2p_recv {receive} peer 1 tag 0 4 bytes for [1]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number;

    if (p2p_rank(world) == 1) p2p_recv(world, &number, sizeof number, 1, 0, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
