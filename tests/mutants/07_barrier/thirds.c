/* SPDX-License-Identifier: MIT */
// what: the distance is multiplied by three.
// expect: heard from rank
// expect: and from no rank at distance 2; among
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int distance = 1; distance < size; distance *= 3) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        p2p_err err = p2p_sendrecv(comm, NULL, 0, to, TAG, NULL, 0, from, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
