/* SPDX-License-Identifier: MIT */
/* after_finalize: a message after p2p_finalize. */
// ranks: 2
// expect: p2p_send
// expect: {send}: this communicator has been finalized or freed
// report: call_order [1]
// report: 1 call p2p_send {send} peer 0 tag 3 4 bytes
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int rank = p2p_rank(world);

    p2p_finalize(world);
    if (rank == 1) p2p_send(world, &rank, sizeof rank, 0, 3); // line: send
    return 0;
}
