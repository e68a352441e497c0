/* SPDX-License-Identifier: MIT */
/* alone: a receive in a world of one. */
// ranks: 1
// expect: deadlock
// expect: p2p_recv(source 0, tag 0) at {receive}
// expect: try:
// report: deadlock/self [0]
// report: 0 waits p2p_recv {receive} peer 0 tag 0 4 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number;

    p2p_recv(world, &number, sizeof number, 0, 0, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
