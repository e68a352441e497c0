/* SPDX-License-Identifier: MIT */
/* Tracing, in the rank. A call is kept open, in shared memory, from p2p__enter to p2p__leave, and is an event then; so
 * the calls of a rank that dies or waits for ever can be read from outside. A message is two events, one on each side,
 * which name it by its sender and the sender's number for it. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "p2p/message/trace_rank.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { LONGEST = 240, WARM = 4 << 20 };

p2p_trace *p2p__trace_create(p2p_engine *engine)
{
    const p2p_config *config = &engine->config;
    size_t bytes = p2p__trace_rank_bytes(engine->size, config), most = bytes < WARM ? bytes : WARM;
    if (!config->trace_room || (size_t)engine->size * bytes != config->trace_bytes) return NULL;
    p2p_trace *trace = calloc(1, sizeof *trace);
    if (!trace) return NULL;
    trace->shared = p2p__trace_of(engine->scoreboard, engine->rank);
    trace->room = p2p__trace_room(engine->size, config);
    trace->reserve = (uint64_t)engine->size;
    trace->texts.pool = &trace->shared->pool;
    trace->texts.used = 1;
    /* Memory that is new to a process costs an interruption a page; the first pages are taken before anything is
     * timed. */
    volatile char *first = (volatile char *)trace->shared;
    bool taken = madvise(trace->shared, most, MADV_POPULATE_WRITE) == 0;
    for (size_t i = 0; !taken && i < most; i += 4096) first[i] |= 0; /* a kernel older than 5.14 */
    return trace;
}

uint64_t p2p__trace_clock(const p2p_engine *engine)
{
    return engine->config.network.on ? engine->clock->now : p2p__now();
}

/* The place of a text in the pool. Names are literals: the pointer is looked up first. The text may have come there by
 * another pointer. */
uint16_t p2p__text_place(p2p_texts *texts, const char *text)
{
    trace_pool *pool = texts->pool;
    if (!text || !*text) return 0;
    size_t slot = ((uintptr_t)text >> 2) % TRACE_NAMES;
    for (size_t i = 0; i < TRACE_PROBES && texts->names[slot].text; i++, slot = (slot + 1) % TRACE_NAMES)
        if (texts->names[slot].text == text) return texts->names[slot].place;

    size_t length = strlen(text);
    const char *kept = length > LONGEST ? text + (length - LONGEST) : text;
    uint32_t place = 1, used = texts->used, bytes = (uint32_t)strlen(kept) + 1;
    while (place < used && (used - place < bytes || memcmp(pool->at + place, kept, bytes) != 0))
        place += (uint32_t)strnlen(pool->at + place, used - place) + 1;
    if (place >= used && used + bytes > sizeof pool->at) {
        place = 0;
    } else if (place >= used) {
        place = used;
        memcpy(pool->at + place, kept, bytes);
        texts->used += bytes;
    }
    texts->names[slot].text = text;
    texts->names[slot].place = (uint16_t)place;
    return (uint16_t)place;
}

/* ---- Events ---- */

trace_event *p2p__trace_add(p2p_trace *trace, const trace_event *event)
{
    trace_rank *shared = trace->shared;
    trace->last = event->end;
    if (trace->count >= trace->room + (event->kind == TRACE_STATS ? trace->reserve : 0)) {
        atomic_fetch_add_explicit(&shared->dropped, 1, memory_order_relaxed);
        return NULL;
    }
    trace_event *place = &shared->events[trace->count];
    *place = *event;
    atomic_store_explicit(&shared->count, ++trace->count, memory_order_release);
    return place;
}

trace_event *p2p__trace_top(p2p_trace *trace)
{
    return trace->open_count && trace->open_count <= TRACE_OPEN ? &trace->shared->open[trace->open_count - 1] : NULL;
}

trace_event p2p__trace_make(p2p_engine *engine, enum trace_kind kind, uint32_t context)
{
    p2p_trace *trace = engine->trace;
    uint64_t now = p2p__trace_clock(engine);
    return (trace_event){.context = context,
                         .kind = (uint8_t)kind,
                         .flags = engine->in_step ? TRACE_IN_STEP : 0,
                         .start = now,
                         .end = now,
                         .order = trace->order++,
                         .depth = (uint8_t)(trace->open_count < UINT8_MAX ? trace->open_count : UINT8_MAX),
                         .number = engine->in_step ? (uint32_t)engine->in_step->layer_number : trace->number};
}

