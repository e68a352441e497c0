/* SPDX-License-Identifier: MIT */
#include "bench/util/sizes.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int shift_of(char unit)
{
    switch (unit) {
    case '\0': return 0;
    case 'K': return 10;
    case 'M': return 20;
    case 'G': return 30;
    default: return -1;
    }
}

bool size_parse(const char *text, size_t *bytes)
{
    char *end;

    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    int shift = shift_of(*end);
    if (errno || shift < 0 || (*end && end[1]) || number > SIZE_MAX >> shift) return false;
    *bytes = (size_t)number << shift;
    return true;
}

bool count_parse(const char *text, long low, long high, long *count)
{
    char *end;

    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno || end == text || *end || number < low || number > high) return false;
    *count = number;
    return true;
}

bool list_parse(char *text, const char *parts[], size_t room, size_t *count)
{
    char *rest = text, *part;

    *count = 0;
    while ((part = strsep(&rest, ","))) {
        if (*part == '\0' || *count == room) return false;
        parts[(*count)++] = part;
    }
    return true;
}
