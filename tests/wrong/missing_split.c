/* SPDX-License-Identifier: MIT */
/* missing_split: rank 1 does not take part in the split. */
// ranks: 2
// expect: rank 0
// expect: p2p_split
// expect: {split}
// expect: rank 1
// expect: try:
// report: deadlock/finished [0]
// report: 0 waits p2p_split {split} for [1]
// report: 1 finished p2p_finalize
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    p2p_comm *group;

    if (p2p_rank(world) == 0) p2p_split(world, 0, 0, &group); // line: split
    p2p_finalize(world);
    return 0;
}
