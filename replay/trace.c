/* SPDX-License-Identifier: MIT */
/* Reading a trace: one event after the other, and then the two ends of every message put together. */
#include "replay/trace.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/json.h"

enum { TEXT = 4096, TRACKS_EACH = 1024, DEEPEST = 64 };

/* An event as it stands in the file: every field there may be. */
typedef struct {
    char ph[4], name[TEXT], cat[32], call[TEXT], text[TEXT];
    char file[300], dtype[16], op[16], algorithm[32];
    double ts, dur, tid, id;
    double rank, peer, to, from, tag, bytes, chunk, offset, leaves, arrives, collective, comm, count, root, line, looks,
        depth;
    bool combined, of_collective, unfinished, failed, in_cycle, has_cycle, has_stuck;
    int ranks[REPLAY_MOST_RANKS], rank_count; /* of waits_for, cycle or stuck */
} event;

typedef struct {
    json j;
    replay_trace *trace;
    size_t slice_room, message_room, stats_room, text_room;
    replay_message *ends; /* the receiving halves */
    size_t end_count, end_room;
    replay_last *last;
    bool has_job, no_memory;
    /* Where we are on a track: the slices that are open there. */
    int open[DEEPEST], open_count;
    double tid, order;
} reader;

/* ---- Memory ---- */

static void *grow(reader *r, void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) return list;
    size_t more = *room ? 2 * *room : 256;
    void *grown = realloc(list, more * bytes);
    if (!grown) {
        r->no_memory = true;
        json_fail(&r->j, "no memory");
        return list;
    }
    *room = more;
    return grown;
}

/* The number of a text; texts are few, so they are looked for one after the other, the latest first. */
static int number_of(reader *r, const char *text)
{
    replay_trace *t = r->trace;
    if (!*text) return REPLAY_UNKNOWN;
    for (size_t i = t->text_count; i-- > 0;)
        if (strcmp(t->texts[i], text) == 0) return (int)i;
    t->texts = grow(r, t->texts, t->text_count, &r->text_room, sizeof *t->texts);
    char *copy = r->no_memory ? NULL : strdup(text);
    if (!copy) {
        r->no_memory = true;
        json_fail(&r->j, "no memory");
        return REPLAY_UNKNOWN;
    }
    t->texts[t->text_count] = copy;
    return (int)t->text_count++;
}

const char *replay_text(const replay_trace *trace, int number)
{
    return number >= 0 && (size_t)number < trace->text_count ? trace->texts[number] : "";
}

/* ---- Fields ---- */

typedef struct {
    const char *key;
    size_t offset, bytes; /* bytes: of a text; 0: a number */
} field;

#define TEXT_FIELD(name)                                         \
    {                                                            \
#name, offsetof(event, name), sizeof(((event *)0)->name) \
    }
#define NUMBER_FIELD(name)              \
    {                                   \
#name, offsetof(event, name), 0 \
    }

static const field outer_fields[] = {TEXT_FIELD(ph),   TEXT_FIELD(name),  TEXT_FIELD(cat),
                                     NUMBER_FIELD(ts), NUMBER_FIELD(dur), NUMBER_FIELD(tid)};

static const field inner_fields[] = {
    TEXT_FIELD(call),         TEXT_FIELD(text),    TEXT_FIELD(file),    TEXT_FIELD(dtype),    TEXT_FIELD(op),
    TEXT_FIELD(algorithm),    NUMBER_FIELD(rank),  NUMBER_FIELD(peer),  NUMBER_FIELD(to),     NUMBER_FIELD(from),
    NUMBER_FIELD(tag),        NUMBER_FIELD(bytes), NUMBER_FIELD(chunk), NUMBER_FIELD(offset), NUMBER_FIELD(leaves),
    NUMBER_FIELD(arrives),    NUMBER_FIELD(comm),  NUMBER_FIELD(count), NUMBER_FIELD(root),   NUMBER_FIELD(line),
    NUMBER_FIELD(collective), NUMBER_FIELD(looks), NUMBER_FIELD(depth),
};

