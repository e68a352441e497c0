/* SPDX-License-Identifier: MIT */
/* before_init: a message before p2p_init; its program goes on as if it had been sent. */
// ranks: 1
// status: 0
// expect: p2p_send: there is no communicator: call p2p_init first
// report: call_order [0]
// report: 0 call p2p_send {send}
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world = NULL;
    int number = 42;

    p2p_send(world, &number, sizeof number, 0, 0); // line: send
    p2p_init(&world);
    p2p_finalize(world);
    return 0;
}
