/* SPDX-License-Identifier: MIT */
/*
 * Dissemination barrier. In round k every rank sends an empty message to the rank 2^k further on and receives one from
 * the rank 2^k before: with it, all ranks that one has heard from are known to have come. Six ranks, what rank 0 knows:
 *
 *      round 0   from rank 5                     0 5
 *      round 1   from rank 4, who knows 4 3      0 5 4 3
 *      round 2   from rank 2, who knows 2 1 0 5  0 5 4 3 2 1      all: rank 0 may go on
 *
 * ceil(log2 n) rounds of one empty message a rank, n a power of two or not.
 * Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization", 1988.
 *
 * In the shm world no message is needed, on several hosts either: the agreement on the call is the barrier.
 */
#include "collectives/internal.h"

static p2p_err disseminate(const frame__call *call)
{
    int rank = call->rank, size = call->size;
    for (int distance = 1; distance < size; distance *= 2) {
        int to = (rank + distance) % size, from = (rank - distance + size) % size;
        p2p_err err = p2p_layer_sendrecv(call->comm, NULL, 0, to, FRAME_TAG, NULL, 0, from, FRAME_TAG,
                                         P2P_STATUS_IGNORE);
        if (err) return err;
    }
    return P2P_OK;
}

p2p_err coll_barrier(p2p_comm *comm)
{
    frame__call call = {.comm = comm, .operation = "coll_barrier", .dtype = DTYPE_U8};
    call.barriers = frame__has_inline(comm);
    p2p_err err = frame__begin(&call, FRAME_NOTHING, FRAME_NOTHING);
    if (err) return err;
    return frame__end(&call, call.barriers ? p2p_layer_agree(comm) : disseminate(&call), NULL);
}
