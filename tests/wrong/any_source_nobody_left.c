/* SPDX-License-Identifier: MIT */
/* any_source_nobody_left: rank 0 receives one message too many from any source; all others are done. */
// ranks: 4
// expect: p2p_recv(any source, tag 2) at {receive}
// expect: rank 0
// expect: no rank is left that could send
// expect: try:
// report: deadlock/finished [0]
// report: 0 waits p2p_recv {receive} peer any tag 2 4 bytes for any of [1,2,3]
// report: 1 finished p2p_finalize
// report: 2 finished p2p_finalize
// report: 3 finished p2p_finalize
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int number = p2p_rank(world);

    if (p2p_rank(world) > 0) p2p_send(world, &number, sizeof number, 0, 2);
    for (int i = 0; i < p2p_size(world) && p2p_rank(world) == 0; i++)
        p2p_recv(world, &number, sizeof number, P2P_ANY_SOURCE, 2, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
