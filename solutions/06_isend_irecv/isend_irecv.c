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
    // stub: (void)comm, (void)to_left, (void)to_right, (void)from_left, (void)from_right, (void)bytes;
    // stub: return P2P_ERR_TODO;
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    p2p_request requests[4] = {P2P_REQUEST_NULL};

    p2p_err err = p2p_irecv(comm, from_left, bytes, left, RIGHTWARDS, &requests[0]);
    if (!err) err = p2p_irecv(comm, from_right, bytes, right, LEFTWARDS, &requests[1]);
    if (!err) err = p2p_isend(comm, to_left, bytes, left, LEFTWARDS, &requests[2]);
    if (!err) err = p2p_isend(comm, to_right, bytes, right, RIGHTWARDS, &requests[3]);
    p2p_err waited = p2p_wait_all(4, requests, P2P_STATUSES_IGNORE); /* for those that have begun, whatever err is */
    return err ? err : waited;
    // END TODO
}
