/* SPDX-License-Identifier: MIT */
// what: both sends first, waiting for each; then the receives.
// expect: deadlock
// expect: p2p_send(dest
#include "exercises/exercises.h"

enum { LEFTWARDS = 1, RIGHTWARDS = 2 }; /* tags: which way a message goes */

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;

    p2p_err err = p2p_send(comm, to_left, bytes, left, LEFTWARDS);
    if (!err) err = p2p_send(comm, to_right, bytes, right, RIGHTWARDS);
    if (!err) err = p2p_recv(comm, from_left, bytes, left, RIGHTWARDS, P2P_STATUS_IGNORE);
    if (!err) err = p2p_recv(comm, from_right, bytes, right, LEFTWARDS, P2P_STATUS_IGNORE);
    return err;
}
