/* SPDX-License-Identifier: MIT */
#include "tests/util/pattern.h"

#include <string.h>

uint64_t pattern_key(int source, int dest, int tag)
{
    return ((uint64_t)(uint32_t)source * 1000003u + (uint32_t)dest) * 0x9E3779B97F4A7C15u + (uint32_t)tag;
}

static uint64_t word(uint64_t key, size_t i)
{
    uint64_t x = (key + i + 1) * 0xD1342543DE82EF95u;

    return x ^ (x >> 32);
}

void pattern_fill(void *buf, size_t bytes, uint64_t key)
{
    unsigned char *to = buf;

    for (size_t i = 0; i < bytes / 8; i++) {
        uint64_t w = word(key, i);
        memcpy(to + 8 * i, &w, 8);
    }
    uint64_t last = word(key, bytes / 8);
    if (bytes % 8) memcpy(to + bytes / 8 * 8, &last, bytes % 8);
}

static size_t first_difference(const unsigned char *a, const unsigned char *b, size_t bytes)
{
    size_t i = 0;

    while (i < bytes && a[i] == b[i]) i++;
    return i;
}

size_t pattern_wrong(const void *buf, size_t bytes, uint64_t key)
{
    const unsigned char *from = buf;

    for (size_t at = 0; at < bytes; at += 8) {
        size_t some = bytes - at < 8 ? bytes - at : 8;
        uint64_t w = word(key, at / 8);
        if (memcmp(from + at, &w, some) != 0) return at + first_difference(from + at, (const unsigned char *)&w, some);
    }
    return bytes;
}

uint32_t pattern_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}
