/* SPDX-License-Identifier: MIT */
/*
 * json: a reader that goes once through a text in memory, no tree. The caller asks for the value that it expects; the
 * first value that is not as expected is remembered with its line, and every later call fails too. Nesting is bounded.
 */
#ifndef PAIRWISE_REPLAY_JSON_H
#define PAIRWISE_REPLAY_JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *start, *at, *end;
    bool first; /* in the innermost array or object: nothing has been read yet */
    char error[160];
} json;

/* The text must stay as long as the reader. It need not end with a NUL. */
void json_open(json *j, const char *text, size_t bytes);

/* Walk through an object: `if (json_object(j)) while (json_key(j, key, sizeof key)) ... read the value ...`; a key that
 * is longer than there is room for is cut. The same for arrays. Every value must be read or skipped. */
bool json_object(json *j);
bool json_key(json *j, char *key, size_t bytes);
bool json_array(json *j);
bool json_element(json *j);

/* A text, its escapes undone, cut if there is no room; a number; true or false; any value at all. */
bool json_text(json *j, char *text, size_t bytes);
bool json_number(json *j, double *number);
bool json_bool(json *j, bool *value);
bool json_skip(json *j);

/* The next value is one of these: '{', '[', '"', '0' (a number), 't' (true or false), 'n'; 0 for something else. */
char json_next(json *j);

/* Nothing but space is left. */
bool json_end(json *j);

/* Fail, unless something has failed before. Returns false. */
bool json_fail(json *j, const char *why);
bool json_fine(const json *j);

#endif
