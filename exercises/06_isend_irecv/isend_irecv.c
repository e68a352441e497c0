/* SPDX-License-Identifier: MIT */
/*
 * 06_isend_irecv: give both neighbours something and take something from both, all at once.
 *
 *      make test EX=06
 */
#include "exercises/exercises.h"

enum { LEFTWARDS = 1, RIGHTWARDS = 2 }; /* tags: which way a message goes */

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    // TODO: begin two receives and two sends, then wait for all four. With two ranks left and right are the same one:
    // what does a tag have to say, so that the two messages are not mixed up?
    (void)comm, (void)to_left, (void)to_right, (void)from_left, (void)from_right, (void)bytes;
    return P2P_ERR_TODO;
    // END TODO
}
