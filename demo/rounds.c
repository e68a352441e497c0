/* SPDX-License-Identifier: MIT */
/*
 * A collective of a trace in steps, by the rules of replay/page/steps.js: every message takes a step, and a rank sends
 * and receives one at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demo/demo.h"

/* An end of a message, on one rank. */
typedef struct {
    int rank, step; /* index of demo_part.steps */
    bool sends;
    double order;
} end;

typedef struct {
    int now, out, in;
} ports;

static int by_rank_and_order(const void *a, const void *b)
{
    const end *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static int by_arrival(const void *a, const void *b)
{
    const demo_step *x = a, *y = b;
    if (x->arrival != y->arrival) return x->arrival < y->arrival ? -1 : 1;
    return x->message->from - y->message->from;
}

static int later(int a, int b)
{
    return a > b ? a : b;
}

/* A blocking send alone keeps its rank busy for a step. */
static bool is_blocking_send(const replay_trace *t, const replay_message *m)
{
    const char *name = m->sent_in >= 0 ? replay_text(t, t->slices[m->sent_in].name) : "";
    size_t length = strlen(name);
    return length > 5 && strcmp(name + length - 5, "_send") == 0;
}

static void take(const replay_trace *t, demo_part *part, ports *port, const end *e)
{
    demo_step *step = &part->steps[e->step];
    if (e->sends) {
        step->round = later(port->now, port->out);
        port->out = step->round + 1;
        if (is_blocking_send(t, step->message)) port->now = port->out;
    } else {
        step->arrival = later(step->round, port->in) + 1;
        port->in = step->arrival;
        port->now = later(port->now, step->arrival);
        part->last = later(part->last, step->arrival);
    }
}

/* One rank after the other; each goes on until it needs a message that has not been sent yet. */
static void number_all(const replay_trace *t, demo_part *part, const end *ends, size_t count, ports *port, size_t *next)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            const end *e = &ends[i];
            if (next[e->rank] != i) continue;
            if (!e->sends && part->steps[e->step].round < 0) continue;
            take(t, part, &port[e->rank], e);
            next[e->rank] = i + 1 < count && ends[i + 1].rank == e->rank ? i + 1 : count;
            moved = true;
        }
    }
}

static bool make_rounds(const replay_trace *t, demo_part *part)
{
    size_t count = 2 * part->count, next[REPLAY_MOST_RANKS];
    end *ends = calloc(count, sizeof *ends);
    ports *port = calloc((size_t)t->ranks, sizeof *port);
    if (ends && port) {
        for (size_t i = 0; i < part->count; i++) {
            const replay_message *m = part->steps[i].message;
            if (!m) break; /* never: every step has one */
            ends[2 * i] = (end){m->from, (int)i, true, m->sent_order};
            ends[2 * i + 1] = (end){m->to, (int)i, false, m->received_order};
        }
        qsort(ends, count, sizeof *ends, by_rank_and_order);
        for (size_t i = 0; i < REPLAY_MOST_RANKS; i++) next[i] = count;
        for (size_t i = count; i-- > 0;) next[ends[i].rank] = i;
        number_all(t, part, ends, count, port, next);
        qsort(part->steps, part->count, sizeof *part->steps, by_arrival);
    }
    bool fine = ends && port;
    free(ends);
    free(port);
    return fine;
}

/* From the first rank's entering to the last one's leaving. */
static void find_times(const replay_trace *t, const replay_slice *of, double *from, double *to)
{
    *from = of->start;
    *to = of->start + of->length;
    for (size_t i = 0; i < t->slice_count; i++) {
        const replay_slice *s = &t->slices[i];
        if (s->kind != SLICE_COLLECTIVE || s->collective != of->collective || s->comm != of->comm) continue;
        *from = demo_least(*from, s->start);
        *to = demo_most(*to, s->start + s->length);
    }
}

/* Of those on rank 0 with this name the quickest: the others are for warming up. */
static const replay_slice *find_best(const replay_trace *t, const char *name)
{
    const replay_slice *found = NULL;
    double from, to, best = 0;
    for (size_t i = 0; i < t->slice_count; i++) {
        const replay_slice *s = &t->slices[i];
        if (s->kind != SLICE_COLLECTIVE || s->rank != 0 || strcmp(replay_text(t, s->name), name) != 0) continue;
        find_times(t, s, &from, &to);
        if (found && to - from > best) continue;
        found = s;
        best = to - from;
    }
    return found;
}

static double element_of(const char *dtype)
{
    size_t length = strlen(dtype);
    return length < 2 ? 1 : strtod(dtype + 1, NULL) / 8;
}

bool demo_find_part(const replay_trace *t, const char *name, demo_part *part)
{
    *part = (demo_part){.slice = find_best(t, name)};
    if (!part->slice) return false;
    part->steps = calloc(t->message_count + 1, sizeof *part->steps);
    if (!part->steps) return false;
    for (size_t i = 0; i < t->message_count; i++) {
        const replay_message *m = &t->messages[i];
        bool belongs = m->of_collective && m->collective == part->slice->collective && m->comm == part->slice->comm;
        if (belongs && m->received >= 0) part->steps[part->count++] = (demo_step){m, -1, -1};
    }
    part->element = element_of(replay_text(t, part->slice->dtype));
    part->bytes = part->slice->count * part->element;
    find_times(t, part->slice, &part->from, &part->to);
    if (make_rounds(t, part)) return true;
    demo_part_free(part);
    return false;
}

void demo_part_free(demo_part *part)
{
    free(part->steps);
    part->steps = NULL;
}

const char *demo_place(const replay_trace *t, const demo_step *step, char *text, size_t bytes)
{
    const replay_slice *s = step->message->sent_in >= 0 ? &t->slices[step->message->sent_in] : NULL;
    snprintf(text, bytes, "%s:%d", s ? replay_text(t, s->file) : "", s ? s->line : 0);
    return text;
}
