/* SPDX-License-Identifier: MIT */
/*
 * strict_small_send: the same as mutual_large_send with eight bytes. Ends well as long as small sends are buffered,
 * which is not promised.
 */
// ranks: 2
// options: --strict
// expect: deadlock
// expect: rank 0 waits in p2p_send(dest 1, tag 4, 8 bytes) at {send}
// expect: rank 1 waits in p2p_send(dest 0, tag 4, 8 bytes) at {send}
// expect: buffering
// expect: try:
// report: buffering/cycle [0,1]
// report: 0 waits p2p_send {send} peer 1 tag 4 8 bytes for [1]
// report: 1 waits p2p_send {send} peer 0 tag 4 8 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    double mine = p2p_rank(world), theirs;
    int other = 1 - p2p_rank(world);

    p2p_send(world, &mine, sizeof mine, other, 4); // line: send
    p2p_recv(world, &theirs, sizeof theirs, other, 4, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
