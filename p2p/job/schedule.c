/* SPDX-License-Identifier: MIT */
/*
 * A schedule: an order as a word that can be pasted.
 *
 *      o1-4-5a3c09f2-01.12.2
 *      |  |  |        the numbers of what was taken where several steps could be next, as digits (schedule.c: digits); .12. are 12
 *      |  |  |        zeros, _75_ is the number 75; what is not said is 0
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

enum { VERSION = 1, ZEROS_SHORT = 3, DIGITS = sizeof digits - 1 };

/* Where the program lies does not matter. */
static uint32_t hash_of(char *const program[])
{
    const char *slash = strrchr(program[0], '/');
    const char *name = slash ? slash + 1 : program[0];
    uint32_t sum = p2p__crc32c(0, name, strlen(name) + 1);
    for (int i = 1; program[i]; i++) sum = p2p__crc32c(sum, program[i], strlen(program[i]) + 1);
    return sum;
}

static void put_zeros(FILE *file, size_t zeros)
{
    if (zeros > ZEROS_SHORT)
        fprintf(file, ".%zu.", zeros);
    else
        fprintf(file, "%.*s", (int)zeros, "000");
}

char *p2p__schedule_write(const p2p_orders *orders, int ranks, char *const program[])
{
    char *text = NULL;
    size_t bytes, zeros = 0;
    FILE *file = open_memstream(&text, &bytes);
    if (!file) return NULL;
    fprintf(file, "o%d-%d-%08x-", VERSION, ranks, hash_of(program));
    for (size_t i = 0; i < orders->at; i++) {
        int pick = orders->forks[i].taken;
        if (orders->forks[i].count == 1) continue;
        if (pick == 0) {
            zeros++;
            continue;
        }
        put_zeros(file, zeros);
        zeros = 0;
        if (pick < DIGITS)
            putc(digits[pick], file);
        else
            fprintf(file, "_%d_", pick);
    }
    fclose(file);
    return text;
}

/* A number between two marks, which *at moves past. */
static bool read_number(const char **at, unsigned long most, unsigned long *number)
{
    char mark = **at, *end;
    if ((*at)[1] < '0' || (*at)[1] > '9') return false;
    *number = strtoul(*at + 1, &end, 10);
    if (*end != mark || *number > most) return false;
    *at = end + 1;
    return true;
}

static bool read_picks(p2p_orders *orders, const char *at)
{
    size_t room = strlen(at) + 1;
    unsigned long number;
    orders->pick_count = 0;
    for (const char *scan = at; *scan; scan++) /* first the most that this can be */
        if (*scan == '.' && read_number(&scan, 1000000, &number)) room += number, scan--;
    free(orders->picks);
    orders->picks = calloc(room, sizeof *orders->picks);
    while (orders->picks && *at) {
        const char *digit = strchr(digits, *at);
        if (digit) {
            orders->picks[orders->pick_count++] = (unsigned)(digit - digits);
            at++;
        } else if (*at == '.' && read_number(&at, 1000000, &number)) {
            orders->pick_count += number;
        } else if (*at == '_' && read_number(&at, 1000000, &number)) {
            orders->picks[orders->pick_count++] = (unsigned)number;
        } else {
            return false;
        }
    }
    return orders->picks;
}

bool p2p__schedule_read(p2p_orders *orders, const char *text, int ranks, char *const program[], char *why,
                        size_t why_bytes)
{
    int version, of_ranks, used = 0;
    unsigned hash;
    orders->mode = ORDERS_ONE;
    if (sscanf(text, "o%d-%d-%8x-%n", &version, &of_ranks, &hash, &used) != 3 || !used)
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
    else if (!read_picks(orders, text + used))
        snprintf(why, why_bytes,
                 "\"%s\" is a schedule that was changed\n  try: the last line of launch --explore, whole", text);
    else
        return true;
    return false;
}
