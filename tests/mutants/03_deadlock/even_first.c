/* SPDX-License-Identifier: MIT */
// what: even ranks go first: right only if one of the two is odd.
// expect: deadlock
// expect: p2p_recv(source 3, tag 1)
// expect: p2p_recv(source 1, tag 1)
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    p2p_err err;

    if (p2p_rank(comm) % 2 == 0) {
        err = p2p_send(comm, mine, bytes, peer, TAG);
        return err ? err : p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    }
    err = p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    return err ? err : p2p_send(comm, mine, bytes, peer, TAG);
}

p2p_err my_exchange_sendrecv(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    return p2p_sendrecv(comm, mine, bytes, peer, TAG, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
}

p2p_err my_exchange_isend(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    p2p_request sending;
    p2p_err err = p2p_isend(comm, mine, bytes, peer, TAG, &sending);

    if (err) return err;
    err = p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    p2p_err sent = p2p_wait(&sending, P2P_STATUS_IGNORE);
    return err ? err : sent;
}