/* True if the key was one of these; its value is read, or skipped if it is of another kind ("any" for a peer). */
static bool read_field(json *j, event *e, const field *fields, size_t count, const char *key)
{
    size_t i = 0;
    while (i < count && strcmp(fields[i].key, key) != 0) i++;
    if (i == count) return false;
    char *at = (char *)e + fields[i].offset;
    bool fits = json_next(j) == (fields[i].bytes ? '"' : '0');
    if (!fits)
        json_skip(j);
    else if (fields[i].bytes)
        json_text(j, at, fields[i].bytes);
    else
        json_number(j, (double *)(void *)at);
    return true;
}

static void read_ranks(json *j, event *e)
{
    double rank;
    e->rank_count = 0;
    if (!json_array(j)) return;
    while (json_element(j))
        if (json_number(j, &rank) && rank >= 0 && rank < REPLAY_MOST_RANKS && e->rank_count < REPLAY_MOST_RANKS)
            e->ranks[e->rank_count++] = (int)rank;
}

static bool read_flag(json *j, event *e, const char *key)
{
    struct {
        const char *key;
        bool *flag;
    } flags[] = {{"combined", &e->combined},
                 {"of_collective", &e->of_collective},
                 {"unfinished", &e->unfinished},
                 {"failed", &e->failed},
                 {"in_cycle", &e->in_cycle}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].key, key) == 0) return json_bool(j, flags[i].flag);
    return false;
}

static void read_args(json *j, event *e)
{
    char key[40];
    if (!json_object(j)) return;
    while (json_key(j, key, sizeof key)) {
        if (read_field(j, e, inner_fields, sizeof inner_fields / sizeof *inner_fields, key) || read_flag(j, e, key))
            continue;
        e->has_cycle = e->has_cycle || strcmp(key, "cycle") == 0;
        e->has_stuck = e->has_stuck || strcmp(key, "stuck") == 0;
        if (strcmp(key, "cycle") == 0 || strcmp(key, "stuck") == 0 || strcmp(key, "waits_for") == 0)
            read_ranks(j, e);
        else
            json_skip(j);
    }
}

static void clear_event(event *e)
{
    e->ph[0] = e->name[0] = e->cat[0] = e->call[0] = e->text[0] = 0;
    e->file[0] = e->dtype[0] = e->op[0] = e->algorithm[0] = 0;
    e->ts = e->dur = e->tid = e->collective = e->comm = e->looks = e->depth = 0;
    e->id = e->rank = e->peer = e->to = e->from = e->tag = e->bytes = e->chunk = e->offset = e->leaves = e->arrives =
        e->count = e->root = e->line = REPLAY_UNKNOWN;
    e->combined = e->of_collective = e->unfinished = e->failed = e->in_cycle = e->has_cycle = e->has_stuck = false;
    e->rank_count = 0;
}

static bool read_event(json *j, event *e)
{
    char key[40];
    clear_event(e);
    if (!json_object(j)) return false;
    while (json_key(j, key, sizeof key)) {
        if (strcmp(key, "args") == 0)
            read_args(j, e);
        else if (strcmp(key, "id") == 0 && json_next(j) == '0')
            json_number(j, &e->id);
        else if (!read_field(j, e, outer_fields, sizeof outer_fields / sizeof *outer_fields, key))
            json_skip(j);
    }
    return json_fine(j);
}

/* ---- What an event means ---- */

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

/* Of the tracks beside a rank's own: see p2p/trace_json.c. */
static int track_of(const event *e)
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

/* Events of a track stand in the order in which they began, each with the number of those around it. Close what has ended
 * by now; the innermost that is left. */
static int enclosing(reader *r, const event *e, bool waits_count)
{
    const replay_slice *slices = r->trace->slices;
    if (r->tid != e->tid) r->open_count = 0;
    r->tid = e->tid;
    while (r->open_count) {
        int top = r->open[r->open_count - 1];
        if (slices[top].depth < e->depth && (waits_count || slices[top].kind != SLICE_WAIT)) return top;
        r->open_count--;
    }
    return REPLAY_NOBODY;
}

