/* SPDX-License-Identifier: MIT */
// what: waits for its send before it receives: an isend followed by a wait is a send.
// expect: deadlock
// expect: p2p_wait
// expect: 1048576 bytes
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
    err = p2p_wait(&sending, P2P_STATUS_IGNORE);
    return err ? err : p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
}
