/* SPDX-License-Identifier: MIT */
/*
 * The fast path: a short message whose way is free needs no request, no list and no packet.
 *
 *      sending       it may be buffered, nothing is queued before it, and there is room: it is written where it belongs
 *      receiving     nothing has come from there that nobody asked for, no other receive is posted that could want it: if
 *                    the next thing from there is the message, all of it, it is copied from where it lies
 *
 * In all other cases these return false, having done nothing, and the message goes the long way (send.c, recv.c), which
 * leads to the same. On the path of every short message in the shm world: this is what its latency is made of.
 */
#include <string.h>

#include "p2p/message/internal.h"

#define POLLS_A_TIME 32 /* between two looks at the clock */
#define LONGEST_NS UINT64_C(5000)

static bool may_be_buffered(const p2p_engine *engine, const p2p_peer *peer, size_t bytes)
{
    return engine->fast_path && bytes <= engine->config.eager && p2p__eager_cost(bytes) <= peer->credit &&
           !peer->unreachable;
}

bool p2p__fast_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, uint32_t context)
{
    p2p_engine *engine = comm->engine;
    p2p_peer *peer = &engine->peers[comm->world_rank[dest]];
    if (!may_be_buffered(engine, peer, bytes)) return false;
    if (!engine->world->send_now(&engine->end, &peer->link, &(p2p_short){context, tag, bytes, buf})) return false;
    peer->credit -= p2p__eager_cost(bytes);
    comm->traffic[dest].messages_sent++;
    comm->traffic[dest].bytes_sent += bytes;
    return true;
}

/* Is a message from this peer for whoever asks for it first, and it alone is asking? */
static bool first_in_line(const p2p_engine *engine, const p2p_peer *peer)
{
    return engine->fast_path && !peer->unexpected && !peer->posted.head && !engine->posted_any.head;
}

static bool is_wanted(const p2p_short *b, uint32_t context, int tag, size_t room)
{
    return b->context == context && (b->tag == tag || (tag == P2P_ANY_TAG && b->tag >= 0)) && b->bytes <= room;
}

/* Look for a while, if this rank has its core for itself: it is often here within a microsecond. */
static bool wait_for_it(p2p_engine *engine, p2p_peer *peer, p2p_short *b)
{
    uint64_t give_up = 0;
    for (unsigned polls = 0;; polls++) {
        if (engine->world->is_waiting(&engine->end, &peer->link))
            return engine->world->look(&engine->end, &peer->link, b);
        if (polls % POLLS_A_TIME) continue;
        uint64_t now = engine->spin.now ? p2p__now() : UINT64_MAX;
        if (!give_up) give_up = now + LONGEST_NS;
        if (now >= give_up) return false;
    }
}

static void count_receive(p2p_comm *comm, int source, size_t bytes)
{
    comm->traffic[source].messages_received++;
    comm->traffic[source].bytes_received += bytes;
}

bool p2p__fast_recv(p2p_comm *comm, void *buf, size_t room, int source, int tag, uint32_t context, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    p2p_peer *peer = source == P2P_ANY_SOURCE ? NULL : &engine->peers[comm->world_rank[source]];
    p2p_short b;
    if (!peer || !first_in_line(engine, peer) || engine->layers.head) return false;
    if (!wait_for_it(engine, peer, &b) || !is_wanted(&b, context, tag, room)) return false;
    if (b.bytes) memcpy(buf, b.payload, b.bytes);
    p2p__frame_received(engine, peer);
    engine->world->take(&engine->end, &peer->link);
    peer->owed += p2p__eager_cost(b.bytes);
    if (peer->owed >= engine->share / 4) p2p__consumed(engine, peer, 0);
    count_receive(comm, source, b.bytes);
    if (status) *status = (p2p_status){.source = source, .tag = b.tag, .bytes = b.bytes};
    return true;
}
