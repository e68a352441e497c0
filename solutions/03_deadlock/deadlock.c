/* SPDX-License-Identifier: MIT */
/*
 * 03_deadlock: two ranks that both send first, and three ways to mend it. As handed in, each of the three functions has
 * the same mistake: it works for short messages, and stands still for long ones.
 *
 *      make test EX=03
 */
#include "exercises/exercises.h"

enum { TAG = 1 };

p2p_err my_exchange_in_order(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    // TODO: one of the two sends first and then receives; the other one does it the other way round.
    // Both must come to the same conclusion about who is who, whichever two ranks they are.
    // stub: p2p_err err = p2p_send(comm, mine, bytes, peer, TAG);
    // stub: if (err) return err;
    // stub: return p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    p2p_err err;

    if (p2p_rank(comm) < peer) {
        err = p2p_send(comm, mine, bytes, peer, TAG);
        return err ? err : p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    }
    err = p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    return err ? err : p2p_send(comm, mine, bytes, peer, TAG);
    // END TODO
}

p2p_err my_exchange_sendrecv(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    // TODO: both at once, in one call.
    // stub: p2p_err err = p2p_send(comm, mine, bytes, peer, TAG);
    // stub: if (err) return err;
    // stub: return p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    return p2p_sendrecv(comm, mine, bytes, peer, TAG, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    // END TODO
}

p2p_err my_exchange_isend(p2p_comm *comm, const void *mine, void *theirs, size_t bytes, int peer)
{
    // TODO: begin the send, receive while it is under way, then wait for the send.
    // stub: p2p_err err = p2p_send(comm, mine, bytes, peer, TAG);
    // stub: if (err) return err;
    // stub: return p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    p2p_request sending;
    p2p_err err = p2p_isend(comm, mine, bytes, peer, TAG, &sending);

    if (err) return err;
    err = p2p_recv(comm, theirs, bytes, peer, TAG, P2P_STATUS_IGNORE);
    p2p_err sent = p2p_wait(&sending, P2P_STATUS_IGNORE);
    return err ? err : sent;
    // END TODO
}
