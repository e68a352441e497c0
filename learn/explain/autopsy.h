/* SPDX-License-Identifier: MIT */
/* autopsy: what the files that explain the end of a world share. */
#ifndef PAIRWISE_LEARN_AUTOPSY_H
#define PAIRWISE_LEARN_AUTOPSY_H

#include "learn/inside.h"

typedef struct {
    int rank; /* who printed it; -1: the supervisor */
    const char *text;
} learn_line;

/* What a world left on standard error. */
typedef struct {
    const learn_world *w;
    const check_case *c; /* in which it ended, or NULL */
    char *text;
    learn_line *lines;
    size_t count;
} learn_remains;

/* The first line of that rank that holds the text, from *index on (NULL: from the first): where in it, and *index becomes
 * its number. NULL if there is none. */
const char *learn_find_line(const learn_remains *r, int rank, const char *text, size_t *index);

/* Each explains one kind of end: false if it was another. dead: the rank that died first, or -1. */
bool learn_say_sanitizer(const learn_remains *r, int dead, learn_result *result);
/* The learner's line, "broadcast.c:17", in the stack that a rank printed behind this line; it is noted in the result too. */
bool learn_place_at(const learn_remains *r, size_t line, learn_result *result, char *place, size_t bytes);
bool learn_say_deadlock(const learn_remains *r, learn_result *result);
bool learn_say_error(const learn_remains *r, learn_result *result);

/* ---- report.c: findings and their places, docs/reports.md ---- */

const char *learn_field(const json_t *of, const char *key); /* "" if it is not there */
bool learn_field_is(const json_t *of, const char *key, const char *value);
int learn_field_number(const json_t *of, const char *key); /* -1 if it is not there, or null */
/* The first place with this role; NULL if there is none. Is it a call of the checker's own? */
const json_t *learn_place_with(const json_t *finding, const char *role);
bool learn_is_checkers(const json_t *place);
void learn_add_call(learn_text *t, const json_t *place, bool with_line);
/* If it is in one of the learner's files, note it in the result. */
void learn_note_place(learn_result *result, const learn_exercise *e, const json_t *place);

#endif
