/* SPDX-License-Identifier: MIT */
/*
 * Sending. A short message goes at once, payload behind its header (EAGER), as long as the receiver has room for what
 * nobody there has asked for (credit). A long one, every one in strict mode, and every p2p_ssend asks first:
 *
 *      sender                          receiver
 *        |---- REQUEST (tag, bytes) ----->|   waits until a receive matches
 *        |<--- CLEAR --------------------|
 *        |---- PAYLOAD ----------------->|   straight into the receive's buffer
 *
 * A message to oneself takes no wire: it is copied when both sides have met.
 */
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/crc.h"

uint64_t p2p__eager_cost(size_t bytes)
{
    return bytes + sizeof(p2p_unexpected);
}

static void payload_sent(p2p_engine *engine, p2p_packet *packet)
{
    (void)engine;
    p2p__complete(packet->owner, P2P_OK);
}

static void request_sent(p2p_engine *engine, p2p_packet *packet)
{
    (void)engine, (void)packet; /* the receiver's CLEAR comes next */
}

/* What a receiver could read by itself. False if it has to be sent. */
static bool say_where(p2p_engine *engine, const struct p2p_operation *request, wire_header *header)
{
    uint64_t place = p2p__shared_place(engine, request->buf, request->bytes);
    if (!place && !p2p__reads_memory(engine, request->bytes)) return false;
    header->flags = place ? WIRE_FLAG_SHARED : WIRE_FLAG_READABLE;
    header->receiver_id = place ? place : (uintptr_t)request->buf;
    return true;
}

static void prepare(p2p_request request, enum wire_type type)
{
    p2p_engine *engine = request->comm->engine;
    p2p_packet *packet = &request->packet;
    bool carries = type != WIRE_REQUEST;
    packet->owner = request;
    packet->payload = carries ? request->buf : NULL;
    packet->payload_bytes = carries ? request->bytes : 0;
    packet->sent = carries ? payload_sent : request_sent;
    packet->header = (wire_header){.type = (uint8_t)type,
                                   .context = request->context,
                                   .tag = request->tag,
                                   .bytes = request->bytes,
                                   .sender_id = request->id,
                                   .clock = request->began};
    bool readable = !carries && say_where(engine, request, &packet->header);
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
    p2p_request receive = p2p__match_posted(engine, &request->packet.header);
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
    if (request->bytes) memcpy(message->data, request->buf, request->bytes);
    message->complete = true;
    self->credit -= p2p__eager_cost(request->bytes);
    p2p__complete(request, P2P_OK);
    return P2P_OK;
}

static p2p_err send_to_peer(p2p_engine *engine, p2p_peer *peer, p2p_request request, bool buffered)
{
    if (peer->unreachable) return p2p__unreachable_error(request->comm, peer);
    prepare(request, buffered ? WIRE_EAGER : WIRE_REQUEST);
    if (buffered)
        peer->credit -= p2p__eager_cost(request->bytes);
    else
        p2p__list_add(&peer->awaits_clear, request, LIST_AWAITS_CLEAR);
    return p2p__post(engine, peer, &request->packet);
}

/* Users may count on short messages being kept for the receiver. Collectives need not: what would have to go through a link
 * by turns, the receiver had better read out of the sender's memory. */
static bool may_be_buffered(const p2p_engine *engine, const struct p2p_operation *request, const p2p_peer *peer)
{
    bool collective = request->context != request->comm->context;
    if (collective && request->bytes > engine->end.link_room / 2 && p2p__reads_memory(engine, request->bytes) &&
        engine->scoreboard->may_read)
        return false;
    return !engine->config.strict && request->bytes <= engine->config.eager &&
           p2p__eager_cost(request->bytes) <= peer->credit;
}

