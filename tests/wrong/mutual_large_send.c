/* SPDX-License-Identifier: MIT */
/* mutual_large_send: both ranks send a large message before they receive: right only if sends were buffered. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_send(dest 1, tag 4, 100000 bytes) at {send}
// expect: rank 1 waits in p2p_send(dest 0, tag 4, 100000 bytes) at {send}
// expect: buffering
// expect: try:
// report: buffering/cycle [0,1]
// report: 0 waits p2p_send {send} peer 1 tag 4 100000 bytes for [1]
// report: 1 waits p2p_send {send} peer 0 tag 4 100000 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    static char mine[100000], theirs[100000];
    int other = 1 - p2p_rank(world);

    p2p_send(world, mine, sizeof mine, other, 4); // line: send
    p2p_recv(world, theirs, sizeof theirs, other, 4, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
