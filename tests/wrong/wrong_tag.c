/* SPDX-License-Identifier: MIT */
/* wrong_tag: the message has tag 7, the receive wants tag 8, and then both wait. */
// ranks: 2
// expect: deadlock
// expect: rank 1 waits in p2p_recv(source 0, tag 8) at {receive}
// expect: tag mismatch
// expect: tag 8
// expect: try:
// report: deadlock/tag [0,1]
// report: 0 waits p2p_recv
// report: 1 waits p2p_recv {receive} peer 0 tag 8 4 bytes for [0]
// report: 1 message from 0 tag 7 4 bytes
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number = 42;

    if (p2p_rank(world) == 0) {
        p2p_send(world, &number, sizeof number, 1, 7);
        p2p_recv(world, &number, sizeof number, 1, 9, P2P_STATUS_IGNORE);
    } else {
        p2p_recv(world, &number, sizeof number, 0, 8, P2P_STATUS_IGNORE); // line: receive
        p2p_send(world, &number, sizeof number, 0, 9);
    }
    p2p_finalize(world);
    return 0;
}
