/* SPDX-License-Identifier: MIT */
/* wrong_communicator: the message is in the world, the receive in a group of the same two ranks. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_recv(source 1, tag 6) at {later}
// expect: rank 1 waits in p2p_recv(source 0, tag 5) at {receive}
// expect: try:
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
