/* SPDX-License-Identifier: MIT */
/*
 * json: a cursor over JSON text, just enough for the header of a safetensors file: objects, arrays, strings, whole
 * numbers. It never reads past the end, and the first thing it does not expect stops it: `wrong` then stays at that
 * byte, and every later call does nothing.
 */
#ifndef PAIRWISE_TRAINER_JSON_H
#define PAIRWISE_TRAINER_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *text;
    size_t length, at;
    bool failed;
    size_t wrong; /* where, if failed */
} train_json;

/* Skip blanks; is this the next character? If so, step over it. */
bool train__json_next(train_json *json, char c);

/* Skip blanks; where the next character stands. */
size_t train__json_place(train_json *json);

/* It must be: else failed. */
void train__json_expect(train_json *json, char c);

/* A string of fewer than `room` bytes, its escapes resolved, in UTF-8; anything above ASCII is copied as it is. */
void train__json_string(train_json *json, char *out, size_t room);

/* A number of digits only, that fits. */
uint64_t train__json_number(train_json *json);

/* Is nothing left but blanks? */
bool train__json_end(train_json *json);

#endif
