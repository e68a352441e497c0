/* SPDX-License-Identifier: MIT */
/* What the events of a trace mean: slices, the ends of messages, how it all ended. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "replay/reader.h"

enum { TRACKS_EACH = 1024 };

static const double longest_us = 1e12;

/* Whole nanoseconds; a time that cannot be is unknown. */
static double ns(double us)
{
    return us >= 0 && us < longest_us ? (double)(long long)(us * 1000 + 0.5) : REPLAY_UNKNOWN;
}

static int whole(double number)
{
    return number >= 0 && number <= INT_MAX ? (int)number : REPLAY_UNKNOWN;
}

/* Of the tracks beside a rank's own: see p2p/trace/trace_json.c. */
static int track_of(const replay_event *e)
{
    return e->tid > 0 && e->tid < 1e9 ? ((int)e->tid - 1) / TRACKS_EACH : 0;
}

static int kind_of(const char *category)
{
    static const char *const names[] = {"call", "collective", "wait", "compute", "phase", "background"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (strcmp(names[i], category) == 0) return i;
    return SLICE_CALL;
}

static bool is_rank(double rank)
{
    return rank >= 0 && rank < REPLAY_MOST_RANKS;
}

/* Events of a track stand in the order in which they began, each with the number of those around it. Close what has
 * ended by now; the innermost that is left. */
static int enclosing(replay_reader *r, const replay_event *e, bool waits_count)
{
    const replay_slice *slices = r->trace->slices;
    if (r->tid != e->tid) r->open_count = 0;
    r->tid = e->tid;
    while (r->open_count) {
        int top = r->open[r->open_count - 1];
        if (slices[top].depth < e->depth && (waits_count || slices[top].kind != SLICE_WAIT)) return top;
        r->open_count--;
    }
    return REPLAY_NONE;
}

static void add_slice(replay_reader *r, const replay_event *e)
{
    replay_trace *t = r->trace;
    if (!is_rank(e->rank) || ns(e->ts) < 0 || ns(e->dur) < 0) {
        json_fail(&r->j, "a slice without a rank, or with a time that is none");
        return;
    }
    t->slices = replay__grow(r, t->slices, t->slice_count, &r->slice_room, sizeof *t->slices);
    if (r->no_memory) return;
    bool apart = e->ph[0] == 'b'; /* beside the calls, not inside them */
    int parent = apart ? REPLAY_NONE : enclosing(r, e, true);
    if (!apart && r->open_count < REPLAY_DEEPEST) r->open[r->open_count++] = (int)t->slice_count;
    t->slices[t->slice_count++] = (replay_slice){.parent = parent,
                                                 .depth = e->depth,
                                                 .order = r->order++,
                                                 .kind = kind_of(e->cat),
                                                 .rank = (int)e->rank,
                                                 .track = track_of(e),
                                                 .start = ns(e->ts),
                                                 .length = ns(e->dur),
                                                 .name = replay__number_of(r, e->name),
                                                 .file = replay__number_of(r, e->file),
                                                 .line = whole(e->line),
                                                 .comm = e->comm,
                                                 .collective = e->collective,
                                                 .count = e->count,
                                                 .dtype = replay__number_of(r, e->dtype),
                                                 .op = replay__number_of(r, e->op),
                                                 .algorithm = replay__number_of(r, e->algorithm),
                                                 .root = whole(e->root),
                                                 .peer = e->peer,
                                                 .bytes = e->bytes,
                                                 .unfinished = e->unfinished,
                                                 .failed = e->failed,
                                                 .polls = e->polls,
                                                 .chosen = e->chosen,
                                                 .options = e->rank_count};
}

/* The end of something in the background stands right behind its beginning. */
static void end_background(replay_reader *r, const replay_event *e)
{
    replay_slice *last = r->trace->slice_count ? &r->trace->slices[r->trace->slice_count - 1] : NULL;
    if (last && last->kind == SLICE_BACKGROUND && ns(e->ts) >= last->start) last->length = ns(e->ts) - last->start;
}

static replay_message message_of(replay_reader *r, const replay_event *e, bool sent)
{
    int inside = enclosing(r, e, false);
    double order = r->order++;
    return (replay_message){.sent_in = inside,
                            .received_in = inside,
                            .sent_order = order,
                            .received_order = order,
                            .id = e->id,
                            .from = (int)(sent ? e->rank : e->from),
                            .to = (int)(sent ? e->to : e->rank),
                            .tag = whole(e->tag),
                            .bytes = e->bytes,
                            .comm = e->comm,
                            .collective = e->collective,
                            .sent = sent ? ns(e->ts) : REPLAY_UNKNOWN,
                            .received = sent ? REPLAY_UNKNOWN : ns(e->ts),
                            .leaves = ns(e->leaves),
                            .arrives = ns(e->arrives),
                            .chunk = sent ? e->chunk : REPLAY_UNKNOWN,
                            .offset = sent ? e->offset : REPLAY_UNKNOWN,
                            .chunk_to = sent ? REPLAY_UNKNOWN : e->chunk,
                            .offset_to = sent ? REPLAY_UNKNOWN : e->offset,
                            .combined = e->combined,
                            .of_collective = e->of_collective,
                            .sent_track = track_of(e),
                            .received_track = track_of(e)};
}

static void add_message(replay_reader *r, const replay_event *e)
{
    replay_trace *t = r->trace;
    bool sent = e->ph[0] == 's';
    if (!is_rank(e->rank) || !is_rank(sent ? e->to : e->from) || e->id < 0 || e->bytes < 0 || ns(e->ts) < 0) {
        json_fail(&r->j, "a message without its ranks, its number or its size");
        return;
    }
    if (sent) {
        t->messages = replay__grow(r, t->messages, t->message_count, &r->message_room, sizeof *t->messages);
        if (!r->no_memory) t->messages[t->message_count++] = message_of(r, e, true);
    } else {
        r->ends = replay__grow(r, r->ends, r->end_count, &r->end_room, sizeof *r->ends);
        if (!r->no_memory) r->ends[r->end_count++] = message_of(r, e, false);
    }
}

static void note_rank_end(replay_reader *r, const replay_event *e)
{
    if (!is_rank(e->rank)) return;
    replay_last *last = &r->last[(int)e->rank];
    last->state = replay__number_of(r, e->name);
    last->call = replay__number_of(r, e->call);
    last->function = replay__number_of(r, e->function);
    last->file = replay__number_of(r, e->file);
    last->line = whole(e->line);
    last->in_cycle = e->in_cycle;
    last->waits_count = e->rank_count;
    memcpy(last->waits_for, e->ranks, (size_t)e->rank_count * sizeof *e->ranks);
}

static void note_end(replay_reader *r, const replay_event *e)
{
    replay_trace *t = r->trace;
    t->end_time = ns(e->ts);
    t->end_text = replay__number_of(r, e->text);
    t->is_cycle = e->has_cycle;
    t->cycle_count = e->has_cycle || e->has_stuck ? e->rank_count : 0;
    memcpy(t->cycle, e->ranks, (size_t)t->cycle_count * sizeof *e->ranks);
}

void replay__take_event(replay_reader *r, const replay_event *e)
{
    bool is_end = strcmp(e->cat, "end") == 0;
    if (e->ph[0] == 'X' || e->ph[0] == 'b') add_slice(r, e);
    if (e->ph[0] == 'e') end_background(r, e);
    if (e->ph[0] == 's' || e->ph[0] == 'f') add_message(r, e);
    if (e->ph[0] == 'i' && is_end && *e->text) note_end(r, e);
    if (e->ph[0] == 'i' && is_end && !*e->text) note_rank_end(r, e);
}
