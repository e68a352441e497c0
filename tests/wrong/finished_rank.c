/* SPDX-License-Identifier: MIT */
/* finished_rank: rank 0 waits for a third message of rank 1, which sends two and is done. */
// ranks: 2
// expect: p2p_recv(source 1, tag 0) at {receive}
// expect: finished
// expect: rank 1
// expect: try:
// report: deadlock/finished [0]
// report: 0 waits p2p_recv {receive} peer 1 tag 0 4 bytes for [1]
// report: 1 finished p2p_finalize
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number = 0;

    for (int i = 0; i < 3 && p2p_rank(world) == 0; i++)
        p2p_recv(world, &number, sizeof number, 1, 0, P2P_STATUS_IGNORE); // line: receive
    for (int i = 0; i < 2 && p2p_rank(world) == 1; i++) p2p_send(world, &i, sizeof i, 0, 0);
    p2p_finalize(world);
    return 0;
}
