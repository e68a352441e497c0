/* SPDX-License-Identifier: MIT */
#include "trainer/json.h"

static void stop(train_json *json)
{
    if (!json->failed) json->wrong = json->at;
    json->failed = true;
}

static int peek(train_json *json)
{
    return !json->failed && json->at < json->length ? (unsigned char)json->text[json->at] : -1;
}

static void skip_blanks(train_json *json)
{
    for (int c = peek(json); c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = peek(json)) json->at++;
}

bool train__json_next(train_json *json, char c)
{
    skip_blanks(json);
    if (peek(json) != (unsigned char)c) return false;
    json->at++;
    return true;
}

size_t train__json_place(train_json *json)
{
    skip_blanks(json);
    return json->at;
}

void train__json_expect(train_json *json, char c)
{
    if (!train__json_next(json, c)) stop(json);
}

static unsigned hex_digit(train_json *json)
{
    int c = peek(json);
    json->at++;
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A' + 10);
    json->at--;
    stop(json);
    return 0;
}

/* What stands behind a backslash. From \u only ASCII is accepted: names and numbers are ASCII. */
static char escaped(train_json *json)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = peek(json);
    for (size_t i = 0; from[i]; i++) {
        if (c != from[i]) continue;
        json->at++;
        return to[i];
    }
    unsigned code = 0;
    train__json_expect(json, 'u');
    for (int i = 0; i < 4; i++) code = code * 16 + hex_digit(json);
    if (code == 0 || code > 127) stop(json);
    return (char)code;
}

void train__json_string(train_json *json, char *out, size_t room)
{
    size_t used = 0;
    train__json_expect(json, '"');
    while (!json->failed) {
        int c = peek(json);
        if (c == '"') break;
        if (c < ' ' || used + 1 >= room) {
            stop(json);
            break;
        }
        json->at++;
        out[used++] = c == '\\' ? escaped(json) : (char)c;
    }
    out[used] = '\0';
    if (!json->failed) json->at++;
}

uint64_t train__json_number(train_json *json)
{
    uint64_t value = 0;
    skip_blanks(json);
    size_t first = json->at;
    for (int c = peek(json); c >= '0' && c <= '9'; c = peek(json)) {
        unsigned digit = (unsigned)(c - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            stop(json);
            return 0;
        }
        value = value * 10 + digit;
        json->at++;
    }
    if (json->at == first) stop(json);
    return value;
}

bool train__json_end(train_json *json)
{
    skip_blanks(json);
    return !json->failed && json->at == json->length;
}
