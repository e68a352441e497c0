/* SPDX-License-Identifier: MIT */
/*
 * Sending. A short message goes at once, payload behind its header (EAGER), as long as the receiver has room for what
 * no receive there has asked for (credit). A long one, every one in strict mode, and every p2p_ssend asks first:
 *
 *      sender                          receiver
 *        |---- REQUEST (tag, bytes) ----->|   waits until a receive matches
 *        |<--- CLEAR --------------------|
 *        |---- PAYLOAD ----------------->|   straight into the receive's buffer
 *        |<--- CLEAR (drop) -------------|   only if launchers have copied it, from host to host
 *
 * A message to oneself takes no wire: it is copied when both sides have met.
 */
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/copy.h"
#include "p2p/shared/crc.h"

static void prepare(p2p_request request, enum wire_type type)
{
    p2p_engine *engine = request->comm->engine;
    p2p_packet *packet = &request->packet;
    bool carries = type != WIRE_REQUEST, readable = false;
    packet->owner = request;
    packet->payload = carries ? request->buf : NULL;
    packet->payload_bytes = carries ? request->bytes : 0;
    packet->header = (wire_header){.type = (uint8_t)type,
                                   .context = request->context,
                                   .tag = request->tag,
                                   .bytes = request->bytes,
                                   .kind = engine->kind,
                                   .sender_id = request->id,
                                   .clock = request->began};
    if (!carries && !engine->choices &&
        p2p__is_local(engine->scoreboard, request->peer)) { /* where the receiver can read it, if it can */
        uint64_t place = p2p__shared_place(engine, request->buf, request->bytes);
        readable = place || p2p__reads_memory(engine, request->bytes);
        if (readable) packet->header.flags = place ? WIRE_FLAG_SHARED : WIRE_FLAG_READABLE;
        if (readable && !request->name) packet->header.flags |= WIRE_FLAG_BLOCKING;
        if (readable) packet->header.receiver_id = place ? place : (uintptr_t)request->buf;
    }
    if ((carries || readable) && engine->config.crc) {
        packet->header.flags |= WIRE_FLAG_CRC;
        packet->header.payload_crc = p2p__crc32c(0, request->buf, request->bytes);
    }
}

/* To oneself: meet a posted receive, or wait as an unexpected message: copied if it may be buffered. */
static p2p_err send_to_self(p2p_engine *engine, p2p_request request, bool buffered)
{
    p2p_peer *self = &engine->peers[engine->rank];
    prepare(request, buffered ? WIRE_EAGER : WIRE_REQUEST);
    request->packet.header.source = (uint32_t)engine->rank;
    if (engine->choices) p2p__choice_arrived(engine, &request->packet.header);
    p2p_request receive = engine->choices ? NULL : p2p__match_posted(engine, &request->packet.header);
    if (receive) {
        p2p__match_self(engine, receive, request);
        return P2P_OK;
    }
    p2p_unexpected *message = p2p__unexpected_add(engine, self, &request->packet.header, buffered ? request->bytes : 0);
    if (!message) return p2p__fail(request->comm, CAUSE_NO_COPY, request->bytes);
    if (!buffered) {
        message->sender = request;
        return P2P_OK;
    }
    if (request->bytes) p2p__copy(message->data, request->buf, request->bytes);
    message->complete = true;
    self->credit -= p2p__eager_cost(request->bytes);
    p2p__complete(request, P2P_OK);
    return P2P_OK;
}

p2p_err p2p__start_send(p2p_request request, int dest, int tag, bool wait_for_match)
{
    p2p_comm *comm = request->comm;
    p2p_engine *engine = comm->engine;
    request->peer = comm->world_rank[dest];
    request->tag = tag;
    request->synchronous = wait_for_match;
    request->id = engine->next_id++;
    request->status = (p2p_status){.source = dest, .tag = tag, .bytes = request->bytes};

    if (engine->config.network.on && request->counted) {
        uint64_t cost = p2p__network_message(&engine->config.network, engine->rank, request->peer, request->bytes);
        p2p_clock *clock = engine->clock;
        if (p2p__network_crosses(&engine->config.network, engine->rank, request->peer)) {
            p2p_err lost = p2p__ask_port(comm, request->peer, cost, &request->began, &request->ends);
            if (lost) return lost;
        } else {
            request->began = clock->now > clock->out_free ? clock->now : clock->out_free;
            request->ends = clock->out_free = request->began + cost;
        }
    }
    p2p_peer *peer = &engine->peers[request->peer];
    bool collective = request->context != comm->context;
    bool buffered = !wait_for_match && p2p__may_be_buffered(engine, peer, request->bytes, collective);
    p2p_err err;
    if (engine->choices) p2p__choice_acts(engine);
    if (!buffered && !collective && engine->choices) p2p__choice_of_send(request, wait_for_match);
    /* Before it is posted: it may be received before this rank reads the clock again. */
    TRACE(engine, engine->trace->posted = p2p__trace_clock(engine));
    if (request->peer == engine->rank) {
        err = send_to_self(engine, request, buffered);
    } else if (peer->unreachable) {
        err = p2p__unreachable_error(comm, peer);
    } else {
        prepare(request, buffered ? WIRE_EAGER : WIRE_REQUEST);
        if (buffered)
            peer->credit -= p2p__eager_cost(request->bytes);
        else
            p2p__list_add(&peer->awaits_clear, request);
        err = p2p__post(engine, peer, &request->packet);
    }
    if (err || !request->counted) return err;
    p2p__count_sent(comm, dest, request->bytes);
    TRACE(engine, p2p__trace_sends(request));
    return P2P_OK;
}

p2p_err p2p__got_clear(p2p_engine *engine, p2p_peer *peer, p2p_request request, const wire_header *header)
{
    p2p__list_remove(&peer->awaits_clear, request);
    if (header->flags & WIRE_FLAG_DROP) {
        p2p__complete(request, P2P_OK);
        return P2P_OK;
    }
    prepare(request, WIRE_PAYLOAD);
    request->packet.header.receiver_id = header->receiver_id;
    uint64_t place = header->flags & WIRE_FLAG_READABLE ? p2p__shared_place(engine, request->buf, request->bytes) : 0;
    if ((header->flags & WIRE_FLAG_READABLE) && (place || engine->scoreboard->may_read)) {
        request->packet.payload_bytes = 0;
        request->packet.header.flags |= place ? WIRE_FLAG_SHARED : WIRE_FLAG_READABLE;
        request->packet.header.sender_id = place ? place : (uintptr_t)request->buf;
        request->packet.header.clock = header->bytes;
        p2p__list_add(&peer->awaits_clear, request); /* until it has been copied */
    }
    return p2p__post(engine, peer, &request->packet);
}
