/* SPDX-License-Identifier: MIT */
/* cycle_of_four: four ranks in a ring, all of them sending a large message to the right first. */
// ranks: 4
// expect: deadlock
// expect: rank 0 waits in p2p_send(dest 1, tag 1, 1048576 bytes) at {send}
// expect: rank 1 waits in p2p_send(dest 2, tag 1, 1048576 bytes) at {send}
// expect: rank 2 waits in p2p_send(dest 3, tag 1, 1048576 bytes) at {send}
// expect: rank 3 waits in p2p_send(dest 0, tag 1, 1048576 bytes) at {send}
// expect: buffering
// expect: try:
// report: buffering/cycle [0,1,2,3]
// report: 0 waits p2p_send {send} peer 1 tag 1 1048576 bytes for [1]
// report: 1 waits p2p_send {send} peer 2 tag 1 1048576 bytes for [2]
// report: 2 waits p2p_send {send} peer 3 tag 1 1048576 bytes for [3]
// report: 3 waits p2p_send {send} peer 0 tag 1 1048576 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    static char mine[1 << 20], theirs[1 << 20];
    int rank = p2p_rank(world), size = p2p_size(world);

    p2p_send(world, mine, sizeof mine, (rank + 1) % size, 1); // line: send
    p2p_recv(world, theirs, sizeof theirs, (rank + size - 1) % size, 1, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
