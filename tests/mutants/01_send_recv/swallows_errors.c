/* SPDX-License-Identifier: MIT */
// what: does not return what its calls return.
// expect: failed on rank
// expect: returned P2P_OK all the same
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_send_recv(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int from, int to)
{
    int rank = p2p_rank(comm);
    size_t bytes = count * dtype_size(dtype);

    if (from == to) return P2P_OK;
    if (rank == from) p2p_send(comm, buf, bytes, to, TAG);
    if (rank == to) (void)p2p_recv(comm, buf, bytes, from, TAG, P2P_STATUS_IGNORE);
    return P2P_OK;
}
