/* SPDX-License-Identifier: MIT */
// what: tells its partners with p2p_isend, and never receives.
// expect: It received no message at all, and so it waited for no rank
// expect: must also wait to be told
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    p2p_request told;
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int distance = 1; distance < size; distance *= 2) {
        int to = (rank + distance) % size;
        p2p_err err = p2p_isend(comm, NULL, 0, to, TAG, &told);
        if (!err) err = p2p_wait(&told, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
