/* SPDX-License-Identifier: MIT */
#include "replay/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 40, LONGEST_NUMBER = 60 };

void json_open(json *j, const char *text, size_t bytes)
{
    *j = (json){.start = text, .at = text, .end = text + bytes};
}

bool json_fine(const json *j)
{
    return !j->error[0];
}

static size_t line_of(const json *j)
{
    size_t line = 1;
    for (const char *at = j->start; at < j->at; at++) line += *at == '\n';
    return line;
}

bool json_fail(json *j, const char *why)
{
    if (!json_fine(j)) return false;
    if (j->at >= j->end)
        snprintf(j->error, sizeof j->error, "it ends in the middle, in line %zu: was it cut short?", line_of(j));
    else
        snprintf(j->error, sizeof j->error, "line %zu: %s", line_of(j), why);
    return false;
}

static char peek(json *j)
{
    while (j->at < j->end && (*j->at == ' ' || *j->at == '\n' || *j->at == '\r' || *j->at == '\t')) j->at++;
    return j->at < j->end ? *j->at : 0;
}

char json_next(json *j)
{
    char c = json_fine(j) ? peek(j) : 0;
    if (c == '-' || (c >= '0' && c <= '9')) return '0';
    if (c == 'f') return 't';
    return c == '{' || c == '[' || c == '"' || c == 't' || c == 'n' ? c : 0;
}

static bool take(json *j, char c, const char *why)
{
    if (!json_fine(j)) return false;
    if (peek(j) != c) return json_fail(j, why);
    j->at++;
    return true;
}

/* ---- Objects and arrays ---- */

bool json_object(json *j)
{
    j->first = true;
    return take(j, '{', "expected an object");
}

bool json_array(json *j)
{
    j->first = true;
    return take(j, '[', "expected an array");
}

/* Is there another member? Takes the comma before it, or the bracket behind the last one. */
static bool more(json *j, char close)
{
    if (!json_fine(j)) return false;
    bool first = j->first;
    j->first = false; /* also for what encloses this one, once it is closed */
    if (peek(j) == close) {
        j->at++;
        return false;
    }
    return first || take(j, ',', "expected a comma, or the end of what was begun");
}

bool json_key(json *j, char *key, size_t bytes)
{
    return more(j, '}') && json_text(j, key, bytes) && take(j, ':', "expected a colon");
}

bool json_element(json *j)
{
    return more(j, ']');
}

/* ---- Values ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Text that grows as far as there is room: whole characters only, and a NUL behind them. */
typedef struct {
    char *text;
    size_t used, room;
} target;

static void put(target *to, const char *bytes, size_t count)
{
    if (!to->room || to->used + count >= to->room) {
        to->room = 0; /* nothing more, or the text would have a gap */
        return;
    }
    memcpy(to->text + to->used, bytes, count);
    to->used += count;
    to->text[to->used] = 0;
}

static void put_code(target *to, unsigned code)
{
    char c[3] = {(char)code};
    if (code < 0x80) {
        put(to, c, 1);
    } else if (code < 0x800) {
        c[0] = (char)(0xc0 | code >> 6), c[1] = (char)(0x80 | (code & 0x3f));
        put(to, c, 2);
    } else {
        c[0] = (char)(0xe0 | code >> 12), c[1] = (char)(0x80 | (code >> 6 & 0x3f)), c[2] = (char)(0x80 | (code & 0x3f));
        put(to, c, 3);
    }
}

static bool unicode(json *j, target *to)
{
    unsigned code = 0;
    if (j->end - j->at < 4) {
        j->at = j->end;
        return json_fail(j, "");
    }
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(*j->at);
        if (digit < 0) return json_fail(j, "\\u is followed by four hexadecimal digits");
        code = code * 16 + (unsigned)digit;
        j->at++;
    }
    put_code(to, code >= 0xd800 && code <= 0xdfff ? 0xfffd : code ? code : 0xfffd);
    return true;
}

static bool escape(json *j, target *to)
{
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (j->at >= j->end) return json_fail(j, "");
    char c = *j->at;
    if (c == 'u') {
        j->at++;
        return unicode(j, to);
    }
    const char *found = c ? strchr(names, c) : NULL;
    if (!found) return json_fail(j, "a backslash is followed by something unknown");
    put(to, &meant[found - names], 1);
    j->at++;
    return true;
}

bool json_text(json *j, char *text, size_t bytes)
{
    target to = {text, 0, bytes};
    if (bytes) *text = 0;
    if (!take(j, '"', "expected a text")) return false;
    while (j->at < j->end && *j->at != '"') {
        unsigned char c = (unsigned char)*j->at;
        if (c < 0x20) return json_fail(j, "a text is not closed in its line");
        if (c == '\\') {
            j->at++;
            if (!escape(j, &to)) return false;
            continue;
        }
        const char *from = j->at++;
        while (j->at < j->end && ((unsigned char)*j->at & 0xc0) == 0x80) j->at++;
        put(&to, from, (size_t)(j->at - from));
    }
    return take(j, '"', "expected the end of a text");
}

bool json_number(json *j, double *number)
{
    char copy[LONGEST_NUMBER + 1], *end;
    size_t length = 0;
    if (json_next(j) != '0') return json_fail(j, "expected a number");
    while (length < LONGEST_NUMBER && j->at + length < j->end && strchr("+-.eE0123456789", j->at[length]) &&
           j->at[length])
        length++;
    memcpy(copy, j->at, length);
    copy[length] = 0;
    *number = strtod(copy, &end);
    if (end == copy || *end || !isfinite(*number)) return json_fail(j, "a number is not one, or too large");
    j->at += length;
    return j->at < j->end || json_fail(j, "");
}

static bool word(json *j, const char *expected)
{
    size_t length = strlen(expected), left = (size_t)(j->end - j->at);
    if (left < length && memcmp(j->at, expected, left) == 0) j->at = j->end;
    if (left < length || memcmp(j->at, expected, length) != 0) return json_fail(j, "expected a value");
    j->at += length;
    return true;
}

bool json_bool(json *j, bool *value)
{
    if (json_next(j) != 't') return json_fail(j, "expected true or false");
    *value = *j->at == 't';
    return word(j, *value ? "true" : "false");
}

static bool skip(json *j, int depth)
{
    double number;
    bool value;
    if (depth > DEEPEST) return json_fail(j, "too many brackets inside each other");
    switch (json_next(j)) {
    case '{':
        if (json_object(j))
            while (json_key(j, NULL, 0)) skip(j, depth + 1);
        break;
    case '[':
        if (json_array(j))
            while (json_element(j)) skip(j, depth + 1);
        break;
    case '"': json_text(j, NULL, 0); break;
    case '0': json_number(j, &number); break;
    case 't': json_bool(j, &value); break;
    case 'n': word(j, "null"); break;
    default: json_fail(j, "expected a value");
    }
    return json_fine(j);
}

bool json_skip(json *j)
{
    return skip(j, 0);
}

bool json_end(json *j)
{
    if (!json_fine(j)) return false;
    return peek(j) == 0 && j->at >= j->end ? true : json_fail(j, "there is something behind the end");
}
