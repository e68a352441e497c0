/* SPDX-License-Identifier: MIT */
/* mutual_receive: both ranks receive before they send. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_recv(source 1, tag 0) at {receive}
// expect: rank 1 waits in p2p_recv(source 0, tag 0) at {receive}
// expect: ranks 0 and 1 wait for each other
// expect: try:
// report: deadlock/cycle [0,1]
// report: 0 waits p2p_recv {receive} peer 1 tag 0 4 bytes for [1]
// report: 1 waits p2p_recv {receive} peer 0 tag 0 4 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int other = 1 - p2p_rank(world), mine = p2p_rank(world), theirs;

    p2p_recv(world, &theirs, sizeof theirs, other, 0, P2P_STATUS_IGNORE); // line: receive
    p2p_send(world, &mine, sizeof mine, other, 0);
    p2p_finalize(world);
    return 0;
}
