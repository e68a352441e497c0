/* SPDX-License-Identifier: MIT */
// what: every rank but the sender receives: right only for two ranks.
// expect: deadlock
// expect: p2p_recv(source 0, tag 1)
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_send_recv(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int from, int to)
{
    int rank = p2p_rank(comm);
    size_t bytes = count * dtype_size(dtype);

    if (from == to) return P2P_OK;
    if (rank == from) return p2p_send(comm, buf, bytes, to, TAG);
    return p2p_recv(comm, buf, bytes, from, TAG, P2P_STATUS_IGNORE);
}
