/* SPDX-License-Identifier: MIT */
/*
 * Notes, in the rank (notes.h). Counting costs a short message nearly nothing; asking for the time would cost it a good part
 * of what it takes. So the first calls are timed, and all in which the rank slept; of the others one in some hundred, at
 * random, which stands for those of its operation since the one before it.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"

enum { FIRST_TIMED = 1000, TIMED_EVERY = 256, PROBES = 8, KNOWN = 128 };

struct p2p_notes {
    notes_metrics *metrics; /* NULL: not asked for; so record */
    notes_record *record;
    notes_call *open;                  /* the call that has not returned */
    uint64_t began;                    /* when a call that is timed did; 0: this one is not */
    bool slept, times_next;            /* the call that is timed did; the next call is timed */
    uint32_t collectives;              /* begun so far */
    uint32_t timed, countdown, random; /* countdown: calls before one that is timed */
    uint64_t stood_for[NOTES_OPERATIONS];
    struct {
        const char *name; /* a literal */
        notes_operation *operation;
    } known[KNOWN];
    p2p_texts texts;
};

/* Only this rank writes there. */
static void add(_Atomic uint64_t *to, uint64_t more)
{
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + more, memory_order_relaxed);
}

void p2p__notes_create(p2p_engine *engine)
{
    const p2p_config *config = &engine->config;
    if (!config->notes_bytes || p2p__notes_bytes(engine->size, config) != config->notes_bytes) return;
    p2p_notes *notes = calloc(1, sizeof *notes);
    if (!notes) return;
    notes->metrics = p2p__notes_metrics(engine->scoreboard, engine->rank);
    notes->record = p2p__notes_record(engine->scoreboard, engine->rank);
    notes->times_next = true;
    notes->countdown = 1;
    notes->random = (uint32_t)engine->rank + 1;
    if (notes->record) {
        notes->texts.pool = &notes->record->pool;
        notes->texts.used = 1;
    }
    engine->notes = notes;
}

/* ---- Numbers ---- */

/* The one of this name; the last one if there is no room for it. */
static notes_operation *find_operation(notes_metrics *metrics, const char *name)
{
    uint32_t used = atomic_load_explicit(&metrics->operations, memory_order_relaxed), i = 0;
    if (used > NOTES_OPERATIONS) used = NOTES_OPERATIONS;
    while (i < used && strcmp(metrics->operation[i].name, name) != 0) i++;
    if (i < used) return &metrics->operation[i];
    bool full = used >= NOTES_OPERATIONS - 1;
    if (used == NOTES_OPERATIONS) return &metrics->operation[used - 1];
    p2p__copy_text(metrics->operation[used].name, NOTES_NAME, full ? "other" : name);
    atomic_store_explicit(&metrics->operations, used + 1, memory_order_release);
    return &metrics->operation[used];
}

/* By where its name lies; found by the name when it comes from there for the first time. */
static notes_operation *operation_of(p2p_notes *notes, const char *name)
{
    size_t slot = ((uintptr_t)name >> 2) % KNOWN;
    for (int i = 0; i < PROBES && notes->known[slot].name; i++, slot = (slot + 1) % KNOWN)
        if (notes->known[slot].name == name) return notes->known[slot].operation;
    notes->known[slot].name = name;
    return notes->known[slot].operation = find_operation(notes->metrics, name);
}

/* One more call; and is the next one to be timed? */
static void count(p2p_engine *engine)
{
    p2p_notes *notes = engine->notes;
    add(&engine->operation->calls, 1);
    if (--notes->countdown) return;
    notes->times_next = true;
    engine->counted_late = NULL;
}

static void begin_counting(p2p_engine *engine, const p2p_call *call)
{
    p2p_notes *notes = engine->notes;
    engine->operation = operation_of(notes, call->name);
    if (notes->times_next) {
        notes->times_next = false;
        notes->began = p2p__now();
        notes->countdown = UINT32_MAX; /* until it has ended */
        engine->observed_end = true;
        add(&engine->operation->calls, 1);
        return;
    }
    count(engine);
    if (call->shape != SHAPE_SEND || notes->times_next || engine->trace || notes->record) return;
    engine->counted_late = call->name;
    engine->late_operation = engine->operation;
}

