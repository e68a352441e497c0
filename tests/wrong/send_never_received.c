/* SPDX-License-Identifier: MIT */
/* send_never_received: rank 0 sends a large message; rank 1 is done without receiving it. */
// ranks: 2
// expect: p2p_send(dest 1, tag 3, 1048576 bytes) at {send}
// expect: rank 1
// expect: finished
// expect: is a receive missing, or a send too many?
// report: deadlock/finished [0]
// report: 0 waits p2p_send {send} peer 1 tag 3 1048576 bytes for [1]
// report: 1 finished p2p_finalize
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    static char block[1 << 20];

    if (p2p_rank(world) == 0) p2p_send(world, block, sizeof block, 1, 3); // line: send
    p2p_finalize(world);
    return 0;
}