trace_event *p2p__trace_push(p2p_engine *engine, enum trace_kind kind, const char *name, uint32_t context,
                             const char *file, int line)
{
    p2p_trace *trace = engine->trace;
    trace_event *event = trace->open_count < TRACE_OPEN ? &trace->shared->open[trace->open_count] : &trace->nowhere;
    *event = p2p__trace_make(engine, kind, context);
    event->name = p2p__text_place(&trace->texts, name);
    event->file = p2p__text_place(&trace->texts, file);
    event->line = line;
    trace->last = event->start;
    atomic_store_explicit(&trace->shared->open_count, ++trace->open_count, memory_order_release);
    return event;
}

/* Polls that find nothing, one after the other on one line, are one event. Returns the kind of what has ended. */
int p2p__trace_pop(p2p_engine *engine, uint8_t flags)
{
    p2p_trace *trace = engine->trace;
    trace_event *open = p2p__trace_top(trace);
    int kind = TRACE_CALL;
    if (open) {
        open->end = p2p__trace_clock(engine);
        open->flags |= flags;
        if (flags & TRACE_POLLED) open->polls = 1;
        kind = open->kind;
        trace_event *last = trace->count ? &trace->shared->events[trace->count - 1] : NULL;
        bool joins = last && (open->flags & last->flags & TRACE_POLLED) && last->name == open->name &&
                     last->file == open->file && last->line == open->line;
        if (joins) {
            last->end = open->end;
            last->polls++;
        } else if (kind != TRACE_WAIT || open->end != open->start) { /* an empty wait is not kept */
            p2p__trace_add(trace, open);
        }
    }
    if (trace->open_count) atomic_store_explicit(&trace->shared->open_count, --trace->open_count, memory_order_release);
    return kind;
}

/* ---- Calls ---- */

bool p2p_layer_is_traced(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->trace;
}

void p2p__trace_call(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line)
{
    trace_event *event = p2p__trace_push(engine, TRACE_CALL, call->name, comm->context, file, line);
    bool to = call->shape == SHAPE_SEND || call->shape == SHAPE_SENDRECV, from = call->shape == SHAPE_RECV;
    event->bytes = call->bytes;
    event->peer = call->peer >= 0 && call->peer < comm->size ? comm->world_rank[call->peer] : call->peer;
    event->tag = call->tag;
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
    while (p2p__trace_pop(engine, flags) == TRACE_PHASE && trace->open_count) flags = 0; /* begun inside, never ended */
    if (engine->depth == 1) trace->number = 0, trace->has_out = trace->has_in = false;
}

void p2p__trace_collective(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_trace *trace = comm->engine->trace;
    trace_event *event = p2p__trace_top(trace);
    uint64_t number = comm->collectives + (comm->engine->depth == 1);
    if (comm->engine->depth == 1) trace->number = (uint32_t)number;
    if (!event) return;
    event->kind = TRACE_COLLECTIVE;
    event->number = (uint32_t)number;
    event->bytes = what->count;
    event->algorithm = p2p__text_place(&trace->texts, what->algorithm);
    event->dtype = p2p__text_place(&trace->texts, what->dtype);
    event->op = p2p__text_place(&trace->texts, what->op);
    if (what->root < 0) return;
    event->flags |= TRACE_HAS_PEER;
    event->peer = what->root < comm->size ? comm->world_rank[what->root] : what->root;
}

void p2p_layer_phase_begin(p2p_comm *comm, const char *name)
{
    const char *file;
    int line;
    p2p__take_line(&file, &line);
    if (p2p_layer_is_traced(comm)) p2p__trace_push(comm->engine, TRACE_PHASE, name, comm->context, file, line);
}

void p2p_layer_phase_end(p2p_comm *comm, const char *name)
{
    if (!p2p_layer_is_traced(comm)) return;
    p2p_trace *trace = comm->engine->trace;
    trace_event *open = p2p__trace_top(trace);
    if (open && open->kind == TRACE_PHASE && open->name == p2p__text_place(&trace->texts, name))
        p2p__trace_pop(comm->engine, 0);
}
