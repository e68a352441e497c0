/* SPDX-License-Identifier: MIT */
/* Receiving: a receive takes the oldest unexpected message that matches, or waits in a list until one arrives.
 * A message that does not fit is consumed (its payload thrown away, or never sent), and the buffer is not touched. */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/copy.h"
#include "p2p/shared/crc.h"

bool p2p__accept(p2p_request receive, const wire_header *header)
{
    int source = receive->comm->comm_rank[header->source];
    if (receive->guarded) p2p__before_receive(receive);
    receive->status = (p2p_status){.source = source, .tag = header->tag, .bytes = (size_t)header->bytes};
    receive->kind_got = header->kind;
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

/* The answer to a REQUEST, or to a message that launchers have copied. */
static p2p_err clear(p2p_engine *engine, p2p_peer *peer, p2p_request receive, enum wire_flag flags)
{
    receive->packet = (p2p_packet){.header = {.type = WIRE_CLEAR,
                                              .flags = (uint8_t)flags,
                                              .context = receive->context,
                                              .bytes = flags == WIRE_FLAG_READABLE ? (uintptr_t)receive->buf : 0,
                                              .sender_id = receive->message,
                                              .receiver_id = receive->id},
                                   .owner = receive};
    return p2p__post(engine, peer, &receive->packet);
}

p2p_err p2p__answer(p2p_engine *engine, p2p_request receive, const wire_header *header)
{
    p2p_peer *peer = &engine->peers[header->source];
    bool fits = p2p__accept(receive, header), shared = header->flags & WIRE_FLAG_SHARED, read = false;
    size_t bytes = (size_t)header->bytes;
    if (fits) { /* copy it out of its sender's memory; if that cannot be, ask for it */
        const void *at = shared ? p2p__shared_bytes(engine, header->receiver_id, bytes) : NULL;
        bool readable = (header->flags & WIRE_FLAG_READABLE) && p2p__reads_memory(engine, bytes);
        bool both_wait = !receive->name && (header->flags & WIRE_FLAG_BLOCKING);
        read = (at || readable) && engine->world->read(&engine->end, &peer->link, receive->buf, header, at, both_wait);
    }
    if (fits && p2p__gave_up(engine, peer->link.rank) && !atomic_load(&engine->scoreboard->shared->failed)) {
        p2p__complete(receive, P2P_ERR_PEER_DEAD);
        return P2P_OK;
    }
    read = read && !atomic_load(&engine->scoreboard->shared->failed); /* or it may not have been that rank any more */
    if (read && (header->flags & WIRE_FLAG_CRC) && p2p__crc32c(0, receive->buf, bytes) != header->payload_crc)
        return p2p__damaged(engine, peer, header);
    if (!fits || read) return clear(engine, peer, receive, WIRE_FLAG_DROP);
    p2p__list_add(&peer->awaits_payload, receive);
    p2p__matched(receive);
    /* A launcher would write into a buffer that is watched. */
    bool reached = engine->scoreboard->may_read && !receive->guarded &&
                   p2p__launchers_copy(engine, peer->link.rank, bytes);
    return clear(engine, peer, receive, reached ? WIRE_FLAG_READABLE : 0);
}

p2p_err p2p__got_memory(p2p_engine *engine, p2p_peer *peer, p2p_request receive, const wire_header *header)
{
    if (header->flags & WIRE_FLAG_DROP) {
        atomic_store(&engine->scoreboard->rows[peer->link.rank].gave_up, header->tag);
        if (atomic_load(&engine->scoreboard->shared->failed)) /* which says why: it stays without an answer */
            p2p__list_add(&peer->awaits_payload, receive);
        else
            p2p__complete(receive, P2P_ERR_PEER_DEAD);
        return P2P_OK;
    }
    if ((header->flags & WIRE_FLAG_CRC) && p2p__crc32c(0, receive->buf, (size_t)header->bytes) != header->payload_crc)
        return p2p__damaged(engine, peer, header);
    return clear(engine, peer, receive, WIRE_FLAG_DROP);
}

void p2p__match_self(p2p_engine *engine, p2p_request receive, p2p_request send)
{
    wire_header header = {.source = (uint32_t)engine->rank,
                          .tag = send->tag,
                          .bytes = send->bytes,
                          .kind = send->packet.header.kind,
                          .sender_id = send->id,
                          .clock = send->began};
    bool fits = p2p__accept(receive, &header);
    if (fits && send->bytes) memmove(receive->buf, send->buf, send->bytes);
    p2p__complete(send, P2P_OK);
    p2p__complete(receive, receive->err);
}

p2p_err p2p__receive_found(p2p_request receive, p2p_unexpected *message)
{
    p2p_engine *engine = receive->comm->engine;
    const wire_header *header = &message->header;
    p2p_err err = P2P_OK;
    if (message->generation != engine->scoreboard->generation.number) { /* taken (p2p_take) before p2p_repair */
        free(message);
        return p2p__fail(receive->comm, CAUSE_OF_EARLIER_GENERATION, "message");
    }
    if (header->type == WIRE_EAGER && !message->complete) { /* the rest is arriving: p2p__delivered comes back to it */
        message->claimed = receive;
        if (p2p__accept(receive, header)) p2p__matched(receive);
        return P2P_OK;
    }
    if (header->type == WIRE_EAGER) {
        if (p2p__accept(receive, header) && header->bytes)
            p2p__copy(receive->buf, message->data, (size_t)header->bytes);
        p2p__complete(receive, receive->err);
        err = p2p__consumed(engine, &engine->peers[header->source], (size_t)p2p__eager_cost((size_t)header->bytes));
    } else if (message->sender) {
        p2p__match_self(engine, receive, message->sender);
    } else {
        err = p2p__answer(engine, receive, header);
    }
    free(message);
    return err;
}

p2p_err p2p__start_recv(p2p_request receive, int source, int tag)
{
    p2p_comm *comm = receive->comm;
    p2p_engine *engine = comm->engine;
    receive->peer = source == P2P_ANY_SOURCE ? P2P_ANY_SOURCE : comm->world_rank[source];
    receive->tag = tag;
    receive->id = engine->next_id++;
    if (engine->choices) p2p__choice_acts(engine);
    TRACE(engine, p2p__trace_expects(receive));

    p2p_unexpected *message = p2p__match_unexpected(engine, receive->context, receive->peer, tag);
    if (!message) {
        bool any = receive->peer < 0;
        if (!any && engine->peers[receive->peer].unreachable)
            return p2p__unreachable_error(comm, &engine->peers[receive->peer]);
        p2p__list_add(any ? &engine->posted_any : &engine->peers[receive->peer].posted, receive);
        receive->posted = true;
        if (any && engine->choices) receive->choice = p2p__choice_number(engine);
        return P2P_OK;
    }
    p2p__unexpected_remove(engine, message);
    return p2p__receive_found(receive, message);
}
