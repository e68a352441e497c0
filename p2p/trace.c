/* SPDX-License-Identifier: MIT */
/*
 * Tracing, in the rank. A call is kept open, in shared memory, from p2p__enter to p2p__leave, and is an event then; so
 * the calls of a rank that dies or waits for ever can be read from outside. A message is two events, one on each side,
 * which name it by its sender and the sender's number for it.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/init.h"
#include "p2p/trace_rank.h"

enum { NAMES = 256, PROBES = 8, LONGEST = 240, LEAST_EVENTS = 64 };

struct p2p_trace {
    trace_rank *shared;
    uint64_t room, reserve; /* the reserve is for what p2p_stats says at the end */
    uint32_t order, number; /* of the outermost collective under way; 0: none */
    uint64_t last;          /* when something was last noted */
    uint64_t posted;        /* when the send that is being posted began */
    p2p_request step;
    bool has_out, has_in, has_received; /* what the next messages carry, and what the last one did */
    p2p_part out, in, received;
    const char *watched; /* p2p_layer_watch */
    size_t watched_bytes;
    trace_event nowhere; /* for calls deeper than anybody calls: not kept */
    struct {
        const char *text;
        uint16_t place;
    } names[NAMES];
};

/* ---- Where it lies ---- */

uint64_t p2p__trace_room(int size, const p2p_config *config)
{
    size_t each = config->trace_room / (size_t)size;
    size_t events = each > sizeof(trace_rank) ? (each - sizeof(trace_rank)) / sizeof(trace_event) : 0;
    return events < LEAST_EVENTS ? LEAST_EVENTS : events;
}

size_t p2p__trace_rank_bytes(int size, const p2p_config *config)
{
    if (!config->trace_room) return 0;
    uint64_t events = p2p__trace_room(size, config) + (uint64_t)size;
    return (sizeof(trace_rank) + (size_t)events * sizeof(trace_event) + 4095) / 4096 * 4096;
}

size_t p2p__trace_bytes(int size, const p2p_config *config)
{
    return (size_t)size * p2p__trace_rank_bytes(size, config);
}

trace_rank *p2p__trace_of(void *blocks, int size, const p2p_config *config, int rank)
{
    return (trace_rank *)(void *)((char *)blocks + (size_t)rank * p2p__trace_rank_bytes(size, config));
}

p2p_trace *p2p__trace_create(p2p_engine *engine)
{
    if (!engine->config.trace_room) return NULL;
    p2p_trace *trace = calloc(1, sizeof *trace);
    if (!trace) return NULL;
    trace->shared = p2p__trace_of(p2p__board_trace(engine->board), engine->size, &engine->config, engine->rank);
    trace->room = p2p__trace_room(engine->size, &engine->config);
    trace->reserve = (uint64_t)engine->size;
    trace->shared->pool_used = 1;
    return trace;
}

uint64_t p2p__trace_clock(const p2p_engine *engine)
{
    return engine->config.network.on ? engine->clock->now : p2p__now();
}

/* ---- Texts ---- */

/* The place of a text in the pool, which may have come there by another pointer; 0 if there is no room. */
static uint16_t find_or_add(trace_rank *shared, const char *text)
{
    size_t length = strlen(text);
    if (length > LONGEST) text += length - LONGEST, length = LONGEST;
    for (uint32_t at = 1; at < shared->pool_used; at += (uint32_t)strlen(shared->pool + at) + 1)
        if (strcmp(shared->pool + at, text) == 0) return (uint16_t)at;
    if (shared->pool_used + length + 1 > sizeof shared->pool) return 0;
    uint32_t place = shared->pool_used;
    memcpy(shared->pool + place, text, length + 1);
    shared->pool_used += (uint32_t)length + 1;
    return (uint16_t)place;
}

/* Names are literals, so that the pointer tells which one it is. */
static uint16_t place_of(p2p_trace *trace, const char *text)
{
    if (!text || !*text) return 0;
    size_t slot = ((uintptr_t)text >> 2) % NAMES;
    for (size_t i = 0; i < PROBES && trace->names[slot].text; i++, slot = (slot + 1) % NAMES)
        if (trace->names[slot].text == text) return trace->names[slot].place;
    uint16_t place = find_or_add(trace->shared, text);
    trace->names[slot].text = text;
    trace->names[slot].place = place;
    return place;
}

/* ---- Events ---- */

static void add(p2p_trace *trace, const trace_event *event)
{
    trace_rank *shared = trace->shared;
    uint64_t count = atomic_load_explicit(&shared->count, memory_order_relaxed);
    trace->last = event->end;
    if (count >= trace->room + (event->kind == TRACE_STATS ? trace->reserve : 0)) {
        atomic_fetch_add_explicit(&shared->dropped, 1, memory_order_relaxed);
        return;
    }
    shared->events[count] = *event;
    atomic_store_explicit(&shared->count, count + 1, memory_order_release);
}

