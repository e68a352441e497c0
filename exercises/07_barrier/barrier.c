/* SPDX-License-Identifier: MIT */
/*
 * 07_barrier: no rank leaves before every rank has come.
 *
 *      make test EX=07
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    // TODO: for distance 1, 2, 4, ... below the number of ranks: send an empty message to the rank that is `distance`
    // further on in the ring, and receive one from the rank that is `distance` before.
    (void)comm;
    return P2P_ERR_TODO;
    // END TODO
}
