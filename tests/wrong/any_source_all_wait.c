/* SPDX-License-Identifier: MIT */
/* any_source_all_wait: everyone receives from anyone, and nobody has sent. */
// ranks: 3
// expect: deadlock
// expect: rank 0 waits in p2p_recv(any source, any tag) at {receive}
// expect: rank 1 waits in p2p_recv(any source, any tag) at {receive}
// expect: rank 2 waits in p2p_recv(any source, any tag) at {receive}
// expect: try:
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number;

    p2p_recv(world, &number, sizeof number, P2P_ANY_SOURCE, P2P_ANY_TAG, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
