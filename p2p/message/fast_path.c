/* SPDX-License-Identifier: MIT */
/*
 * The fast path: a short message whose way is free needs no request, no list and no packet.
 *
 *      p2p_send      enter, check (error.c)
 *        fast_send   it may be buffered, no packet is queued before it, and there is room: it is written there
 *      p2p_recv      enter, check
 *        fast_recv   no message from there is kept, and no other receive is posted that could match: if the next thing in
 *                    the queue is the message, all of it, it is copied from where it lies
 *
 * In all other cases these return false, having done nothing, and the message goes the long way (send.c, recv.c), which
 * leads to the same. The latency of short messages in the shm world is made of this.
 */
#include <string.h>

#include "p2p/message/internal.h"

bool p2p__fast_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, uint32_t context)
{
    p2p_engine *engine = comm->engine;
    p2p_peer *peer = &engine->peers[comm->world_rank[dest]];
    if (!engine->fast_path || peer->unreachable ||
        !p2p__may_be_buffered(engine, peer, bytes, context != comm->context) ||
        !engine->world->send_now(&engine->end, &peer->link, &(p2p_short){context, tag, bytes, buf}))
        return false;
    peer->credit -= p2p__eager_cost(bytes);
    p2p__count_sent(comm, dest, bytes);
    return true;
}

bool p2p__fast_recv(p2p_comm *comm, void *buf, size_t room, int source, int tag, uint32_t context, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    if (!engine->fast_path || source == P2P_ANY_SOURCE || engine->posted_any.head || engine->layers.head) return false;
    p2p_peer *peer = &engine->peers[comm->world_rank[source]];
    if (peer->unexpected || peer->posted.head) return false;

    bool spins = engine->spin.now > 0; /* with a core of its own: the message is often here within a microsecond */
    p2p_backoff backoff = p2p__backoff_short(spins ? RECEIVE_POLLS : 1, spins ? RECEIVE_SPIN_NS : 0);
    while (!engine->world->is_waiting(&engine->end, &peer->link))
        if (!p2p__backoff_goes_on(&engine->spin, &backoff)) return false;

    p2p_short message;
    if (!engine->world->look(&engine->end, &peer->link, &message) || message.context != context ||
        !p2p__tag_matches(tag, message.tag) || message.bytes > room)
        return false;
    if (message.bytes) memcpy(buf, message.payload, message.bytes);
    p2p__frame_received(engine, peer);
    engine->world->take(&engine->end, &peer->link);
    p2p__consumed(engine, peer, p2p__eager_cost(message.bytes));
    p2p__count_received(comm, source, message.bytes);
    if (status) *status = (p2p_status){.source = source, .tag = message.tag, .bytes = message.bytes};
    return true;
}
