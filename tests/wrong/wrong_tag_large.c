/* SPDX-License-Identifier: MIT */
/* wrong_tag_large: as wrong_tag, with a message that waits for its receive, and nothing behind it. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_send(dest 1, tag 7, 1048576 bytes) at {send}
// expect: rank 1 waits in p2p_recv(source 0, tag 8) at {receive}
// expect: tag mismatch
// expect: try:
// report: deadlock/tag [0,1]
// report: 0 waits p2p_send {send} peer 1 tag 7 1048576 bytes for [1]
// report: 1 waits p2p_recv {receive} peer 0 tag 8 1048576 bytes for [0]
// report: 1 message from 0 tag 7 1048576 bytes
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    static char block[1 << 20];

    if (p2p_rank(world) == 0) p2p_send(world, block, sizeof block, 1, 7);                    // line: send
    if (p2p_rank(world) == 1) p2p_recv(world, block, sizeof block, 0, 8, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
