/* SPDX-License-Identifier: MIT */
/*
 * Receiving: a receive takes the oldest unexpected message that matches, or waits in a list until one arrives.
 * A message that does not fit is consumed (its payload thrown away, or never sent), and the buffer is not touched.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/crc.h"

bool p2p__accept(p2p_request receive, const wire_header *header)
{
    int source = receive->comm->comm_rank[header->source];
    receive->status = (p2p_status){.source = source, .tag = header->tag, .bytes = (size_t)header->bytes};
    bool fits = header->bytes <= receive->bytes;
    receive->err = fits ? P2P_OK : P2P_ERR_TRUNCATE;
    receive->peer = (int)header->source;
    receive->began = header->clock;
    receive->message = header->sender_id;
    return fits;
}

p2p_err p2p__consumed(p2p_engine *engine, p2p_peer *peer, size_t bytes)
{
    if (bytes && peer->link.rank == engine->rank) {
        peer->credit += bytes;
        return P2P_OK;
    }
    peer->owed += bytes;
    if (peer->credit_busy || peer->owed < engine->share / 4 || !peer->owed) return P2P_OK;
    peer->credit_busy = true;
    peer->credit_packet = (p2p_packet){.header = {.type = WIRE_CREDIT, .bytes = peer->owed}};
    peer->owed = 0;
    return p2p__post(engine, peer, &peer->credit_packet);
}

p2p_err p2p__answer(p2p_engine *engine, p2p_request receive, const wire_header *header)
{
    p2p_peer *peer = &engine->peers[header->source];
    bool fits = p2p__accept(receive, header), shared = header->flags & WIRE_FLAG_SHARED, read = false;
    size_t bytes = (size_t)header->bytes;
    if (fits) { /* copy it out of its sender's memory; if that cannot be, ask for it */
        const void *at = shared ? p2p__shared_bytes(engine, header->receiver_id, bytes) : NULL;
        bool readable = (header->flags & WIRE_FLAG_READABLE) && p2p__reads_memory(engine, bytes);
        read = (at || readable) && engine->world->read(&engine->end, &peer->link, receive->buf, header, at);
    }
    if (fits && p2p__gave_up(engine, peer->link.rank) && !atomic_load(&engine->scoreboard->shared->failed)) {
        p2p__complete(receive, P2P_ERR_PEER_DEAD);
        return P2P_OK;
    }
    read = read && !atomic_load(&engine->scoreboard->shared->failed); /* or it may not have been that rank any more */
    if (read && (header->flags & WIRE_FLAG_CRC) && p2p__crc32c(0, receive->buf, bytes) != header->payload_crc)
        return p2p__damaged(engine, peer, header);
    receive->packet = (p2p_packet){.header = {.type = WIRE_CLEAR,
                                              .flags = fits && !read ? 0 : WIRE_FLAG_DROP,
                                              .context = header->context,
                                              .sender_id = header->sender_id,
                                              .receiver_id = receive->id},
                                   .owner = receive};
    if (fits && !read) p2p__list_add(&peer->awaits_payload, receive, LIST_AWAITS_PAYLOAD);
    return p2p__post(engine, peer, &receive->packet);
}

void p2p__match_self(p2p_engine *engine, p2p_request receive, p2p_request send)
{
    wire_header header = {.source = (uint32_t)engine->rank,
                          .tag = send->tag,
                          .bytes = send->bytes,
                          .sender_id = send->id,
                          .clock = send->began};
    bool fits = p2p__accept(receive, &header);
    if (fits && send->bytes) memmove(receive->buf, send->buf, send->bytes);
    p2p__complete(send, P2P_OK);
    p2p__complete(receive, receive->err);
}

/* Take a message that is here already, all of it or its beginning. */
static p2p_err take(p2p_engine *engine, p2p_request receive, p2p_unexpected *message)
{
    if (!message->complete) { /* the rest is still arriving: p2p__delivered comes back to it */
        message->claimed = receive;
        p2p__accept(receive, &message->header);
        return P2P_OK;
    }
    if (p2p__accept(receive, &message->header) && message->header.bytes)
        memcpy(receive->buf, message->data, (size_t)message->header.bytes);
    p2p_peer *peer = &engine->peers[message->header.source];
    size_t cost = (size_t)p2p__eager_cost((size_t)message->header.bytes);
    free(message);
    p2p__complete(receive, receive->err);
    return p2p__consumed(engine, peer, cost);
}

p2p_err p2p__start_recv(p2p_request receive, int source, int tag)
{
    p2p_comm *comm = receive->comm;
    p2p_engine *engine = comm->engine;
    receive->peer = source == P2P_ANY_SOURCE ? P2P_ANY_SOURCE : comm->world_rank[source];
    receive->tag = tag;
    receive->id = engine->next_id++;
    TRACE(engine, p2p__trace_expects(receive));

    p2p_unexpected *message = p2p__match_unexpected(engine, receive->context, receive->peer, tag);
    if (!message) {
        bool any = receive->peer < 0;
        if (!any && engine->peers[receive->peer].unreachable)
            return p2p__unreachable_error(comm, &engine->peers[receive->peer]);
        p2p__list_add(any ? &engine->posted_any : &engine->peers[receive->peer].posted, receive, LIST_POSTED);
        return P2P_OK;
    }
    p2p__unexpected_remove(engine, message);
    if (message->header.type == WIRE_EAGER) return take(engine, receive, message);

    p2p_err err = P2P_OK;
    if (message->sender)
        p2p__match_self(engine, receive, message->sender);
    else
        err = p2p__answer(engine, receive, &message->header);
    free(message);
    return err;
}

/* ---- Public calls; those of the layer have a context of their own ---- */

static p2p_err blocking(p2p_comm *comm, const p2p_call *call, void *buf, p2p_status *status, bool layer)
{
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    uint32_t context = comm->context + layer;
    err = p2p__check_message(comm, true, buf, call->bytes, call->peer, call->tag);
    if (err) return p2p__leave(comm, err);
    if (p2p__fast_recv(comm, buf, call->bytes, call->peer, call->tag, context, status)) return p2p__leave(comm, P2P_OK);
    struct p2p_operation request;
    p2p__request_init(&request, REQUEST_RECV, comm, context, buf, call->bytes);
    err = p2p__start_recv(&request, call->peer, call->tag);
    return p2p__leave(comm, err ? err : p2p__finish_stacked(comm, &request, status));
}

static p2p_err nonblocking(p2p_comm *comm, const p2p_call *call, void *buf, bool layer, p2p_request *out)
{
    p2p_request request = NULL;
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    if (!out) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_RECEIVE));
    err = p2p__check_message(comm, true, buf, call->bytes, call->peer, call->tag);
    if (!err) err = p2p__request_new(comm, REQUEST_RECV, comm->context + layer, buf, call->bytes, &request);
    if (err) return p2p__leave(comm, err);
    err = p2p__start_recv(request, call->peer, call->tag);
    if (err)
        p2p__request_free(request);
    else
        *out = request;
    return p2p__leave(comm, err);
}

#define RECV_CALL(called) (&(p2p_call){called, SHAPE_RECV, source, tag, bytes, 0, 0})

p2p_err p2p_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    return blocking(comm, RECV_CALL("p2p_recv"), buf, status, false);
}

p2p_err p2p_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    return nonblocking(comm, RECV_CALL("p2p_irecv"), buf, false, request);
}

p2p_err p2p_layer_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    return blocking(comm, RECV_CALL("p2p_layer_recv"), buf, status, true);
}

p2p_err p2p_layer_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    return nonblocking(comm, RECV_CALL("p2p_layer_irecv"), buf, true, request);
}
