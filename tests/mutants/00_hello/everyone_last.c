/* SPDX-License-Identifier: MIT */
// what: every rank prints the last line.
// expect: only the rank with the highest number
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);

    printf("hello from rank %d of %d\n", rank, size);
    printf("that was all %d of us\n", size);
    p2p_finalize(world);
    return 0;
}
