/* SPDX-License-Identifier: MIT */
/* Reading a trace: one event after the other, and then the two ends of every message put together. */
#include "replay/trace.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/reader.h"

/* ---- Memory ---- */

static int no_memory(replay_reader *r)
{
    r->no_memory = true;
    json_fail(&r->j, "no memory");
    return REPLAY_UNKNOWN;
}

void *replay__grow(replay_reader *r, void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room) return list;
    size_t more = *room ? 2 * *room : 256;
    void *grown = realloc(list, more * bytes);
    if (!grown) {
        no_memory(r);
        return list;
    }
    *room = more;
    return grown;
}

/* A text and its number, as tsearch keeps them. */
typedef struct {
    const char *text;
    int number;
} numbered;

static int by_text(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    return strcmp(x->text, y->text);
}

int replay__number_of(replay_reader *r, const char *text)
{
    replay_trace *t = r->trace;
    numbered wanted = {.text = text};
    if (!*text) return REPLAY_UNKNOWN;
    numbered **known = tfind(&wanted, &r->numbers, by_text);
    if (known) return (*known)->number;
    t->texts = replay__grow(r, t->texts, t->text_count, &r->text_room, sizeof *t->texts);
    numbered *added = r->no_memory ? NULL : malloc(sizeof *added);
    char *copy = added ? strdup(text) : NULL;
    if (added) *added = (numbered){copy, (int)t->text_count};
    if (!copy || !tsearch(added, &r->numbers, by_text)) {
        free(copy);
        free(added);
        return no_memory(r);
    }
    t->texts[t->text_count] = copy;
    return (int)t->text_count++;
}

const char *replay_text(const replay_trace *trace, int number)
{
    return number >= 0 && (size_t)number < trace->text_count ? trace->texts[number] : "";
}

/* ---- Events ---- */

static void read_events(replay_reader *r)
{
    replay_event *e = malloc(sizeof *e);
    if (!e) {
        no_memory(r);
        return;
    }
    if (json_array(&r->j))
        while (json_element(&r->j))
            if (replay__read_event(&r->j, e)) replay__take_event(r, e);
    free(e);
}

/* ---- The job ---- */

static void read_stats(replay_reader *r)
{
    replay_trace *t = r->trace;
    if (!json_array(&r->j)) return;
    while (json_element(&r->j)) {
        double row[7] = {0}, other;
        size_t columns = 0;
        if (!json_array(&r->j)) return;
        while (json_element(&r->j)) json_number(&r->j, columns < 7 ? &row[columns++] : &other);
        t->stats = replay__grow(r, t->stats, t->stats_count, &r->stats_room, sizeof *t->stats);
        if (!json_fine(&r->j)) return;
        t->stats[t->stats_count++] = (replay_stats){row[0], row[1], row[2], row[3], row[4], row[5], row[6]};
    }
}

static void read_network(replay_reader *r)
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

static void read_word(replay_reader *r, int *number)
{
    char text[REPLAY_TEXT];
    if (json_text(&r->j, text, sizeof text)) *number = replay__number_of(r, text);
}

static void read_job(replay_reader *r)
{
    char key[40], text[REPLAY_TEXT];
    double number = 0;
    replay_trace *t = r->trace;
    if (!json_object(&r->j)) return;
    while (json_key(&r->j, key, sizeof key)) {
        if (strcmp(key, "ranks") == 0) {
            if (json_number(&r->j, &number) && number >= 1 && number <= REPLAY_MOST_RANKS) t->ranks = (int)number;
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

static void read_all(replay_reader *r)
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

static bool put_together(replay_reader *r)
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

static bool are_there(const int *ranks, int count, int size)
{
    for (int i = 0; i < count; i++)
        if (ranks[i] >= size) return false;
    return true;
}

static const char *check(const replay_reader *r)
{
    const replay_trace *t = r->trace;
    if (!r->has_job || !t->ranks) return "this is not a trace of Pairwise: launch --trace FILE writes one";
    for (size_t i = 0; i < t->slice_count; i++)
        if (t->slices[i].rank >= t->ranks) return "it has events of a rank that is not there";
    for (size_t i = 0; i < t->message_count; i++)
        if (t->messages[i].from >= t->ranks || t->messages[i].to >= t->ranks)
            return "it has messages of a rank that is not there";
    bool known = are_there(t->cycle, t->cycle_count, t->ranks);
    for (int i = 0; i < t->ranks; i++)
        known = known && are_there(r->last[i].waits_for, r->last[i].waits_count, t->ranks);
    return known ? NULL : "it waits for a rank that is not there";
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

static bool read_and_check(replay_reader *r, const char *path, char *why, size_t why_bytes)
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
    replay_reader r = {.trace = trace};
    json_open(&r.j, text, bytes);
    bool fine = read_and_check(&r, name, why, why_bytes);
    tdestroy(r.numbers, free);
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
