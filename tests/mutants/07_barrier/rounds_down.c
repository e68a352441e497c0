/* SPDX-License-Identifier: MIT */
// what: floor(log2 n) rounds: one too few unless n is a power of two.
// expect: before rank
// expect: had come
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_barrier(p2p_comm *comm)
{
    int rank = p2p_rank(comm), size = p2p_size(comm);

    for (int distance = 1; 2 * distance <= size; distance *= 2) {
        int to = (rank + distance) % size, from = (rank + size - distance) % size;
        p2p_err err = p2p_sendrecv(comm, NULL, 0, to, TAG, NULL, 0, from, TAG, P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}
