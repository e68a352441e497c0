/* SPDX-License-Identifier: MIT */
/* any_source_all_wait: every rank receives from any source, and none has sent. */
// ranks: 3
// expect: deadlock
// expect: rank 0 waits in p2p_recv(any source, any tag) at {receive}
// expect: rank 1 waits in p2p_recv(any source, any tag) at {receive}
// expect: rank 2 waits in p2p_recv(any source, any tag) at {receive}
// expect: try:
// report: deadlock/cycle [0,1,2]
// report: 0 waits p2p_recv {receive} peer any tag any 4 bytes for any of [1,2]
// report: 1 waits p2p_recv {receive} peer any tag any 4 bytes for any of [0,2]
// report: 2 waits p2p_recv {receive} peer any tag any 4 bytes for any of [0,1]
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
