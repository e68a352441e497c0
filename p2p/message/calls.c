/* SPDX-License-Identifier: MIT */
/*
 * The calls that send and receive. Those of the layer have a context of their own.
 *
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
#include "p2p/message/trace_rank.h"
#include "p2p/shared/copy.h"

static bool fast_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, uint32_t context)
{
    p2p_engine *engine = comm->engine;
    p2p_peer *peer = &engine->peers[comm->world_rank[dest]];
    if (!engine->fast_path || peer->unreachable ||
        !p2p__may_be_buffered(engine, peer, bytes, context != comm->context) ||
        !engine->world->send_now(&engine->end, &peer->link, &(p2p_short){context, tag, bytes, buf, engine->kind}))
        return false;
    peer->credit -= p2p__eager_cost(bytes);
    p2p__count_sent(comm, dest, bytes);
    return true;
}

static bool fast_recv(p2p_comm *comm, void *buf, size_t room, int source, int tag, uint32_t context, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    if (!engine->fast_path || source == P2P_ANY_SOURCE || engine->posted_any.head || engine->layers.head) return false;
    p2p_peer *peer = &engine->peers[comm->world_rank[source]];
    if (peer->unexpected || peer->posted.head) return false;

    bool spins = engine->spin.now > 0; /* with a core of its own: the message is often here within a microsecond */
    p2p_backoff backoff = p2p__backoff_short(spins ? RECEIVE_POLLS : 1, spins ? RECEIVE_SPIN_NS : 0);
    bool came = engine->world->is_waiting(&engine->end, &peer->link);
    bool shown = !came && spins && engine->shows_receives && tag != P2P_ANY_TAG &&
                 engine->world->show(&engine->end, &peer->link, &(p2p_shown){context, tag, buf, room});
    while (!came && p2p__backoff_goes_on(&engine->spin, &backoff))
        came = engine->world->is_waiting(&engine->end, &peer->link);
    if (shown) came = engine->world->hide(&engine->end, &peer->link);
    if (!came) return false;

    p2p_short message;
    if (!engine->world->look(&engine->end, &peer->link, &message) || message.context != context ||
        !p2p__tag_matches(tag, message.tag) || message.bytes > room)
        return false;
    if (message.bytes && message.payload) p2p__copy(buf, message.payload, message.bytes);
    p2p__frame_received(engine, peer);
    engine->world->take(&engine->end, &peer->link);
    p2p__consumed(engine, peer, p2p__eager_cost(message.bytes));
    p2p__count_received(comm, source, message.bytes);
    engine->kind_got = message.kind;
    if (status) *status = (p2p_status){.source = source, .tag = message.tag, .bytes = message.bytes};
    return true;
}

/* ---- Blocking ---- */

static p2p_err send_blocking(p2p_comm *comm, const p2p_call *call, const void *buf, bool wait_for_match, bool layer)
{
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    uint32_t context = comm->context + layer;
    err = p2p__check_message(comm, false, buf, call->bytes, call->peer, call->tag);
    if (!err && comm->engine->guards && comm->engine->requests && !layer)
        err = p2p__check_buffer(comm, buf, call->bytes, false);
    if (err) return p2p__leave(comm, err);
    if (comm->engine->config.reports && !layer) p2p__note_send(comm, call->peer, call->tag, call->bytes);
    if (!wait_for_match && fast_send(comm, buf, call->bytes, call->peer, call->tag, context))
        return p2p__leave(comm, P2P_OK);
    struct p2p_operation send;
    p2p__request_init(&send, REQUEST_SEND, comm, context, (void *)(uintptr_t)buf, call->bytes);
    err = p2p__start_send(&send, call->peer, call->tag, wait_for_match);
    return p2p__leave(comm, err ? err : p2p__finish_stacked(comm, (p2p_request[]){&send}, 1, NULL));
}

static p2p_err recv_blocking(p2p_comm *comm, const p2p_call *call, void *buf, p2p_status *status, bool layer)
{
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    uint32_t context = comm->context + layer;
    err = p2p__check_message(comm, true, buf, call->bytes, call->peer, call->tag);
    if (!err && comm->engine->guards && comm->engine->requests && !layer)
        err = p2p__check_buffer(comm, buf, call->bytes, true);
    if (err) return p2p__leave(comm, err);
    if (fast_recv(comm, buf, call->bytes, call->peer, call->tag, context, status)) return p2p__leave(comm, P2P_OK);
    struct p2p_operation receive;
    p2p__request_init(&receive, REQUEST_RECV, comm, context, buf, call->bytes);
    err = p2p__start_recv(&receive, call->peer, call->tag);
    return p2p__leave(comm, err ? err : p2p__finish_stacked(comm, (p2p_request[]){&receive}, 1, status));
}

