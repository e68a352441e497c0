/* SPDX-License-Identifier: MIT */
// what: asks who it is before it has joined the world.
// expect: p2p_rank gives -1 and p2p_size 0 where there is no world
// expect: First p2p_init(&world)
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world = NULL;
    int rank = p2p_rank(world), size = p2p_size(world);

    p2p_init(&world);
    printf("hello from rank %d of %d\n", rank, size);
    if (rank == size - 1) printf("that was all %d of us\n", size);
    p2p_finalize(world);
    return 0;
}