static void add_slice(reader *r, const event *e)
{
    replay_trace *t = r->trace;
    if (!is_rank(e->rank) || ns(e->ts) < 0 || ns(e->dur) < 0) {
        json_fail(&r->j, "a slice without a rank, or with a time that is none");
        return;
    }
    t->slices = grow(r, t->slices, t->slice_count, &r->slice_room, sizeof *t->slices);
    if (r->no_memory) return;
    bool apart = e->ph[0] == 'b'; /* beside the calls, not inside them */
    int parent = apart ? REPLAY_NOBODY : enclosing(r, e, true);
    if (!apart && r->open_count < DEEPEST) r->open[r->open_count++] = (int)t->slice_count;
    t->slices[t->slice_count++] = (replay_slice){.parent = parent,
                                                 .depth = e->depth,
                                                 .order = r->order++,
                                                 .kind = kind_of(e->cat),
                                                 .rank = (int)e->rank,
                                                 .track = track_of(e),
                                                 .start = ns(e->ts),
                                                 .length = ns(e->dur),
                                                 .name = number_of(r, e->name),
                                                 .file = number_of(r, e->file),
                                                 .line = whole(e->line),
                                                 .comm = e->comm,
                                                 .collective = e->collective,
                                                 .count = e->count,
                                                 .dtype = number_of(r, e->dtype),
                                                 .op = number_of(r, e->op),
                                                 .algorithm = number_of(r, e->algorithm),
                                                 .root = whole(e->root),
                                                 .peer = e->peer,
                                                 .bytes = e->bytes,
                                                 .unfinished = e->unfinished,
                                                 .failed = e->failed,
                                                 .looks = e->looks};
}

/* The end of something in the background stands right behind its beginning. */
static void end_background(reader *r, const event *e)
{
    replay_slice *last = r->trace->slice_count ? &r->trace->slices[r->trace->slice_count - 1] : NULL;
    if (last && last->kind == SLICE_BACKGROUND && ns(e->ts) >= last->start) last->length = ns(e->ts) - last->start;
}

static replay_message message_of(reader *r, const event *e, bool sent)
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

static void add_message(reader *r, const event *e)
{
    replay_trace *t = r->trace;
    bool sent = e->ph[0] == 's';
    if (!is_rank(e->rank) || !is_rank(sent ? e->to : e->from) || e->id < 0 || e->bytes < 0 || ns(e->ts) < 0) {
        json_fail(&r->j, "a message without its ranks, its number or its size");
        return;
    }
    if (sent) {
        t->messages = grow(r, t->messages, t->message_count, &r->message_room, sizeof *t->messages);
        if (!r->no_memory) t->messages[t->message_count++] = message_of(r, e, true);
    } else {
        r->ends = grow(r, r->ends, r->end_count, &r->end_room, sizeof *r->ends);
        if (!r->no_memory) r->ends[r->end_count++] = message_of(r, e, false);
    }
}

static void note_rank_end(reader *r, const event *e)
{
    if (!is_rank(e->rank)) return;
    replay_last *last = &r->last[(int)e->rank];
    last->state = number_of(r, e->name);
    last->call = number_of(r, e->call);
    last->in_cycle = e->in_cycle;
    last->waits_count = e->rank_count;
    memcpy(last->waits_for, e->ranks, (size_t)e->rank_count * sizeof *e->ranks);
}

static void note_end(reader *r, const event *e)
{
    replay_trace *t = r->trace;
    t->end_time = ns(e->ts);
    t->end_text = number_of(r, e->text);
    t->is_cycle = e->has_cycle;
    t->cycle_count = e->has_cycle || e->has_stuck ? e->rank_count : 0;
    memcpy(t->cycle, e->ranks, (size_t)t->cycle_count * sizeof *e->ranks);
}

static void take_event(reader *r, const event *e)
{
    bool is_end = strcmp(e->cat, "end") == 0;
    if (e->ph[0] == 'X' || e->ph[0] == 'b') add_slice(r, e);
    if (e->ph[0] == 'e') end_background(r, e);
    if (e->ph[0] == 's' || e->ph[0] == 'f') add_message(r, e);
    if (e->ph[0] == 'i' && is_end && *e->text) note_end(r, e);
    if (e->ph[0] == 'i' && is_end && !*e->text) note_rank_end(r, e);
}

