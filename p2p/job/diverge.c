/* SPDX-License-Identifier: MIT */
/*
 * From the last calls of all ranks (notes.h): the first one in which they diverged.
 *
 *      1. A collective in which ranks mean different things, or to which some have not come while others have: the first in
 *         the order in which ranks begin collectives.
 *         What a rank did instead is its next call after the collective before.
 *      2. Else, after the last collective that all have left: the first call that is not on the same line of the program
 *         everywhere. Ranks that send each other messages often differ there as they should.
 *
 * What a rank has written is believed to be numbers and texts, and nothing else.
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/job/record.h"

enum { NOT_THERE = -1 };

/* ---- What was kept ---- */

/* What is longer than the field, or has no end, is cut. */
static void copy_text(char *to, size_t bytes, const trace_pool *pool, uint16_t place)
{
    size_t most = place < TRACE_POOL ? TRACE_POOL - place : 0;
    if (most > bytes - 1) most = bytes - 1;
    size_t length = strnlen(pool->at + (most ? place : 0), most);
    memcpy(to, pool->at + (most ? place : 0), length);
    to[length] = 0;
}

kept_calls p2p__kept_calls(const scoreboard *b, int rank)
{
    const notes_record *notes = p2p__notes_record(b, rank);
    uint64_t made = atomic_load(&notes->made);
    return (kept_calls){notes, made, made < NOTES_CALLS ? 0 : made - NOTES_CALLS};
}

const notes_call *p2p__kept_call(const kept_calls *from, uint64_t number)
{
    return &from->notes->calls[number % NOTES_CALLS];
}

scoreboard_call p2p__kept_as_shown(const kept_calls *from, uint64_t number)
{
    const notes_call kept = *p2p__kept_call(from, number);
    bool collective = kept.number && kept.shape == SHAPE_COLLECTIVE;
    bool known = kept.shape >= SHAPE_PLAIN && kept.shape <= SHAPE_WAIT;
    scoreboard_call call = {.line = kept.line,
                            .shape = collective ? SHAPE_COLLECTIVE
                                     : known    ? kept.shape
                                                : SHAPE_PLAIN,
                            .context = kept.context,
                            .peer = kept.peer,
                            .world_peer = kept.peer,
                            .tag = kept.tag,
                            .from = kept.from,
                            .world_from = kept.from,
                            .from_tag = kept.from_tag,
                            .bytes = collective ? 0 : kept.bytes,
                            .number = kept.number,
                            .what = {.count = kept.bytes, .root = kept.peer}};
    copy_text(call.name, sizeof call.name, &from->notes->pool, kept.name);
    copy_text(call.file, sizeof call.file, &from->notes->pool, kept.file);
    copy_text(call.what.algorithm, sizeof call.what.algorithm, &from->notes->pool, kept.algorithm);
    copy_text(call.what.dtype, sizeof call.what.dtype, &from->notes->pool, kept.dtype);
    copy_text(call.what.op, sizeof call.what.op, &from->notes->pool, kept.op);
    return call;
}

/* ---- Those who do the same ---- */

static bool same_collective(const scoreboard_call *a, const scoreboard_call *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->what.algorithm, b->what.algorithm) == 0 &&
           strcmp(a->what.dtype, b->what.dtype) == 0 && strcmp(a->what.op, b->what.op) == 0 &&
           a->what.count == b->what.count && a->what.root == b->what.root;
}

static bool same_line(const scoreboard_call *a, const scoreboard_call *b)
{
    return a->line == b->line && strcmp(a->file, b->file) == 0 && strcmp(a->name, b->name) == 0;
}

/* Whoever has no place left joins the last group. */
static void add_to_group(p2p_divergence *d, int rank, const scoreboard_call *call, bool instead,
                         bool (*same)(const scoreboard_call *a, const scoreboard_call *b))
{
    int i = 0;
    while (i < d->count && (d->groups[i].instead != instead || !same(&d->groups[i].call, call))) i++;
    if (i == DIVERGE_GROUPS) i--;
    if (i == d->count) d->groups[d->count++] = (p2p_diverged){.call = *call, .instead = instead};
    p2p__set_add(&d->groups[i].ranks, rank);
}

/* ---- 1. Collectives ---- */

typedef struct {
    uint64_t number, at, start; /* of the collective; of the call; ns */
    uint32_t context, order;
    int rank;
} meeting;

typedef struct {
    const scoreboard *b;
    meeting *list; /* all collectives of all ranks, by communicator, number and rank */
    size_t count;
} meetings;

