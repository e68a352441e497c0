/* SPDX-License-Identifier: MIT */
// what: the rank that goes first does not return: it sends twice.
// expect: each as long as all of mine
// expect: Does a return lack
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    // Both must come to the same conclusion about who is who, whichever two ranks they are.
    p2p_err err;

    if (p2p_rank(comm) < peer) {
        err = p2p_send(comm, mine, bytes, peer, TAG);
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
