/* SPDX-License-Identifier: MIT */
// what: partners by exclusive or, but for those that do not exist: with 3 ranks it sends what a central barrier sends.
// expect: before rank 2 had come
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);
    for (int d = 1; d < size; d *= 2) {
        int to = rank ^ d, from = rank ^ d;
        if (to >= size) continue;
        p2p_err err = p2p_sendrecv(comm, NULL, 0, to, TAG, NULL, 0, from, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
