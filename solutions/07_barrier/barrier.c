/* SPDX-License-Identifier: MIT */
/*
 * 07_barrier: no rank leaves before every rank has come.
 *
 *      make test EX=07
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    // TODO: for distance 1, 2, 4, ... below the number of ranks: send an empty message to the rank that is `distance`
    // further on in the ring, and receive one from the rank that is `distance` before.
    // stub: (void)comm;
    // stub: return P2P_ERR_TODO;
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int distance = 1; distance < size; distance *= 2) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        p2p_err err = p2p_sendrecv(comm, NULL, 0, to, TAG, NULL, 0, from, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
    // END TODO
}
