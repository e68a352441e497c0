/* SPDX-License-Identifier: MIT */
// what: cuts the message into pieces that are short enough to be buffered.
// expect: need not be cut up
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    enum { PIECE = 16384 };
    p2p_err err = P2P_OK;

    for (size_t at = 0; at < bytes && !err; at += PIECE) {
        size_t piece = bytes - at < PIECE ? bytes - at : PIECE;
        err = p2p_send(comm, (const char *)mine + at, piece, peer, TAG);
        if (!err) err = p2p_recv(comm, (char *)theirs + at, piece, peer, TAG, P2P_STATUS_IGNORE);
    }
    return err;
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