/* A receive and a send at once: both are posted before either is waited for, so mirror images never deadlock. Both live
 * on this frame: after an error no list may point to them. */
static p2p_err exchange(p2p_comm *comm, const p2p_call *call, const void *sendbuf, void *recvbuf, size_t recvbytes,
                        p2p_status *status, bool layer)
{
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    err = p2p__check_message(comm, false, sendbuf, call->bytes, call->peer, call->tag);
    if (!err) err = p2p__check_message(comm, true, recvbuf, recvbytes, call->from, call->from_tag);
    uintptr_t from = (uintptr_t)sendbuf, to = (uintptr_t)recvbuf;
    bool overlap = call->bytes && recvbytes && from < to + recvbytes && to < from + call->bytes;
    if (!err && overlap) err = p2p__fail(comm, CAUSE_OVERLAP);
    if (err) return p2p__leave(comm, err);
    struct p2p_operation send, receive;
    uint32_t context = comm->context + layer;
    p2p__request_init(&send, REQUEST_SEND, comm, context, (void *)(uintptr_t)sendbuf, call->bytes);
    p2p__request_init(&receive, REQUEST_RECV, comm, context, recvbuf, recvbytes);
    err = p2p__start_recv(&receive, call->from, call->from_tag);
    if (err) return p2p__leave(comm, err);
    if (comm->engine->config.reports && !layer) p2p__note_send(comm, call->peer, call->tag, call->bytes);
    err = p2p__start_send(&send, call->peer, call->tag, false);
    if (!err)
        err = p2p__finish_stacked(comm, (p2p_request[]){&send, &receive}, 2, status);
    else if (!p2p__take_back(&receive))
        p2p__poison(comm, err);
    return p2p__leave(comm, err);
}

#define SEND_CALL(called) (&(p2p_call){called, SHAPE_SEND, dest, tag, bytes, 0, 0, 0, 0})
#define RECV_CALL(called) (&(p2p_call){called, SHAPE_RECV, source, tag, bytes, 0, 0, 0, 0})
#define SENDRECV_CALL(called) (&(p2p_call){called, SHAPE_SENDRECV, dest, sendtag, sendbytes, source, recvtag, 0, 0})

p2p_err p2p_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    return send_blocking(comm, SEND_CALL("p2p_send"), buf, false, false);
}

p2p_err p2p_ssend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    return send_blocking(comm, SEND_CALL("p2p_ssend"), buf, true, false);
}

p2p_err p2p_layer_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag)
{
    return send_blocking(comm, SEND_CALL("p2p_layer_send"), buf, false, true);
}

p2p_err p2p_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    return recv_blocking(comm, RECV_CALL("p2p_recv"), buf, status, false);
}

p2p_err p2p_layer_recv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_status *status)
{
    return recv_blocking(comm, RECV_CALL("p2p_layer_recv"), buf, status, true);
}

p2p_err p2p_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                     size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    return exchange(comm, SENDRECV_CALL("p2p_sendrecv"), sendbuf, recvbuf, recvbytes, status, false);
}

p2p_err p2p_layer_sendrecv(p2p_comm *comm, const void *sendbuf, size_t sendbytes, int dest, int sendtag, void *recvbuf,
                           size_t recvbytes, int source, int recvtag, p2p_status *status)
{
    return exchange(comm, SENDRECV_CALL("p2p_layer_sendrecv"), sendbuf, recvbuf, recvbytes, status, true);
}

/* ---- As a call of a library's: it begins and ends with the message ---- */

static void open_call(p2p_engine *engine, const p2p_layer_call *as)
{
    if (!engine || engine->depth) return; /* from a function of the program's, inside of another call */
    engine->kind = engine->kind_expected = as->kind;
    engine->guards = as->guards;
}

static p2p_err close_call(p2p_engine *engine, p2p_err err)
{
    if (!engine || engine->depth) return err;
    if (engine->fresh) p2p__sum_fresh(engine);
    engine->kind = engine->kind_expected = 0;
    engine->guards = false;
    return err;
}

p2p_err p2p_layer_send_as(p2p_comm *comm, const p2p_layer_call *as, const void *buf, bool wait_for_match)
{
    p2p_engine *engine = comm->engine;
    open_call(engine, as);
    return close_call(engine, send_blocking(comm, as, buf, wait_for_match, false));
}

p2p_err p2p_layer_recv_as(p2p_comm *comm, const p2p_layer_call *as, void *buf, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    open_call(engine, as);
    return close_call(engine, recv_blocking(comm, as, buf, status, false));
}

/* ---- Non-blocking ---- */

