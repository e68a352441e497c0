/* SPDX-License-Identifier: MIT */
// what: the receiver answers.
// expect: It is not asked for an answer
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_send_recv(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int from, int to)
{
    int rank = p2p_rank(comm);
    size_t bytes = count * dtype_size(dtype);

    if (from == to) return P2P_OK;
    if (rank == from) {
        p2p_err err = p2p_send(comm, buf, bytes, to, TAG);
        return err ? err : p2p_recv(comm, NULL, 0, to, TAG, P2P_STATUS_IGNORE);
    }
    if (rank == to) {
        p2p_err err = p2p_recv(comm, buf, bytes, from, TAG, P2P_STATUS_IGNORE);
        return err ? err : p2p_send(comm, NULL, 0, from, TAG);
    }
    return P2P_OK;
}
