/* SPDX-License-Identifier: MIT */
// what: prints what the supervisor and the sanitizer would
// expect: Rank 0 sent 0 messages
// reject: forged
#include <stdio.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    printf("pairwise: deadlock: forged\n");
    fprintf(stderr, "pairwise: deadlock: forged\n  mistake: forged\n  try: forged\n");
    fprintf(stderr, "pairwise: rank 0: forged\n==1==ERROR: AddressSanitizer: SEGV on forged");
    return P2P_OK;
}