static int by_number(const void *a, const void *b)
{
    const meeting *x = a, *y = b;
    if (x->context != y->context) return x->context < y->context ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool find_meetings(meetings *all)
{
    size_t room = 0;
    for (int rank = 0; rank < all->b->size; rank++) {
        const kept_calls kept = p2p__kept_calls(all->b, rank);
        room += (size_t)(kept.made - kept.first);
    }
    all->list = calloc(room + 1, sizeof *all->list);
    if (!all->list) return false;
    for (int rank = 0; rank < all->b->size; rank++) {
        const kept_calls kept = p2p__kept_calls(all->b, rank);
        for (uint64_t i = kept.first; i < kept.made && all->count < room; i++) {
            const notes_call *call = p2p__kept_call(&kept, i);
            if (call->number)
                all->list[all->count++] = (meeting){call->number, i, call->start, call->context, call->order, rank};
        }
    }
    qsort(all->list, all->count, sizeof *all->list, by_number);
    return true;
}

/* Where a rank is in a communicator: its collectives there of which the last calls tell. */
typedef struct {
    uint64_t oldest, newest, newest_at; /* numbers; the call of the newest */
    bool any, everything;               /* there is one; and none has been forgotten */
} progress;

static void find_progress(const meetings *all, size_t from, size_t to, progress *of)
{
    for (int rank = 0; rank < all->b->size; rank++)
        of[rank] = (progress){.everything = p2p__kept_calls(all->b, rank).first == 0};
    for (size_t i = from; i < to; i++) {
        const meeting *m = &all->list[i];
        progress *p = &of[m->rank];
        if (!p->any) p->oldest = m->number;
        p->newest = m->number;
        p->newest_at = m->at;
        p->any = true;
    }
}

/* What a rank did instead of a collective of this number; NOT_THERE: it was there, or that is not known any more, or it has
 * nothing to do with it. */
static int64_t instead_of(const meetings *all, const progress *p, int rank, uint32_t context, uint64_t number)
{
    const kept_calls kept = p2p__kept_calls(all->b, rank);
    if ((p->any && p->newest >= number) || kept.made == kept.first) return NOT_THERE;
    if (!p->any && (context || !p->everything)) return NOT_THERE;
    uint64_t next = p->any ? p->newest_at + 1 : kept.first;
    return (int64_t)(next < kept.made ? next : kept.made - 1);
}

/* The ranks of one collective, list[from] to list[to - 1], and those that should be there. */
static bool check_meeting(const meetings *all, size_t from, size_t to, const progress *of, p2p_divergence *d)
{
    const meeting *m = &all->list[from];
    *d = (p2p_divergence){.context = m->context, .number = m->number, .start = UINT64_MAX};
    for (size_t i = from; i < to; i++) {
        const kept_calls kept = p2p__kept_calls(all->b, all->list[i].rank);
        const scoreboard_call call = p2p__kept_as_shown(&kept, all->list[i].at);
        if (i > from && all->list[i].rank == all->list[i - 1].rank)
            return false; /* another communicator had the index */
        if (all->list[i].start < d->start) d->start = all->list[i].start;
        if (all->list[i].order > d->order) d->order = all->list[i].order;
        add_to_group(d, all->list[i].rank, &call, false, same_collective);
    }
    for (int rank = 0; rank < all->b->size; rank++) {
        int64_t at = instead_of(all, &of[rank], rank, m->context, m->number);
        if (at == NOT_THERE) continue;
        const kept_calls kept = p2p__kept_calls(all->b, rank);
        const scoreboard_call call = p2p__kept_as_shown(&kept, (uint64_t)at);
        add_to_group(d, rank, &call, true, same_line);
    }
    return d->count > 1;
}

static bool is_before(const p2p_divergence *a, const p2p_divergence *b)
{
    return a->order != b->order ? a->order < b->order : a->start < b->start;
}

static bool among_collectives(const meetings *all, p2p_divergence *first)
{
    progress *of = calloc((size_t)all->b->size, sizeof *of);
    p2p_divergence *d = malloc(sizeof *d);
    for (size_t from = 0, to, end = 0; of && d && from < all->count; from = to) {
        const meeting *m = &all->list[from];
        if (from == end) { /* another communicator */
            while (end < all->count && all->list[end].context == m->context) end++;
            find_progress(all, from, end, of);
        }
        for (to = from; to < end && all->list[to].number == m->number;) to++;
        if (check_meeting(all, from, to, of, d) && (!first->count || is_before(d, first))) *first = *d;
    }
    free(of);
    free(d);
    return first->count > 0;
}

/* ---- 2. Lines ---- */

/* The call of each rank after the last collective of the world that all have been in; false if that is not known. */
static bool find_starts(const meetings *all, uint64_t *starts)
{
    int size = all->b->size, came = 0;
    bool everything = true;
    for (int rank = 0; rank < size; rank++) {
        const kept_calls kept = p2p__kept_calls(all->b, rank);
        starts[rank] = kept.first;
        everything = everything && kept.first == 0;
    }
    bool found = false;
    for (size_t i = 0; i < all->count && all->list[i].context == 0; i++) {
        came = i && all->list[i].number == all->list[i - 1].number ? came + 1 : 1;
        if (came != size) continue;
        found = true;
        for (int k = 0; k < size; k++) starts[all->list[i - (size_t)k].rank] = all->list[i - (size_t)k].at + 1;
    }
    return found || everything;
}

static bool among_lines(const meetings *all, p2p_divergence *d)
{
    int size = all->b->size;
    uint64_t *starts = calloc((size_t)size, sizeof *starts);
    bool known = starts && find_starts(all, starts);
    for (uint64_t step = 0; known && step < NOTES_CALLS; step++) {
        *d = (p2p_divergence){.is_line = true};
        for (int rank = 0; rank < size && known; rank++) {
            const kept_calls kept = p2p__kept_calls(all->b, rank);
            known = starts[rank] + step < kept.made;
            if (!known) break;
            const scoreboard_call call = p2p__kept_as_shown(&kept, starts[rank] + step);
            add_to_group(d, rank, &call, false, same_line);
        }
        if (!known || d->count > 1) break;
    }
    free(starts);
    return known && d->count > 1;
}

bool p2p__find_divergence(const scoreboard *b, p2p_divergence *divergence)
{
    meetings all = {.b = b};
    *divergence = (p2p_divergence){.count = 0};
    bool found = find_meetings(&all) && (among_collectives(&all, divergence) || among_lines(&all, divergence));
    free(all.list);
    return found;
}
