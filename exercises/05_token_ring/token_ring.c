/* SPDX-License-Identifier: MIT */
/*
 * 05_token_ring: a number goes round, and every rank adds to it.
 *
 *      make test EX=05
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_token_ring(p2p_comm *comm, int64_t *token, int laps)
{
    // TODO: `laps` times: rank 0 adds 1 to its *token and sends it to the right; every other rank receives it from the
    // left, adds rank + 1, and sends it to the right; rank 0 receives what comes back. Right of n-1 is 0.
    (void)comm, (void)token, (void)laps;
    return P2P_ERR_TODO;
    // END TODO
}
