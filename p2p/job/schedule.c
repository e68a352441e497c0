/* SPDX-License-Identifier: MIT */
/*
 * A schedule: an order as a word that can be pasted.
 *
 *      o2-4-5a3c09f2-0-01.12.:2.30:
 *      |  |  |       | the numbers of what was taken where several steps could be next, as digits (schedule.c: digits); _75_ is
 *      |  |  |       | the number 75; .12. are 12 more like the one before (at the beginning: zeros); :2.30: are 30 more, of
 *      |  |  |       | which each is like the second one before it; what is not said is 0
 *      |  |  |       looks in vain (p2p/message/polls.c)
 *      |  |  the program, by its name, and its arguments
 *      |  ranks
 *      version
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/job/orders.h"
#include "p2p/shared/crc.h"

static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* A run is written as such from its fourth pick on, one of more than one pick from its eighth. */
enum { VERSION = 2, SHORT = 4, PERIODS = 16, PICKS_MOST = 1000000, LOOKS = 100, DIGITS = sizeof digits - 1 };

/* Where the program lies does not matter. */
static uint32_t hash_of(char *const program[])
{
    const char *slash = strrchr(program[0], '/');
    const char *name = slash ? slash + 1 : program[0];
    uint32_t sum = p2p__crc32c(0, name, strlen(name) + 1);
    for (int i = 1; program[i]; i++) sum = p2p__crc32c(sum, program[i], strlen(program[i]) + 1);
    return sum;
}

/* So many picks from `at` on are like those `period` before them; before the first one there are zeros. */
static size_t run_of(const unsigned *picks, size_t count, size_t at, size_t period)
{
    size_t length = 0;
    if (at < period && period > 1) return 0;
    while (at + length < count && picks[at + length] == (at + length < period ? 0 : picks[at + length - period]))
        length++;
    return length;
}

static void put_picks(FILE *file, const unsigned *picks, size_t count)
{
    for (size_t at = 0, best, period; at < count; at += best) {
        best = run_of(picks, count, at, period = 1);
        for (size_t other = 2; other <= PERIODS; other++) {
            size_t length = run_of(picks, count, at, other);
            if (length >= 2 * SHORT && length > best) best = length, period = other;
        }
        if (best >= SHORT && period == 1) {
            fprintf(file, ".%zu.", best);
        } else if (best >= 2 * SHORT) {
            fprintf(file, ":%zu.%zu:", period, best);
        } else {
            best = 1;
            if (picks[at] < DIGITS)
                putc(digits[picks[at]], file);
            else
                fprintf(file, "_%u_", picks[at]);
        }
    }
}

char *p2p__schedule_write(const p2p_orders *orders, int ranks, char *const program[])
{
    char *text = NULL;
    size_t bytes, count = 0, last = 0;
    unsigned *picks = calloc(orders->at + 1, sizeof *picks);
    FILE *file = picks ? open_memstream(&text, &bytes) : NULL;
    if (!file) {
        free(picks);
        return NULL;
    }
    fprintf(file, "o%d-%d-%08x-%d-", VERSION, ranks, hash_of(program), orders->looks);
    for (size_t i = 0; i < orders->at; i++) {
        if (orders->forks[i].count == 1) continue;
        picks[count++] = (unsigned)orders->forks[i].taken;
        if (picks[count - 1]) last = count;
    }
    put_picks(file, picks, last);
    fclose(file);
    free(picks);
    return text;
}

/* A number before this mark, which *at moves past. */
static bool read_number(const char **at, char mark, unsigned long least, unsigned long *number)
{
    char *end;
    if (**at < '0' || **at > '9') return false;
    *number = strtoul(*at, &end, 10);
    if (*end != mark || *number < least || *number > PICKS_MOST) return false;
    *at = end + 1;
    return true;
}

/* So many more, each like the one `period` before it. */
static bool add_picks(p2p_orders *orders, unsigned long period, unsigned long count)
{
    size_t room = orders->pick_count + count;
    if (room > PICKS_MOST || (period > 1 && period > orders->pick_count)) return false;
    unsigned *picks = realloc(orders->picks, (room + 1) * sizeof *picks);
    if (!picks) return false;
    orders->picks = picks;
    for (; orders->pick_count < room; orders->pick_count++)
        picks[orders->pick_count] = orders->pick_count < period ? 0 : picks[orders->pick_count - period];
    return true;
}

static bool read_picks(p2p_orders *orders, const char *at)
{
    unsigned long number, period = 1;
    orders->pick_count = 0;
    while (*at) {
        const char *digit = strchr(digits, *at);
        char mark = *at++;
        bool repeats = mark == '.' || mark == ':', fits = digit != NULL;
        if (digit) number = (unsigned long)(digit - digits);
        if (mark == '_') fits = read_number(&at, '_', 0, &number);
        if (mark == '.') fits = read_number(&at, '.', 1, &number);
        if (mark == ':') fits = read_number(&at, '.', 2, &period) && read_number(&at, ':', 1, &number);
        if (!fits || !add_picks(orders, mark == ':' ? period : 1, repeats ? number : 1)) return false;
        if (!repeats) orders->picks[orders->pick_count - 1] = (unsigned)number;
    }
    return true;
}

bool p2p__schedule_read(p2p_orders *orders, const char *text, int ranks, char *const program[], char *why,
                        size_t why_bytes)
{
    int version, of_ranks, looks, used = 0;
    unsigned hash;
    orders->mode = ORDERS_ONE;
    int read = sscanf(text, "o%d-%d-%8x-%d-%n", &version, &of_ranks, &hash, &looks, &used);
    if (read < 3 || (version == VERSION && !used))
        snprintf(why, why_bytes, "\"%s\" is no schedule\n  try: the last line of launch --explore, whole", text);
    else if (version != VERSION)
        snprintf(why, why_bytes, "this schedule is of another version of Pairwise\n  try: launch --explore again");
    else if (of_ranks != ranks)
        snprintf(why, why_bytes, "this schedule is of %d ranks, not of %d\n  try: -n %d", of_ranks, ranks, of_ranks);
    else if (hash != hash_of(program))
        snprintf(why, why_bytes,
                 "this schedule is of another program than %s, or of other arguments\n"
                 "  try: the command that launch --explore was given",
                 program[0]);
    else if (looks < 0 || looks > LOOKS || !read_picks(orders, text + used))
        snprintf(why, why_bytes,
                 "\"%s\" is a schedule that was changed\n  try: the last line of launch --explore, whole", text);
    else {
        orders->looks = looks;
        return true;
    }
    return false;
}
