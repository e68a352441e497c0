/* SPDX-License-Identifier: MIT */
// what: alone, it copies to_left to from_left; no message is sent.
// expect: Which buffer goes with which neighbour
#include <string.h>

#include "exercises/exercises.h"

enum { LEFTWARDS = 1, RIGHTWARDS = 2 };

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    if (size == 1) {
        memcpy(from_left, to_left, bytes);
        memcpy(from_right, to_right, bytes);
        return P2P_OK;
    }
    p2p_request q[4] = {0};
    p2p_err err = p2p_irecv(comm, from_left, bytes, left, RIGHTWARDS, &q[0]);
    if (!err) err = p2p_irecv(comm, from_right, bytes, right, LEFTWARDS, &q[1]);
    if (!err) err = p2p_isend(comm, to_left, bytes, left, LEFTWARDS, &q[2]);
    if (!err) err = p2p_isend(comm, to_right, bytes, right, RIGHTWARDS, &q[3]);
    p2p_err two = p2p_wait_all(4, q, P2P_STATUSES_IGNORE);
    return err ? err : two;
}
