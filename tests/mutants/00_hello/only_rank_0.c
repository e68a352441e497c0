/* SPDX-License-Identifier: MIT */
// what: rank 0 speaks for all: the others print nothing.
// expect: printed nothing
// expect: each of them prints its own line
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int rank = p2p_rank(world), size = p2p_size(world);

    for (int i = 0; i < size && rank == 0; i++) printf("hello from rank %d of %d\n", i, size);
    if (rank == 0) printf("that was all %d of us\n", size);
    p2p_finalize(world);
    return 0;
}
