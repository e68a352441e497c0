/* SPDX-License-Identifier: MIT */
/* barrier_left_out: rank 1 is done without the barrier in which rank 0 waits. */
// ranks: 2
// expect: rank 0 waits in coll_barrier(#1, count 0, u8) at {barrier} for rank 1
// expect: does every rank make it as often?
// report: deadlock/finished [0]
// report: 0 waits coll_barrier #1 {barrier} count 0 type u8 for [1]
// report: 1 finished p2p_finalize
#include "collectives/collectives.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    if (p2p_rank(world) == 0) coll_barrier(world); // line: barrier
    p2p_finalize(world);
    return 0;
}
