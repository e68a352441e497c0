/* SPDX-License-Identifier: MIT */
// what: sends both messages from one buffer, which is written to again before the first wait.
// expect: both messages of rank
// expect: written to again
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"

p2p_err my_halo(p2p_comm *comm, const void *to_left, const void *to_right, void *from_left, void *from_right,
                size_t bytes)
{
    int rank = p2p_rank(comm), size = p2p_size(comm), left = (rank + size - 1) % size, right = (rank + 1) % size;
    p2p_request requests[4];
    char *out = malloc(bytes + 1);

    p2p_irecv(comm, from_left, bytes, left, 2, &requests[0]);
    p2p_irecv(comm, from_right, bytes, right, 1, &requests[1]);
    memcpy(out, to_left, bytes);
    p2p_isend(comm, out, bytes, left, 1, &requests[2]);
    memcpy(out, to_right, bytes);
    p2p_isend(comm, out, bytes, right, 2, &requests[3]);
    p2p_err err = p2p_wait_all(4, requests, P2P_STATUSES_IGNORE);
    free(out);
    return err;
}