static void read_events(reader *r)
{
    event *e = malloc(sizeof *e);
    if (!e) {
        r->no_memory = true;
        json_fail(&r->j, "no memory");
        return;
    }
    if (json_array(&r->j))
        while (json_element(&r->j))
            if (read_event(&r->j, e)) take_event(r, e);
    free(e);
}

/* ---- The job ---- */

static void read_stats(reader *r)
{
    replay_trace *t = r->trace;
    if (!json_array(&r->j)) return;
    while (json_element(&r->j)) {
        double row[7] = {0}, other;
        size_t columns = 0;
        if (!json_array(&r->j)) return;
        while (json_element(&r->j)) json_number(&r->j, columns < 7 ? &row[columns++] : &other);
        t->stats = grow(r, t->stats, t->stats_count, &r->stats_room, sizeof *t->stats);
        if (!json_fine(&r->j)) return;
        t->stats[t->stats_count++] = (replay_stats){row[0], row[1], row[2], row[3], row[4], row[5], row[6]};
    }
}

static void read_network(reader *r)
{
    char key[40];
    replay_trace *t = r->trace;
    if (!json_object(&r->j)) return;
    while (json_key(&r->j, key, sizeof key)) {
        double value = 0;
        json_number(&r->j, &value);
        if (strcmp(key, "latency_us") == 0) t->latency_us = value;
        if (strcmp(key, "bandwidth") == 0) t->bandwidth = value;
        if (strcmp(key, "combining") == 0) t->combining = value;
    }
}

static void read_word(reader *r, int *number)
{
    char text[TEXT];
    if (json_text(&r->j, text, sizeof text)) *number = number_of(r, text);
}

static void read_job(reader *r)
{
    char key[40], text[TEXT];
    double number = 0;
    replay_trace *t = r->trace;
    if (!json_object(&r->j)) return;
    while (json_key(&r->j, key, sizeof key)) {
        if (strcmp(key, "ranks") == 0) {
            if (json_number(&r->j, &number) && is_rank(number - 1)) t->ranks = (int)number;
        } else if (strcmp(key, "status") == 0) {
            if (json_number(&r->j, &number) && number >= 0 && number < 1e6) t->status = (int)number;
        } else if (strcmp(key, "dropped") == 0) {
            json_number(&r->j, &t->dropped);
        } else if (strcmp(key, "clock") == 0) {
            if (json_text(&r->j, text, sizeof text)) t->is_virtual = strcmp(text, "virtual") == 0;
        } else if (strcmp(key, "world") == 0 || strcmp(key, "program") == 0 || strcmp(key, "outcome") == 0) {
            read_word(r, *key == 'w' ? &t->world : *key == 'p' ? &t->program : &t->outcome);
        } else if (strcmp(key, "network") == 0) {
            read_network(r);
        } else if (strcmp(key, "stats") == 0) {
            read_stats(r);
        } else {
            json_skip(&r->j);
        }
    }
    r->has_job = true;
}

static void read_all(reader *r)
{
    char key[40];
    if (!json_object(&r->j)) return;
    while (json_key(&r->j, key, sizeof key)) {
        if (strcmp(key, "traceEvents") == 0)
            read_events(r);
        else if (strcmp(key, "pairwise") == 0)
            read_job(r);
        else
            json_skip(&r->j);
    }
    json_end(&r->j);
}

/* ---- The two ends of a message ---- */

