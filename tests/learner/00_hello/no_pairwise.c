/* SPDX-License-Identifier: MIT */
// what: prints what is expected of one rank, and has nothing to do with Pairwise
// expect: 00_hello: not yet
// reject: passed
#include <stdio.h>

int main(void)
{
    printf("hello from rank 0 of 1\nthat was all 1 of us\n");
    return 0;
}
