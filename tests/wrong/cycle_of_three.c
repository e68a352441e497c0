/* SPDX-License-Identifier: MIT */
/* cycle_of_three: each receives from its left neighbour first. */
// ranks: 3
// expect: deadlock
// expect: rank 0 waits in p2p_recv(source 2, tag 1) at {receive}
// expect: rank 1 waits in p2p_recv(source 0, tag 1) at {receive}
// expect: rank 2 waits in p2p_recv(source 1, tag 1) at {receive}
// expect: try:
// report: deadlock/cycle [0,1,2]
// report: 0 waits p2p_recv {receive} peer 2 tag 1 4 bytes for [2]
// report: 2 waits p2p_recv {receive} peer 1 tag 1 4 bytes for [1]
// report: 1 waits p2p_recv {receive} peer 0 tag 1 4 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world), token = rank;

    p2p_recv(world, &token, sizeof token, (rank + size - 1) % size, 1, P2P_STATUS_IGNORE); // line: receive
    p2p_send(world, &token, sizeof token, (rank + 1) % size, 1);
    p2p_finalize(world);
    return 0;
}
