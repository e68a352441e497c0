/* SPDX-License-Identifier: MIT */
// what: waits for its receives only; the sends are left to themselves.
// expect: request
#include "exercises/exercises.h"

enum { LEFTWARDS = 1, RIGHTWARDS = 2 }; /* tags: which way a message goes */

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    p2p_request requests[4];

    p2p_err err = p2p_irecv(comm, from_left, bytes, left, RIGHTWARDS, &requests[0]);
    if (!err) err = p2p_irecv(comm, from_right, bytes, right, LEFTWARDS, &requests[1]);
    if (!err) err = p2p_isend(comm, to_left, bytes, left, LEFTWARDS, &requests[2]);
    if (!err) err = p2p_isend(comm, to_right, bytes, right, RIGHTWARDS, &requests[3]);
    if (err) return err;
    return p2p_wait_all(2, requests, P2P_STATUSES_IGNORE);
}
