/* SPDX-License-Identifier: MIT */
/* What the launcher found wrong in a world (docs/reports.md), field by field; and the errors that ended one. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

const char *learn_field(const json_t *of, const char *key)
{
    const char *text = json_string_value(json_object_get(of, key));
    return text ? text : "";
}

bool learn_field_is(const json_t *of, const char *key, const char *value)
{
    return strcmp(learn_field(of, key), value) == 0;
}

int learn_field_number(const json_t *of, const char *key)
{
    const json_t *number = json_object_get(of, key);
    return json_is_integer(number) ? (int)json_integer_value(number) : -1;
}

const json_t *learn_place_with(const json_t *finding, const char *role)
{
    const json_t *place;
    for (size_t i = 0; (place = json_array_get(json_object_get(finding, "places"), i)); i++)
        if (learn_field_is(place, "role", role)) return place;
    return NULL;
}

bool learn_is_checkers(const json_t *place)
{
    const char *file = learn_field(place, "file"), *slash = strrchr(file, '/');
    return slash && strcmp(slash, "/check_rank.c") == 0;
}

void learn_add_call(learn_text *t, const json_t *place, bool with_line)
{
    learn_add(t, "%s", learn_field(place, "text"));
    if (with_line && *learn_field(place, "file"))
        learn_add(t, " at %s:%d", learn_field(place, "file"), learn_field_number(place, "line"));
}

void learn_note_line(learn_result *result, const learn_exercise *e, const char *path, int line)
{
    for (const char *const *file = e->check->files; *file; file++) {
        if (strcmp(basename(path), *file) != 0) continue;
        result->line = line;
        snprintf(result->file, sizeof result->file, "%s", *file);
    }
}

void learn_note_tools_line(learn_result *result, const learn_exercise *e, const char *place)
{
    size_t length = strcspn(place, ":");
    OWNED char *path = learn_format("%.*s", (int)length, place);
    if (place[length]) learn_note_line(result, e, path, atoi(place + length + 1));
}

void learn_note_place(learn_result *result, const learn_exercise *e, const json_t *place)
{
    learn_note_line(result, e, learn_field(place, "file"), learn_field_number(place, "line"));
}

/* ---- Errors that ended a world: what Pairwise told a rank, or all of them ---- */

#define LEAK "leak"
#define UNFREED "unfreed"
#define MISMATCH "mismatch"

/* The key of a finding, and advice for exercises that have none of their own. */
typedef struct {
    const char *class, *argument, *key, *advice;
} kind;

static const kind kinds[] = {
    {"truncation", "", "error.length",
     "The receiver's number of bytes is the room for a message, so it is at least the sender's. Print both: which of "
     "the two is not what you meant?"},
    {"invalid_argument", "rank", "error.rank",
     "Ranks are 0 to size - 1. Where does this number come from, and on which rank does it leave that range?"},
    {"buffer_conflict", "overlap", "error.overlap",
     "What is sent and what is received at the same time needs two buffers."},
    {"lost_message", "", LEAK, NULL},
    {"request_leak", "", LEAK, NULL},
    {"resource_leak", "", UNFREED,
     "What p2p_dup and p2p_split have made is ended by p2p_free, what comes from p2p_alloc by p2p_release: on every "
     "way out of the function, also where an error is returned."},
    {"collective_mismatch", "", MISMATCH, NULL},
    {"root_mismatch", "", MISMATCH, NULL},
    {"operator_mismatch", "", MISMATCH, NULL},
    {"type_mismatch", "", MISMATCH, NULL},
    {"count_mismatch", "", MISMATCH, NULL},
    {"algorithm_mismatch", "", MISMATCH, NULL}};

static const kind *kind_of(const json_t *finding)
{
    static const kind other = {"", "", "error", NULL};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (learn_field_is(finding, "class", kinds[i].class) &&
            (!*kinds[i].argument || learn_field_is(finding, "argument", kinds[i].argument)))
            return &kinds[i];
    return &other;
}

bool learn_say_error(const learn_remains *r, learn_result *result)
{
    const json_t *finding;
    for (size_t i = 0; (finding = json_array_get(r->w->findings, i)); i++) {
        const json_t *place = learn_place_with(finding, "call");
        const char *text = learn_field(finding, "text");
        const kind *is = kind_of(finding);
        int length = (int)strcspn(text, "\n");
        if (!place || !*text || learn_field_is(finding, "reason", "abort")) continue;
        learn_note_place(result, r->w->e, place);
        if (learn_is_checkers(place) && strcmp(is->key, LEAK) != 0 && strcmp(is->key, UNFREED) != 0)
            learn_fail(result, "crash", "", /* the learner's code has done something to the links between the ranks */
                       "After %s has returned, rank %d cannot go on (%s). Does your code write to descriptors that it "
                       "has not opened, or close them?",
                       learn_call_of(r->w->e, r->c), learn_field_number(place, "rank"), learn_field(finding, "class"));
        else
            learn_fail(result, is->key, "", "%s%c%.*s.",
                       strcmp(is->key, MISMATCH) == 0 ? "The ranks do not mean the same collective. " : "",
                       toupper((unsigned char)*text), length - 1, text + 1);
        learn_set_advice(result, is->advice ? is->advice : learn_field(finding, "try"));
        return true;
    }
    return false;
}
