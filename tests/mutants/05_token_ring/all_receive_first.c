/* SPDX-License-Identifier: MIT */
// what: every rank receives before it sends; no rank begins.
// expect: deadlock
// expect: p2p_recv(source 1, tag 1)
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_token_ring(p2p_comm *comm, int64_t *token, int laps)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    p2p_err err = P2P_OK;

    for (int lap = 0; lap < laps && !err; lap++) {
        if (size > 1) err = p2p_recv(comm, token, sizeof *token, left, TAG, P2P_STATUS_IGNORE);
        *token += rank + 1;
        if (size == 1) continue;
        if (!err) err = p2p_send(comm, token, sizeof *token, right, TAG);
    }
    return err;
}
