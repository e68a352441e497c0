/* SPDX-License-Identifier: MIT */
// what: returns when its receive fails, and leaves its send under way.
// expect: When p2p_recv at deadlock.c:
// expect: did not wait for the request that it had begun at deadlock.c:
// expect: whatever else went wrong
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    p2p_err err;

    if (p2p_rank(comm) < peer) {
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
    if (err) return err;
    return p2p_wait(&sending, P2P_STATUS_IGNORE);
}
