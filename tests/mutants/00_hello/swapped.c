/* SPDX-License-Identifier: MIT */
// what: rank and size have changed places.
// expect: it said rank 1, of 0
// expect: p2p_size how many
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    int size = p2p_rank(world), rank = p2p_size(world);

    printf("hello from rank %d of %d\n", rank, size);
    if (size == rank - 1) printf("that was all %d of us\n", rank);
    p2p_finalize(world);
    return 0;
}
