/* SPDX-License-Identifier: MIT */
/* wrong_communicator: the message is in the world, the receive in a group of the same two ranks. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_recv(source 1, tag 6) at {later}
// expect: rank 1 waits in p2p_recv(source 0, tag 5) at {receive}
// expect: try:
// report: communicator_mismatch [0,1]
// report: 0 waits p2p_recv {later} peer 1 tag 6 4 bytes for [1]
// report: 1 waits p2p_recv {receive} peer 0 tag 5 4 bytes for [0]
// report: 1 message from 0 tag 5 4 bytes
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number = 8;
    p2p_comm *group;

    p2p_split(world, 0, 0, &group);
    if (p2p_rank(world) == 0) {
        p2p_send(world, &number, sizeof number, 1, 5);
        p2p_recv(world, &number, sizeof number, 1, 6, P2P_STATUS_IGNORE); // line: later
    } else {
        p2p_recv(group, &number, sizeof number, 0, 5, P2P_STATUS_IGNORE); // line: receive
        p2p_send(world, &number, sizeof number, 0, 6);
    }
    p2p_free(group);
    p2p_finalize(world);
    return 0;
}
