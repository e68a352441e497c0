/* SPDX-License-Identifier: MIT */
/* wrong_source: four ranks in a ring; all have sent to the right, and wait for a message from the right. */
// ranks: 4
// expect: deadlock
// expect: rank 0 waits in p2p_recv(source 1, tag 1) at {receive}
// expect: source mismatch: rank 0 has a message with tag 1 from rank 3 waiting (4 bytes), but wants one from rank 1
// expect: Compare to whom each rank sends, and from whom it receives
// report: deadlock/source [0,1,2,3]
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world), right = (rank + 1) % size, number = rank;

    p2p_send(world, &number, sizeof number, right, 1);
    p2p_recv(world, &number, sizeof number, right, 1, P2P_STATUS_IGNORE); // line: receive
    p2p_finalize(world);
    return 0;
}
