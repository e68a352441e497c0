/* SPDX-License-Identifier: MIT */
/* send_to_self_strict: a send to oneself needs buffering too. */
// ranks: 1
// options: --strict
// expect: deadlock
// expect: p2p_send(dest 0, tag 0, 4 bytes) at {send}
// expect: buffering
// expect: try:
// report: buffering/self [0]
// report: 0 waits p2p_send {send} peer 0 tag 0 4 bytes for [0]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number = 5;

    p2p_send(world, &number, sizeof number, 0, 0); // line: send
    p2p_recv(world, &number, sizeof number, 0, 0, P2P_STATUS_IGNORE);
    p2p_finalize(world);
    return 0;
}
