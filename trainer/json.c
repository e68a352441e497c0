/* SPDX-License-Identifier: MIT */
#include "trainer/json.h"

#include <string.h>

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

enum { REPLACEMENT = 0xfffd, LONGEST_UTF8 = 4 };

static unsigned four_digits(train_json *json)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) code = code * 16 + hex_digit(json);
    return code;
}

/* Behind \u. Above 0xffff a character is written as two, the second of which is one of 0xdc00 and so on; one without the other
 * stands for none. A 0 would end the string. */
static unsigned code_point(train_json *json)
{
    unsigned code = four_digits(json);
    if (code == 0) stop(json);
    if (code < 0xd800 || code > 0xdfff) return code;
    size_t behind = json->at;
    bool follows = behind + 1 < json->length && json->text[behind] == '\\' && json->text[behind + 1] == 'u';
    if (code > 0xdbff || !follows) return REPLACEMENT;
    json->at += 2;
    unsigned low = four_digits(json);
    if (low >= 0xdc00 && low <= 0xdfff) return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    json->at = behind;
    return REPLACEMENT;
}

static size_t put_utf8(unsigned code, char out[LONGEST_UTF8])
{
    static const unsigned char leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = length; i-- > 1; code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(leads[length == 1 ? 0 : length] | code);
    return length;
}

/* What stands behind a backslash; returns its bytes, which are fewer than it is written with. */
static size_t escaped(train_json *json, char out[LONGEST_UTF8])
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int c = peek(json);
    for (size_t i = 0; from[i]; i++) {
        if (c != from[i]) continue;
        json->at++;
        out[0] = to[i];
        return 1;
    }
    if (c != 'u') {
        stop(json);
        return 0;
    }
    json->at++;
    return put_utf8(code_point(json), out);
}

void train__json_string(train_json *json, char *out, size_t room)
{
    size_t used = 0;
    train__json_expect(json, '"');
    while (!json->failed) {
        int c = peek(json);
        char character[LONGEST_UTF8] = {(char)c};
        if (c == '"') break;
        if (c >= ' ') json->at++;
        size_t length = c == '\\' ? escaped(json, character) : 1;
        if (c < ' ' || used + length >= room) {
            stop(json);
            break;
        }
        memcpy(out + used, character, length);
        used += length;
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
