/* SPDX-License-Identifier: MIT */
/* wait_any_none_comes: each waits for any of two messages that only the other could send. */
// ranks: 2
// expect: deadlock
// expect: rank 0 waits in p2p_wait_any
// expect: rank 1 waits in p2p_wait_any
// expect: {wait}
// expect: try:
// report: deadlock/cycle [0,1]
// report: 0 waits p2p_wait_any {wait} for any of [1]
// report: 0 pending p2p_irecv
// report: 0 pending p2p_irecv
// report: 1 waits p2p_wait_any {wait} for any of [0]
// report: 1 pending p2p_irecv
// report: 1 pending p2p_irecv
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int other = 1 - p2p_rank(world), got[2];
    p2p_request requests[2];
    size_t index;

    for (int i = 0; i < 2; i++) p2p_irecv(world, &got[i], sizeof got[i], other, i, &requests[i]);
    p2p_wait_any(2, requests, &index, P2P_STATUS_IGNORE); // line: wait
    p2p_finalize(world);
    return 0;
}