static p2p_err begin(p2p_comm *comm, const p2p_call *call, void *buf, bool wait_for_match, bool layer, p2p_request *out)
{
    bool sends = call->shape == SHAPE_SEND;
    p2p_request request = NULL;
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    if (!out) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_MESSAGE, sends ? "send" : "receive"));
    err = p2p__check_message(comm, !sends, buf, call->bytes, call->peer, call->tag);
    if (!err && comm->engine->guards && comm->engine->requests && !layer)
        err = p2p__check_buffer(comm, buf, call->bytes, !sends);
    if (!err)
        err = p2p__request_new(comm, sends ? REQUEST_SEND : REQUEST_RECV, comm->context + layer, buf, call->bytes,
                               &request);
    if (err) return p2p__leave(comm, err);
    p2p__guard(request, comm->engine->guards && !layer);
    if (sends && comm->engine->config.reports && !layer) p2p__note_send(comm, call->peer, call->tag, call->bytes);
    err = sends ? p2p__start_send(request, call->peer, call->tag, wait_for_match)
                : p2p__start_recv(request, call->peer, call->tag);
    if (err)
        p2p__request_free(request);
    else
        *out = request;
    return p2p__leave(comm, err);
}

p2p_err p2p_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    return begin(comm, SEND_CALL("p2p_isend"), (void *)(uintptr_t)buf, false, false, request);
}

p2p_err p2p_issend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    return begin(comm, SEND_CALL("p2p_issend"), (void *)(uintptr_t)buf, true, false, request);
}

p2p_err p2p_layer_isend(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, p2p_request *request)
{
    return begin(comm, SEND_CALL("p2p_layer_isend"), (void *)(uintptr_t)buf, false, true, request);
}

p2p_err p2p_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    return begin(comm, RECV_CALL("p2p_irecv"), buf, false, false, request);
}

p2p_err p2p_layer_irecv(p2p_comm *comm, void *buf, size_t bytes, int source, int tag, p2p_request *request)
{
    return begin(comm, RECV_CALL("p2p_layer_irecv"), buf, false, true, request);
}

p2p_err p2p_layer_begin_as(p2p_comm *comm, const p2p_layer_call *as, void *buf, bool wait_for_match,
                           p2p_request *request)
{
    p2p_engine *engine = comm->engine;
    open_call(engine, as);
    return close_call(engine, begin(comm, as, buf, wait_for_match, false, request));
}

/* ---- Of a message that p2p_take has taken: it waits here, and may still be arriving ---- */

static p2p_err check_taken(p2p_comm *comm, const void *buf, size_t bytes, const p2p_message *message)
{
    if (!message || !*message) {
        p2p__fail(comm, CAUSE_NO_MESSAGE);
        return P2P_ERR_ARG;
    }
    return !buf && bytes ? p2p__fail(comm, CAUSE_NO_BUFFER, bytes) : P2P_OK;
}

static p2p_err receive_taken(p2p_request receive, p2p_message *message)
{
    p2p_unexpected *taken = *message;
    *message = NULL;
    receive->peer = (int)taken->header.source;
    receive->tag = taken->header.tag;
    receive->id = receive->comm->engine->next_id++;
    TRACE(receive->comm->engine, p2p__trace_expects(receive));
    return p2p__receive_found(receive, taken);
}

p2p_err p2p_recv_taken(p2p_comm *comm, void *buf, size_t bytes, p2p_message *message, p2p_status *status)
{
    struct p2p_operation receive;
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_recv_taken", SHAPE_PLAIN, 0, 0, bytes, 0, 0, 0, 0});
    if (err) return err;
    err = check_taken(comm, buf, bytes, message);
    if (err) return p2p__leave(comm, err);
    p2p__request_init(&receive, REQUEST_RECV, comm, comm->context, buf, bytes);
    err = receive_taken(&receive, message);
    return p2p__leave(comm, err ? err : p2p__finish_stacked(comm, (p2p_request[]){&receive}, 1, status));
}

p2p_err p2p_irecv_taken(p2p_comm *comm, void *buf, size_t bytes, p2p_message *message, p2p_request *out)
{
    p2p_request request = NULL;
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_irecv_taken", SHAPE_PLAIN, 0, 0, bytes, 0, 0, 0, 0});
    if (err) return err;
    if (!out) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_MESSAGE, "receive"));
    err = check_taken(comm, buf, bytes, message);
    if (!err) err = p2p__request_new(comm, REQUEST_RECV, comm->context, buf, bytes, &request);
    if (err) return p2p__leave(comm, err);
    err = receive_taken(request, message);
    if (err)
        p2p__request_free(request);
    else
        *out = request;
    return p2p__leave(comm, err);
}
