/* SPDX-License-Identifier: MIT */
/* An event of a trace, as it stands in the file: its fields, in any order, and others that are skipped. */
#include <stddef.h>
#include <string.h>

#include "replay/reader.h"

/* ---- Fields ---- */

typedef struct {
    const char *key;
    size_t offset, bytes; /* bytes: of a text; 0: a number */
} field;

#define TEXT_FIELD(name)                                                       \
    {                                                                          \
#name, offsetof(replay_event, name), sizeof(((replay_event *)0)->name) \
    }
#define NUMBER_FIELD(name)                     \
    {                                          \
#name, offsetof(replay_event, name), 0 \
    }

static const field outer_fields[] = {TEXT_FIELD(ph),   TEXT_FIELD(name),  TEXT_FIELD(cat),
                                     NUMBER_FIELD(ts), NUMBER_FIELD(dur), NUMBER_FIELD(tid)};

static const field inner_fields[] = {
    TEXT_FIELD(call),     TEXT_FIELD(function),     TEXT_FIELD(text),    TEXT_FIELD(file),    TEXT_FIELD(dtype),
    TEXT_FIELD(op),       TEXT_FIELD(algorithm),    NUMBER_FIELD(rank),  NUMBER_FIELD(peer),  NUMBER_FIELD(to),
    NUMBER_FIELD(from),   NUMBER_FIELD(tag),        NUMBER_FIELD(bytes), NUMBER_FIELD(chunk), NUMBER_FIELD(offset),
    NUMBER_FIELD(leaves), NUMBER_FIELD(arrives),    NUMBER_FIELD(comm),  NUMBER_FIELD(count), NUMBER_FIELD(root),
    NUMBER_FIELD(line),   NUMBER_FIELD(collective), NUMBER_FIELD(polls), NUMBER_FIELD(depth), NUMBER_FIELD(chosen),
};

/* True if the key was one of these; its value is read, or skipped if it is of another kind ("any" for a peer). */
static bool read_field(json *j, replay_event *e, const field *fields, size_t count, const char *key)
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

static void read_ranks(json *j, replay_event *e)
{
    double rank;
    e->rank_count = 0;
    if (!json_array(j)) return;
    while (json_element(j))
        if (json_number(j, &rank) && rank >= 0 && rank < REPLAY_MOST_RANKS && e->rank_count < REPLAY_MOST_RANKS)
            e->ranks[e->rank_count++] = (int)rank;
}

static bool read_flag(json *j, replay_event *e, const char *key)
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

static void read_args(json *j, replay_event *e)
{
    char key[40];
    if (!json_object(j)) return;
    while (json_key(j, key, sizeof key)) {
        if (read_field(j, e, inner_fields, sizeof inner_fields / sizeof *inner_fields, key) || read_flag(j, e, key))
            continue;
        e->has_cycle = e->has_cycle || strcmp(key, "cycle") == 0;
        e->has_stuck = e->has_stuck || strcmp(key, "stuck") == 0;
        if (strcmp(key, "cycle") == 0 || strcmp(key, "stuck") == 0 || strcmp(key, "waits_for") == 0 ||
            strcmp(key, "options") == 0)
            read_ranks(j, e);
        else
            json_skip(j);
    }
}

static void clear_texts(replay_event *e, const field *fields, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].bytes) ((char *)e)[fields[i].offset] = 0;
}

/* Fields of the event before, which this one may not have. */
static void clear_event(replay_event *e)
{
    clear_texts(e, outer_fields, sizeof outer_fields / sizeof *outer_fields);
    clear_texts(e, inner_fields, sizeof inner_fields / sizeof *inner_fields);
    e->ts = e->dur = e->tid = e->collective = e->comm = e->polls = e->depth = 0;
    e->id = e->rank = e->peer = e->to = e->from = e->tag = e->bytes = e->chunk = e->offset = e->leaves = e->arrives =
        e->count = e->root = e->line = e->chosen = REPLAY_UNKNOWN;
    e->combined = e->of_collective = e->unfinished = e->failed = e->in_cycle = e->has_cycle = e->has_stuck = false;
    e->rank_count = 0;
}

bool replay__read_event(json *j, replay_event *e)
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
