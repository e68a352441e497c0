/* SPDX-License-Identifier: MIT */
// what: waits for one after the other, and returns when one has failed.
// expect: When p2p_wait at isend_irecv.c:
// expect: did not wait for the request that it had begun at isend_irecv.c:
#include "exercises/exercises.h"

enum { LEFTWARDS = 1, RIGHTWARDS = 2 }; /* tags: which way a message goes */

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    p2p_request requests[4] = {P2P_REQUEST_NULL};

    p2p_err err = p2p_irecv(comm, from_left, bytes, left, RIGHTWARDS, &requests[0]);
    if (!err) err = p2p_irecv(comm, from_right, bytes, right, LEFTWARDS, &requests[1]);
    if (!err) err = p2p_isend(comm, to_left, bytes, left, LEFTWARDS, &requests[2]);
    if (!err) err = p2p_isend(comm, to_right, bytes, right, RIGHTWARDS, &requests[3]);
    for (int i = 0; i < 4 && !err; i++) err = p2p_wait(&requests[i], P2P_STATUS_IGNORE);
    return err;
}
