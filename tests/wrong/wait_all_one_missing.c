/* SPDX-License-Identifier: MIT */
/* wait_all_one_missing: of three receives two come; the third message is never sent, for rank 2 waits too. */
// ranks: 3
// expect: deadlock
// expect: rank 0 waits in p2p_wait_all
// expect: {wait}
// expect: rank 2
// expect: try:
// report: deadlock/cycle [0,2]
// report: 0 waits p2p_wait_all {wait} for [2]
// report: 0 pending p2p_irecv
// report: 2 waits p2p_recv
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    int rank = p2p_rank(world), got[3], sent = rank;
    p2p_request requests[3];

    if (rank == 0) {
        p2p_irecv(world, &got[0], sizeof got[0], 1, 0, &requests[0]);
        p2p_irecv(world, &got[1], sizeof got[1], 2, 0, &requests[1]);
        p2p_irecv(world, &got[2], sizeof got[2], 2, 1, &requests[2]);
        p2p_wait_all(3, requests, P2P_STATUSES_IGNORE); // line: wait
        p2p_send(world, &sent, sizeof sent, 2, 5);
    } else {
        p2p_send(world, &sent, sizeof sent, 0, 0);
        if (rank == 2) p2p_recv(world, got, sizeof got[0], 0, 5, P2P_STATUS_IGNORE);
    }
    p2p_finalize(world);
    return 0;
}
