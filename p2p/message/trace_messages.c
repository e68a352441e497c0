/* SPDX-License-Identifier: MIT */
/* Tracing, in the rank: messages, which part of a buffer they carry, and what collectives do beside them. */
#include "p2p/message/trace_rank.h"

void p2p_layer_parts(p2p_comm *comm, const p2p_part *out, const p2p_part *in)
{
    if (!p2p_layer_is_traced(comm)) return;
    p2p_trace *trace = comm->engine->trace;
    if (out) trace->out = *out, trace->has_out = true;
    if (in) trace->in = *in, trace->has_in = true;
}

void p2p_layer_watch(p2p_comm *comm, const void *buf, size_t bytes)
{
    if (!p2p_layer_is_traced(comm)) return;
    comm->engine->trace->watched = buf;
    comm->engine->trace->watched_bytes = bytes;
}

/* Without being told: where the bytes lie in the buffer that is watched. */
static bool part_of_watched(const p2p_trace *trace, const void *buf, size_t bytes, p2p_part *part)
{
    uintptr_t at = (uintptr_t)buf, start = (uintptr_t)trace->watched;
    if (!start || at < start || at - start >= trace->watched_bytes || bytes > trace->watched_bytes - (at - start))
        return false;
    *part = (p2p_part){.chunk = -1, .offset = at - start};
    return true;
}

static void set_part(trace_event *event, bool known, const p2p_part *part)
{
    event->chunk = known ? part->chunk : -1;
    if (!known) return;
    event->offset = part->offset;
    event->flags |= (uint8_t)(TRACE_HAS_PART | (part->combined ? TRACE_COMBINED : 0));
}

void p2p__trace_sends(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    p2p_trace *trace = engine->trace;
    bool known = trace->has_out || part_of_watched(trace, request->buf, request->bytes, &trace->out);
    trace_event event = p2p__trace_make(engine, TRACE_SENT, request->context);
    event.peer = request->peer;
    event.tag = request->tag;
    event.bytes = request->bytes;
    event.id = request->id;
    event.start = event.end = trace->posted;
    if (engine->config.network.on) event.end = request->ends;
    set_part(&event, known, &trace->out);
    trace->has_out = false;
    p2p__trace_add(trace, &event);
}

void p2p__trace_expects(p2p_request request)
{
    p2p_trace *trace = request->comm->engine->trace;
    request->has_part = trace->has_in || part_of_watched(trace, request->buf, request->bytes, &trace->in);
    request->part = trace->in;
    trace->has_in = false;
}

void p2p__trace_receives(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    p2p_trace *trace = engine->trace;
    trace_event event = p2p__trace_make(engine, TRACE_RECEIVED, request->context);
    event.peer = request->peer;
    event.tag = request->status.tag;
    event.bytes = request->status.bytes;
    event.id = request->message;
    set_part(&event, request->has_part, &request->part);
    trace->received = request->part;
    trace->has_received = request->has_part;
    trace_event *kept = p2p__trace_add(trace, &event);
    trace->arrived = request->has_part ? NULL : kept;
    trace->arrived_at = request->buf;
    trace->arrived_bytes = request->status.bytes;
}

/* The one of the two operands that lies in what came last was received; the other one is the buffer's own. */
void p2p_layer_combined(p2p_comm *comm, const void *one, const void *other, size_t bytes)
{
    if (!p2p_layer_is_traced(comm)) return;
    p2p_trace *trace = comm->engine->trace;
    uintptr_t start = (uintptr_t)trace->arrived_at;
    const void *watched = (uintptr_t)other - start < trace->arrived_bytes ? one
                          : (uintptr_t)one - start < trace->arrived_bytes ? other
                                                                          : NULL;
    p2p_part part;
    if (!trace->arrived || !watched || !part_of_watched(trace, watched, bytes, &part)) return;
    part.combined = true;
    set_part(trace->arrived, true, &part);
    trace->arrived = NULL;
}

/* It is taken to have left when the call began: from then on it may be read. Both sides count what moves between them,
 * in the same order, so both know its number. */
void p2p__trace_moved(p2p_comm *comm, int peer, size_t sent, size_t received)
{
    p2p_engine *engine = comm->engine;
    p2p_trace *trace = engine->trace;
    const trace_event *call = p2p__trace_top(trace);
    int rank = comm->world_rank[peer];
    uint32_t moved = engine->peers[rank].moved++;
    trace_event out = p2p__trace_make(engine, TRACE_SENT, comm->context + 1),
                in = p2p__trace_make(engine, TRACE_RECEIVED, comm->context + 1);
    out.peer = in.peer = rank;
    out.bytes = sent, in.bytes = received;
    uint64_t number = UINT64_C(1) << 31 | (moved & ((1u << 21) - 1));
    out.id = number | (uint64_t)rank << 21, in.id = number | (uint64_t)engine->rank << 21; /* by its reader */
    out.chunk = in.chunk = -1;
    if (call) out.start = call->start;
    if (sent != P2P_LAYER_NOTHING) p2p__trace_add(trace, &out);
    if (received != P2P_LAYER_NOTHING) p2p__trace_add(trace, &in);
}

void p2p__trace_background(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    trace_event event = p2p__trace_make(engine, TRACE_BACKGROUND, request->comm->context);
    event.start = request->began;
    event.flags = TRACE_IN_STEP;
    event.order = request->order;
    event.depth = 0;
    if (engine->config.network.on) event.end = request->clock.now;
    event.number = (uint32_t)request->layer_number;
    event.name = p2p__text_place(&engine->trace->texts, request->name);
    event.file = p2p__text_place(&engine->trace->texts, request->file);
    event.line = request->line;
    p2p__trace_add(engine->trace, &event);
}

/* Combining began when this rank last did something that was noted. */
void p2p__trace_compute(p2p_comm *comm, size_t bytes, uint64_t virtual_start, const char *file, int line)
{
    p2p_engine *engine = comm->engine;
    p2p_trace *trace = engine->trace;
    trace_event event = p2p__trace_make(engine, TRACE_COMPUTE, comm->context);
    event.start = engine->config.network.on ? virtual_start : trace->last;
    event.name = p2p__text_place(&trace->texts, "combine");
    event.bytes = bytes;
    event.file = p2p__text_place(&trace->texts, file);
    event.line = line;
    set_part(&event, trace->has_received, &trace->received);
    p2p__trace_add(trace, &event);
}

void p2p__trace_stats(const p2p_comm *comm)
{
    for (int i = 0; i < comm->size; i++) {
        const p2p_traffic *t = &comm->traffic[i];
        if (!t->messages_sent && !t->messages_received) continue;
        trace_event event = p2p__trace_make(comm->engine, TRACE_STATS, comm->context);
        event.peer = comm->world_rank[i];
        event.bytes = t->bytes_sent;
        event.polls = (uint32_t)t->messages_sent;
        event.id = t->bytes_received;
        event.offset = t->messages_received;
        p2p__trace_add(comm->engine->trace, &event);
    }
}
