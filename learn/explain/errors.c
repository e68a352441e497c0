/* SPDX-License-Identifier: MIT */
/*
 * Errors that ended a world: what Pairwise told a rank, "pairwise: rank 2: p2p_recv(source 0, tag 1) at broadcast.c:17: too
 * long", or all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

static bool is_leak(const char *text)
{
    return strstr(text, "unreceived message") || strstr(text, "never waited for") || strstr(text, "never freed");
}

/* An error in one of the checker's own calls: the learner's code has done something to the links between the ranks. */
static bool say_damage(const learn_remains *r, int rank, const char *text, learn_result *result)
{
    const char *call = strstr(text, "check_rank.c:"), *cause = call ? strstr(call, ": ") : NULL;
    if (!cause || is_leak(text)) return false;
    cause += 2;
    char *broke =
        learn_format("After %s has returned, rank %d cannot go on: %.*s. Does your code write to descriptors that "
                     "it has not opened, or close them?",
                     learn_call_of(r), rank, (int)strcspn(cause, ":"), cause);
    learn_fail(result, "crash", "", broke);
    free(broke);
    return true;
}

/* What Pairwise says, the key, and advice for exercises that have none of their own. */
static const char *const kinds[][3] = {
    {"does not fit into a buffer", "error.length",
     "The receiver's number of bytes is the room for a message, so it is at least the sender's. Print both: which of "
     "the two "
     "is not what you meant?"},
    {"is not a rank", "error.rank",
     "Ranks are 0 to size - 1. Where does this number come from, and on which rank does it leave that range?"},
    {"receive buffer overlap", "error.overlap",
     "What is sent and what is received at the same time needs two buffers."},
    {"", "error", NULL}};

static const char *const *kind_of(const char *text)
{
    size_t i = 0;
    while (!strstr(text, kinds[i][0])) i++;
    return kinds[i];
}

/* "pairwise: mismatch: coll_all_reduce #1: rank 0 has op max at toy_model.c:10, rank 1 has op sum at toy_model.c:10" */
static bool say_mismatch(const learn_remains *r, learn_result *result)
{
    size_t line = 0;
    const char *found = learn_find_line(r, -1, "pairwise: mismatch: ", &line), *advice;
    if (!found) return false;
    learn_note_place(result, r->w->e, found);
    char *broke = learn_format("The ranks do not mean the same collective: %s.",
                               found + strlen("pairwise: mismatch: "));
    learn_fail(result, "mismatch", "", broke);
    free(broke);
    advice = learn_find_line(r, -1, "  try: ", &line);
    if (advice) learn_set_advice(result, advice + strlen("  try: "));
    return true;
}

bool learn_say_error(const learn_remains *r, learn_result *result)
{
    if (say_mismatch(r, result)) return true;
    for (size_t i = 0; i < r->count; i++) {
        int rank, length = 0;
        const char *text = r->lines[i].text;
        if (r->lines[i].rank < 0 || sscanf(text, "pairwise: rank %d: %n", &rank, &length) != 1 || !length) continue;
        learn_note_place(result, r->w->e, text);
        if (say_damage(r, rank, text, result)) return true;
        char *broke = learn_format("Rank %d: %s.", rank, text + length);
        const char *const *kind = kind_of(text);
        learn_fail(result, is_leak(text) ? "leak" : kind[1], "", broke);
        free(broke);
        if (kind[2]) learn_set_advice(result, kind[2]);
        size_t next = i;
        const char *advice = learn_find_line(r, r->lines[i].rank, "  try: ", &next);
        if (advice && next <= i + 4 && !kind[2]) learn_set_advice(result, advice + strlen("  try: "));
        return true;
    }
    return false;
}