p2p_err p2p__start_send(p2p_request request, int dest, int tag, bool wait_for_match)
{
    p2p_comm *comm = request->comm;
    p2p_engine *engine = comm->engine;
    request->peer = comm->world_rank[dest];
    request->tag = tag;
    request->id = engine->next_id++;
    request->status = (p2p_status){.source = dest, .tag = tag, .bytes = request->bytes};

    if (engine->config.network.on && request->counted) {
        uint64_t cost = p2p__network_message(&engine->config.network, engine->rank, request->peer, request->bytes);
        request->began = p2p__clock_send(engine->clock, cost, &request->ends);
    }
    p2p_peer *peer = &engine->peers[request->peer];
    bool buffered = !wait_for_match && may_be_buffered(engine, request, peer);
    TRACE(engine, p2p__trace_posts(engine));
    p2p_err err = request->peer == engine->rank ? send_to_self(engine, request, buffered)
                                                : send_to_peer(engine, peer, request, buffered);
    if (err || !request->counted) return err;
    comm->traffic[dest].messages_sent++;
    comm->traffic[dest].bytes_sent += request->bytes;
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
    return p2p__post(engine, peer, &request->packet);
}

static p2p_err check_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    p2p_err err = p2p__check_peer(comm, dest, "dest");
    if (!err) err = p2p__check_tag(comm, tag);
    if (!err) err = p2p__check_buffer(comm, buf, bytes);
    if (!err && p2p__job_failed(comm->engine)) err = p2p__job_error(comm);
    return err;
}

/* Blocking sends and non-blocking ones, in either context. */
static p2p_err send_and_wait(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, bool match,
                             uint32_t context)
{
    p2p_err err = check_send(comm, buf, bytes, dest, tag);
    if (err) return err;
    if (!match && p2p__fast_send(comm, buf, bytes, dest, tag, context)) return P2P_OK;
    struct p2p_operation request;
    p2p__request_init(&request, REQUEST_SEND, comm, (void *)(uintptr_t)buf, bytes);
    request.context = context;
    err = p2p__start_send(&request, dest, tag, match);
    return err ? err : p2p__finish_stacked(comm, &request, NULL);
}

static p2p_err send_later(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, uint32_t context,
                          p2p_request *out)
{
    if (!out) return p2p__fail(comm, CAUSE_NO_PLACE_FOR_SEND);
    p2p_err err = check_send(comm, buf, bytes, dest, tag);
    if (err) return err;
    p2p_request request;
    err = p2p__request_new(comm, REQUEST_SEND, (void *)(uintptr_t)buf, bytes, &request);
    if (err) return err;
    request->context = context;
    if (comm->engine->config.debug && bytes) request->debug_crc = p2p__crc32c(0, buf, bytes);
    err = p2p__start_send(request, dest, tag, false);
    if (err)
        p2p__request_free(request);
    else
        *out = request;
    return err;
}

#define SEND_CALL(called) (&(p2p_call){called, SHAPE_SEND, dest, tag, bytes, 0, 0})

p2p_err p2p_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    p2p_err err = p2p__enter(comm, SEND_CALL("p2p_send"));
    if (err) return err;
    return p2p__leave(comm, send_and_wait(comm, buf, bytes, dest, tag, false, comm->context));
}

p2p_err p2p_ssend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    p2p_err err = p2p__enter(comm, SEND_CALL("p2p_ssend"));
    if (err) return err;
    return p2p__leave(comm, send_and_wait(comm, buf, bytes, dest, tag, true, comm->context));
}

p2p_err p2p_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    p2p_err err = p2p__enter(comm, SEND_CALL("p2p_isend"));
    if (err) return err;
    return p2p__leave(comm, send_later(comm, buf, bytes, dest, tag, comm->context, request));
}

p2p_err p2p_layer_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    p2p_err err = p2p__enter(comm, SEND_CALL("p2p_layer_send"));
    if (err) return err;
    return p2p__leave(comm, send_and_wait(comm, buf, bytes, dest, tag, false, comm->context + 1));
}

p2p_err p2p_layer_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    p2p_err err = p2p__enter(comm, SEND_CALL("p2p_layer_isend"));
    if (err) return err;
    return p2p__leave(comm, send_later(comm, buf, bytes, dest, tag, comm->context + 1, request));
}
