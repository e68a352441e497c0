/* SPDX-License-Identifier: MIT */
/*
 * 01_send_recv: one message, from one rank to another.
 *
 *      make test EX=01
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_send_recv(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int from, int to)
{
    // TODO: rank `from` sends its count elements of type dtype to rank `to`, which receives them in its own buf.
    // Every other rank returns at once. If from and to are the same rank, no rank does anything.
    (void)comm, (void)buf, (void)count, (void)dtype, (void)from, (void)to;
    return P2P_ERR_TODO;
    // END TODO
}