static uint32_t open_count(const p2p_trace *trace)
{
    return atomic_load_explicit(&trace->shared->open_count, memory_order_relaxed);
}

static trace_event *top(p2p_trace *trace)
{
    uint32_t count = open_count(trace);
    return count && count <= TRACE_OPEN ? &trace->shared->open[count - 1] : NULL;
}

static uint32_t number_now(const p2p_trace *trace)
{
    return trace->step ? (uint32_t)trace->step->layer_number : trace->number;
}

/* An event of now. */
static trace_event make(p2p_engine *engine, enum trace_kind kind)
{
    p2p_trace *trace = engine->trace;
    uint64_t now = p2p__trace_clock(engine);
    return (trace_event){.kind = (uint8_t)kind,
                         .flags = trace->step ? TRACE_IN_STEP : 0,
                         .start = now,
                         .end = now,
                         .order = trace->order++,
                         .depth = (uint8_t)(open_count(trace) < UINT8_MAX ? open_count(trace) : UINT8_MAX),
                         .number = number_now(trace)};
}

static trace_event *open_event(p2p_engine *engine, enum trace_kind kind, const char *name)
{
    p2p_trace *trace = engine->trace;
    uint32_t count = open_count(trace);
    trace_event *event = count < TRACE_OPEN ? &trace->shared->open[count] : &trace->nowhere;
    *event = make(engine, kind);
    event->name = place_of(trace, name);
    trace->last = event->start;
    atomic_store_explicit(&trace->shared->open_count, count + 1, memory_order_release);
    return event;
}

/* Looks that find nothing, one after the other on one line, are one event. */
static bool joins_last(p2p_trace *trace, const trace_event *event)
{
    uint64_t count = atomic_load_explicit(&trace->shared->count, memory_order_relaxed);
    if (!count || !(event->flags & TRACE_POLLED)) return false;
    trace_event *last = &trace->shared->events[count - 1];
    if (!(last->flags & TRACE_POLLED) || last->name != event->name || last->file != event->file ||
        last->line != event->line)
        return false;
    last->end = event->end;
    last->polls++;
    return true;
}

/* Returns the kind of what has ended. */
static int close_top(p2p_engine *engine, uint8_t flags)
{
    p2p_trace *trace = engine->trace;
    trace_event *open = top(trace);
    uint32_t count = open_count(trace);
    int kind = TRACE_CALL;
    if (open) {
        open->end = p2p__trace_clock(engine);
        open->flags |= flags;
        if (flags & TRACE_POLLED) open->polls = 1;
        kind = open->kind;
        bool empty_wait = kind == TRACE_WAIT && open->end == open->start;
        if (!empty_wait && !joins_last(trace, open)) add(trace, open);
    }
    if (count) atomic_store_explicit(&trace->shared->open_count, count - 1, memory_order_release);
    return kind;
}

/* ---- Calls ---- */

static bool is_traced(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->trace;
}

void p2p__trace_call(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line)
{
    trace_event *event = open_event(engine, TRACE_CALL, call->name);
    bool to = call->shape == SHAPE_SEND || call->shape == SHAPE_SENDRECV, from = call->shape == SHAPE_RECV;
    event->context = comm->context;
    event->bytes = call->bytes;
    event->peer = call->peer >= 0 && call->peer < comm->size ? comm->world_rank[call->peer] : call->peer;
    event->tag = call->tag;
    event->file = place_of(engine->trace, file);
    event->line = line;
    if (to || from) event->flags |= TRACE_HAS_PEER;
    if (call->shape == SHAPE_WAIT) event->flags |= TRACE_COMBINED; /* of a call: bytes are requests */
    if (call->shape != SHAPE_SENDRECV) return;
    event->flags |= TRACE_HAS_SOURCE;
    event->from = call->from >= 0 && call->from < comm->size ? comm->world_rank[call->from] : call->from;
    event->from_tag = call->from_tag;
}

void p2p__trace_end(p2p_engine *engine, p2p_err err)
{
    p2p_trace *trace = engine->trace;
    uint8_t flags = (uint8_t)((err ? TRACE_FAILED : 0) | (engine->polled ? TRACE_POLLED : 0));
    while (close_top(engine, flags) == TRACE_PHASE && open_count(trace)) flags = 0; /* begun inside, never ended */
    if (engine->depth == 1) trace->number = 0, trace->has_out = trace->has_in = false;
}

void p2p__trace_collective(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_trace *trace = comm->engine->trace;
    trace_event *event = top(trace);
    uint64_t number = comm->collectives + (comm->engine->depth == 1);
    if (comm->engine->depth == 1) trace->number = (uint32_t)number;
    if (!event) return;
    event->kind = TRACE_COLLECTIVE;
    event->number = (uint32_t)number;
    event->bytes = what->count;
    event->algorithm = place_of(trace, what->algorithm);
    event->dtype = place_of(trace, what->dtype);
    event->op = place_of(trace, what->op);
    if (what->root < 0) return;
    event->flags |= TRACE_HAS_PEER;
    event->peer = what->root < comm->size ? comm->world_rank[what->root] : what->root;
}

