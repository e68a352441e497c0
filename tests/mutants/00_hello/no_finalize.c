/* SPDX-License-Identifier: MIT */
// what: a rank leaves without p2p_finalize.
// expect: finalize
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);

    printf("hello from rank %d of %d\n", rank, size);
    if (rank == size - 1) printf("that was all %d of us\n", size);
    return 0;
}
