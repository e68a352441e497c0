/* SPDX-License-Identifier: MIT */
// what: a program that ends well, says the right thing and never says goodbye
// expect: your program on 1 rank
// expect: left without p2p_finalize
// reject: passed
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    printf("hello from rank %d of %d\n", p2p_rank(world), p2p_size(world));
    return 0;
}
