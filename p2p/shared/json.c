/* SPDX-License-Identifier: MIT */
#include "p2p/shared/json.h"

size_t p2p__utf8_length(const unsigned char *at)
{
    size_t length = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2;
    if (*at < 0x80) return 1;
    if (*at < 0xc2 || *at > 0xf4) return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] > 0x9f)) return 0;
    return (*at == 0xf0 && at[1] < 0x90) || (*at == 0xf4 && at[1] > 0x8f) ? 0 : length;
}

void p2p__json_text(FILE *file, const char *text)
{
    putc('"', file);
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        size_t more = p2p__utf8_length(at);
        if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f || more == 0)
            fprintf(file, "\\u%04x", more ? *at : 0xfffdu);
        else
            fwrite(at, 1, more, file), at += more - 1;
    }
    putc('"', file);
}

void p2p__json_field(FILE *file, const char *key, const char *text)
{
    if (!*text) return;
    fprintf(file, ",\"%s\":", key);
    p2p__json_text(file, text);
}

void p2p__json_number(FILE *file, const char *key, uint64_t number)
{
    fprintf(file, ",\"%s\":%llu", key, (unsigned long long)(number < INT64_MAX ? number : INT64_MAX));
}

void p2p__json_ranks(FILE *file, const char *key, const p2p_rank_set *set, int size)
{
    const char *comma = "";
    fprintf(file, ",\"%s\":[", key);
    for (int i = 0; i < size; i++) {
        if (!p2p__set_has(set, i)) continue;
        fprintf(file, "%s%d", comma, i);
        comma = ",";
    }
    putc(']', file);
}
