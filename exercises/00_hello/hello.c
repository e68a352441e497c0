/* SPDX-License-Identifier: MIT */
/*
 * 00_hello: every rank says who it is. A whole program: each rank runs main from the top.
 *
 *      make test EX=00
 *      cc -I. exercises/00_hello/hello.c build/libpairwise.a -o build/my_hello
 *      build/launch -n 4 --ordered build/my_hello
 */
#include <stdio.h>

#include "p2p/p2p.h"

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    // TODO: print "hello from rank 2 of 4" and a newline, with this rank's number and the number of ranks.
    // The rank with the highest number then prints one more line: "that was all 4 of us".
    // END TODO
    p2p_finalize(world);
    return 0;
}