static int by_id(const void *a, const void *b)
{
    const replay_message *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static int by_sending(const void *a, const void *b)
{
    const replay_message *x = a, *y = b;
    if (x->sent != y->sent) return x->sent < y->sent ? -1 : 1;
    return by_id(a, b);
}

static void join(replay_message *sent, const replay_message *end)
{
    sent->received = end->received < sent->sent ? sent->sent : end->received;
    sent->arrives = end->arrives;
    sent->chunk_to = end->chunk_to;
    sent->offset_to = end->offset_to;
    sent->combined = end->combined;
    sent->received_track = end->received_track;
    sent->received_in = end->received_in;
    sent->received_order = end->received_order;
}

static bool is_same_message(const replay_message *sent, const replay_message *end)
{
    return sent->id == end->id && sent->from == end->from && sent->to == end->to && sent->bytes == end->bytes;
}

static bool put_together(reader *r)
{
    replay_trace *t = r->trace;
    size_t s = 0, alone = 0;
    if (t->message_count) qsort(t->messages, t->message_count, sizeof *t->messages, by_id);
    if (r->end_count) qsort(r->ends, r->end_count, sizeof *r->ends, by_id);
    for (size_t e = 0; e < r->end_count; e++) {
        while (s < t->message_count && t->messages[s].id < r->ends[e].id) s++;
        if (s < t->message_count && is_same_message(&t->messages[s], &r->ends[e]))
            join(&t->messages[s], &r->ends[e]);
        else
            alone++;
    }
    if (t->message_count) qsort(t->messages, t->message_count, sizeof *t->messages, by_sending);
    return alone == 0 || t->dropped > 0;
}

/* ---- The whole ---- */

static const char *check(const reader *r)
{
    const replay_trace *t = r->trace;
    if (!r->has_job || !t->ranks) return "this is not a trace of Pairwise: launch --trace FILE writes one";
    for (size_t i = 0; i < t->slice_count; i++)
        if (t->slices[i].rank >= t->ranks) return "it has events of a rank that is not there";
    for (size_t i = 0; i < t->message_count; i++)
        if (t->messages[i].from >= t->ranks || t->messages[i].to >= t->ranks)
            return "it has messages of a rank that is not there";
    return NULL;
}

static char *read_file(const char *path, size_t *bytes, char *why, size_t why_bytes)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t room = 0, used = 0;
    while (file && !ferror(file) && !feof(file)) {
        if (used == room) {
            char *grown = realloc(text, room ? 2 * room : 1 << 16);
            if (!grown) break;
            text = grown;
            room = room ? 2 * room : 1 << 16;
        }
        used += fread(text + used, 1, room - used, file);
    }
    bool fine = file && feof(file) && !ferror(file);
    if (!fine) {
        snprintf(why, why_bytes, "%s: %s", path, errno ? strerror(errno) : "it cannot be read");
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    *bytes = used;
    return text;
}

static bool read_and_check(reader *r, const char *path, char *why, size_t why_bytes)
{
    replay_trace *t = r->trace;
    r->last = calloc(REPLAY_MOST_RANKS, sizeof *r->last);
    if (r->last) read_all(r);
    if (!r->last || r->no_memory) {
        snprintf(why, why_bytes, "%s: no memory to read it", path);
        return false;
    }
    const char *problem = json_fine(&r->j) ? check(r) : r->j.error;
    if (!problem && !put_together(r)) problem = "it has messages that were received and never sent";
    if (problem) {
        snprintf(why, why_bytes, "%s: %s", path, problem);
        return false;
    }
    if (t->end_time != REPLAY_UNKNOWN) {
        t->last = r->last;
        r->last = NULL;
    }
    return true;
}

bool replay_read_text(const char *text, size_t bytes, const char *name, replay_trace *trace, char *why,
                      size_t why_bytes)
{
    *trace = (replay_trace){.world = REPLAY_UNKNOWN,
                            .program = REPLAY_UNKNOWN,
                            .outcome = REPLAY_UNKNOWN,
                            .end_text = REPLAY_UNKNOWN,
                            .end_time = REPLAY_UNKNOWN};
    reader r = {.trace = trace};
    json_open(&r.j, text, bytes);
    bool fine = read_and_check(&r, name, why, why_bytes);
    free(r.last);
    free(r.ends);
    if (!fine) replay_free(trace);
    return fine;
}

bool replay_read(const char *path, replay_trace *trace, char *why, size_t why_bytes)
{
    size_t bytes;
    errno = 0;
    char *text = read_file(path, &bytes, why, why_bytes);
    bool fine = text && replay_read_text(text, bytes, path, trace, why, why_bytes);
    free(text);
    return fine;
}

void replay_free(replay_trace *trace)
{
    for (size_t i = 0; i < trace->text_count; i++) free(trace->texts[i]);
    free(trace->texts);
    free(trace->slices);
    free(trace->messages);
    free(trace->stats);
    free(trace->last);
    *trace = (replay_trace){.ranks = 0};
}