/* Calls that slept stand for themselves. */
static void note_duration(p2p_engine *engine)
{
    p2p_notes *notes = engine->notes;
    notes_operation *operation = engine->operation;
    uint64_t ns = p2p__now() - notes->began, *stood_for = &notes->stood_for[operation - notes->metrics->operation];
    uint64_t weight = notes->slept ? 1 : atomic_load_explicit(&operation->calls, memory_order_relaxed) - *stood_for;
    bool was_sampled = notes->countdown == UINT32_MAX;
    int bucket = 0;
    while (bucket < NOTES_BUCKETS - 1 && ns > p2p__notes_limit(bucket)) bucket++;
    *stood_for += weight;
    add(&operation->took[bucket], weight);
    add(&operation->ns, weight * ns);
    notes->began = 0;
    notes->slept = false;
    if (!was_sampled) return;                               /* it was timed because it slept */
    notes->random = notes->random * 1664525u + 1013904223u; /* Knuth, The Art of Computer Programming, 3.3.4 */
    notes->times_next = ++notes->timed < FIRST_TIMED;
    notes->countdown = 1 + (notes->random >> 16) % (2 * TIMED_EVERY);
}

void p2p__note_sleep(p2p_engine *engine)
{
    p2p_notes *notes = engine->notes;
    if (!notes->began) notes->began = p2p__now();
    notes->slept = engine->observed_end = true;
}

void p2p__note_kept(p2p_engine *engine)
{
    if (engine->notes->metrics) atomic_store(&engine->notes->metrics->kept, engine->unexpected_count);
}

void p2p__note_error(p2p_engine *engine)
{
    add(&engine->operation->errors, 1);
}

void p2p_layer_gauge(p2p_comm *comm, const char *name, double value)
{
    notes_metrics *metrics = comm && comm->engine && comm->engine->notes ? comm->engine->notes->metrics : NULL;
    uint64_t bits;
    if (!metrics || !name) return;
    uint32_t used = atomic_load(&metrics->gauges), i = 0;
    if (used > NOTES_GAUGES) used = NOTES_GAUGES;
    memcpy(&bits, &value, sizeof bits);
    while (i < used && strcmp(metrics->gauge[i].name, name) != 0) i++;
    if (i == NOTES_GAUGES) return;
    if (i == used) p2p__copy_text(metrics->gauge[i].name, NOTES_NAME, name);
    atomic_store(&metrics->gauge[i].bits, bits);
    if (i == used) atomic_store(&metrics->gauges, used + 1);
}

/* ---- The last calls ---- */

static int in_world(const p2p_comm *comm, int rank)
{
    return rank >= 0 && rank < comm->size ? comm->world_rank[rank] : rank;
}

static void begin_record(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line)
{
    p2p_notes *notes = engine->notes;
    uint64_t made = atomic_load_explicit(&notes->record->made, memory_order_relaxed);
    notes->open = &notes->record->calls[made % NOTES_CALLS];
    *notes->open = (notes_call){.start = p2p__now(),
                                .bytes = call->bytes,
                                .context = comm->context,
                                .peer = in_world(comm, call->peer),
                                .tag = call->tag,
                                .from = in_world(comm, call->from),
                                .from_tag = call->from_tag,
                                .line = line,
                                .shape = call->shape,
                                .name = p2p__text_place(&notes->texts, call->name),
                                .file = p2p__text_place(&notes->texts, file)};
    atomic_store_explicit(&notes->record->made, made + 1, memory_order_release);
}

/* ---- Every call ---- */

void p2p__observe_begin(p2p_engine *engine, const p2p_comm *comm, const p2p_call *call, const char *file, int line)
{
    if (engine->trace) p2p__trace_call(engine, comm, call, file, line);
    if (!engine->notes || engine->depth > 1) return;
    if (engine->notes->metrics) begin_counting(engine, call);
    if (engine->notes->record) begin_record(engine, comm, call, file, line);
}

void p2p__observe_collective(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_engine *engine = comm->engine;
    if (engine->trace) p2p__trace_collective(comm, what);
    notes_call *call = engine->notes && engine->depth == 1 ? engine->notes->open : NULL;
    if (!call) return;
    p2p_texts *texts = &engine->notes->texts;
    call->number = comm->collectives + 1;
    call->order = ++engine->notes->collectives;
    call->bytes = what->count;
    call->peer = in_world(comm, what->root);
    call->algorithm = p2p__text_place(texts, what->algorithm);
    call->dtype = p2p__text_place(texts, what->dtype);
    call->op = p2p__text_place(texts, what->op);
}

void p2p__observe_end(p2p_engine *engine, p2p_err err)
{
    p2p_notes *notes = engine->notes;
    if (engine->trace) p2p__trace_end(engine, err);
    if (!notes || engine->depth > 1) return;
    if (engine->late) count(engine);
    engine->late = false;
    if (notes->began) note_duration(engine);
    if (notes->open) {
        notes->open->err = err;
        notes->open->end = p2p__now();
        notes->open = NULL;
    }
    engine->observed_end = engine->trace || notes->record;
}
