/* SPDX-License-Identifier: MIT */
// what: a static variable lets only the first barrier wait.
// expect: what is different the next time
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    // further on in the ring, and receive one from the rank that is `distance` before.
    static int done;
    if (done++) return P2P_OK;
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int distance = 1; distance < size; distance *= 2) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        p2p_err err = p2p_sendrecv(comm, NULL, 0, to, TAG, NULL, 0, from, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