void p2p__trace_wait(p2p_engine *engine)
{
    open_event(engine, TRACE_WAIT, "wait");
}

void p2p__trace_wait_end(p2p_engine *engine)
{
    close_top(engine, 0);
}

void p2p_layer_phase_begin(p2p_comm *comm, const char *name)
{
    const char *file;
    int line;
    p2p__take_line(&file, &line);
    if (!is_traced(comm)) return;
    trace_event *event = open_event(comm->engine, TRACE_PHASE, name);
    event->context = comm->context;
    event->file = place_of(comm->engine->trace, file);
    event->line = line;
}

void p2p_layer_phase_end(p2p_comm *comm, const char *name)
{
    if (!is_traced(comm)) return;
    p2p_trace *trace = comm->engine->trace;
    trace_event *open = top(trace);
    if (open && open->kind == TRACE_PHASE && open->name == place_of(trace, name)) close_top(comm->engine, 0);
}

/* ---- Messages ---- */

void p2p_layer_parts(p2p_comm *comm, const p2p_part *out, const p2p_part *in)
{
    if (!is_traced(comm)) return;
    p2p_trace *trace = comm->engine->trace;
    if (out) trace->out = *out, trace->has_out = true;
    if (in) trace->in = *in, trace->has_in = true;
}

void p2p_layer_watch(p2p_comm *comm, const void *buf, size_t bytes)
{
    if (!is_traced(comm)) return;
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

/* Once it is posted, it may be received before this rank gets to look at the clock again. */
void p2p__trace_posts(p2p_engine *engine)
{
    engine->trace->posted = p2p__trace_clock(engine);
}

void p2p__trace_sends(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    p2p_trace *trace = engine->trace;
    bool known = trace->has_out || part_of_watched(trace, request->buf, request->bytes, &trace->out);
    trace_event event = make(engine, TRACE_SENT);
    event.context = request->context;
    event.peer = request->peer;
    event.tag = request->tag;
    event.bytes = request->bytes;
    event.id = request->id;
    event.start = event.end = trace->posted;
    if (engine->config.network.on) event.end = request->ends;
    set_part(&event, known, &trace->out);
    trace->has_out = false;
    add(trace, &event);
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
    trace_event event = make(engine, TRACE_RECEIVED);
    event.context = request->context;
    event.peer = request->peer;
    event.tag = request->status.tag;
    event.bytes = request->status.bytes;
    event.id = request->message;
    set_part(&event, request->has_part, &request->part);
    trace->received = request->part;
    trace->has_received = request->has_part;
    add(trace, &event);
}

/* ---- Collectives ---- */

void p2p__trace_begins(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    request->order = engine->trace->order++;
    request->began = p2p__trace_clock(engine);
}

void p2p__trace_step(p2p_engine *engine, p2p_request request)
{
    engine->trace->step = request;
}

void p2p__trace_background(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    trace_event event = make(engine, TRACE_BACKGROUND);
    event.start = request->began;
    event.flags = TRACE_IN_STEP;
    event.order = request->order;
    event.depth = 0;
    if (engine->config.network.on) event.end = request->clock.now;
    event.context = request->comm->context;
    event.number = (uint32_t)request->layer_number;
    event.name = place_of(engine->trace, request->layer_name);
    event.file = place_of(engine->trace, request->file);
    event.line = request->line;
    add(engine->trace, &event);
}

/* Combining began when this rank last did something that was noted. */
void p2p__trace_compute(p2p_comm *comm, size_t bytes, uint64_t virtual_start, const char *file, int line)
{
    p2p_engine *engine = comm->engine;
    p2p_trace *trace = engine->trace;
    trace_event event = make(engine, TRACE_COMPUTE);
    event.start = engine->config.network.on ? virtual_start : trace->last;
    event.name = place_of(trace, "combine");
    event.context = comm->context;
    event.bytes = bytes;
    event.file = place_of(trace, file);
    event.line = line;
    set_part(&event, trace->has_received, &trace->received);
    add(trace, &event);
}

void p2p__trace_stats(const p2p_comm *comm)
{
    for (int i = 0; i < comm->size; i++) {
        const p2p_traffic *t = &comm->traffic[i];
        if (!t->messages_sent && !t->messages_received) continue;
        trace_event event = make(comm->engine, TRACE_STATS);
        event.context = comm->context;
        event.peer = comm->world_rank[i];
        event.bytes = t->bytes_sent;
        event.polls = (uint32_t)t->messages_sent;
        event.id = t->bytes_received;
        event.offset = t->messages_received;
        add(comm->engine->trace, &event);
    }
}
