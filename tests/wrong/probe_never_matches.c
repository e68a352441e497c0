/* SPDX-License-Identifier: MIT */
/* probe_never_matches: rank 0 looks for a message with tag 1 while one with tag 2 lies there. */
// ranks: 2
// expect: p2p_probe(source 1, tag 1) at {probe}
// expect: tag 2
// expect: try:
// report: deadlock/tag [0]
// report: 0 waits p2p_probe {probe} peer 1 tag 1 0 bytes for [1]
// report: 0 message from 1 tag 2 4 bytes
// report: 1 finished p2p_finalize
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
