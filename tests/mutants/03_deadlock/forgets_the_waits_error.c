/* SPDX-License-Identifier: MIT */
// what: what p2p_wait returned is dropped.
// expect: p2p_wait failed on rank
#include "exercises/exercises.h"

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    bool first = p2p_rank(comm) < peer;
    p2p_err err = first ? p2p_send(comm, mine, bytes, peer, 1)
                        : p2p_recv(comm, theirs, bytes, peer, 1, P2P_STATUS_IGNORE);
    if (err) return err;
    return first ? p2p_recv(comm, theirs, bytes, peer, 1, P2P_STATUS_IGNORE) : p2p_send(comm, mine, bytes, peer, 1);
}

p2p_err my_exchange_sendrecv(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    return p2p_sendrecv(comm, mine, bytes, peer, 1, theirs, bytes, peer, 1, P2P_STATUS_IGNORE);
}

p2p_err my_exchange_isend(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    p2p_request request;
    p2p_err err = p2p_isend(comm, mine, bytes, peer, 1, &request);
    if (err) return err;
    err = p2p_recv(comm, theirs, bytes, peer, 1, P2P_STATUS_IGNORE);
    p2p_wait(&request, P2P_STATUS_IGNORE);
    return err;
}
