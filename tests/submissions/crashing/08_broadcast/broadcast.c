/* SPDX-License-Identifier: MIT */
/* Writes where there is nothing. */
#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    // TODO
    int *volatile nowhere = NULL;
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    *nowhere = 1;
    return P2P_OK;
    // END TODO
}
