/* SPDX-License-Identifier: MIT */
/*
 * hello: the smallest program. Every rank is a process of its own that runs this main from the top;
 * the only difference between them is the number p2p_rank gives.
 *
 *      build/launch -n 4 --tag build/examples/hello
 */
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    printf("hello from rank %d of %d\n", p2p_rank(world), p2p_size(world));
    p2p_finalize(world);
    return 0;
}
