/* SPDX-License-Identifier: MIT */
/* probe_never_matches: rank 0 looks for a message with tag 1 while one with tag 2 lies there. */
// ranks: 2
// expect: p2p_probe(source 1, tag 1) at {probe}
// expect: tag 2
// expect: try:
#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;
    p2p_init(&world);
    p2p_status status;
    int number = 3;

    if (p2p_rank(world) == 0) p2p_probe(world, 1, 1, &status); // line: probe
    if (p2p_rank(world) == 1) p2p_send(world, &number, sizeof number, 0, 2);
    p2p_finalize(world);
    return 0;
}
