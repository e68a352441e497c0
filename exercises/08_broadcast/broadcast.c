/* SPDX-License-Identifier: MIT */
/*
 * 08_broadcast: one rank's data, on every rank. The naive way: the root tells everyone, one after the other.
 *
 *      make test EX=08
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO: the root sends its count elements to every other rank; every other rank receives them in its buf.
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_ERR_TODO;
    // END TODO
}
