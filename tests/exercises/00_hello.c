/* SPDX-License-Identifier: MIT */
/* The test of 00_hello: what each rank printed, line by line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check.h"

static void cases(check_plan *plan)
{
    static const int sizes[] = {1, 2, 3, 4, 5, 8};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        check_world(plan, sizes[i], false, NULL);
        check_add(plan, (check_case){0});
    }
}

/* The next line of *text, with its newline, which is moved on; "" at the end. */
static const char *next_line(const char **text, char *line, size_t room)
{
    size_t length = strcspn(*text, "\n");
    if ((*text)[length]) length++;
    size_t kept = length < room ? length : room - 1;
    memcpy(line, *text, kept);
    line[kept] = 0;
    *text += length;
    return line;
}

/* As it would be written in C, so that a missing newline and a stray blank can be seen. */
static const char *quoted(const char *line, char *out, size_t room)
{
    size_t n = 0;
    out[n++] = '"';
    for (; *line && n + 4 < room; line++) {
        if (*line == '\n') out[n++] = '\\';
        out[n++] = *line == '\n' ? 'n' : (char)(*line >= ' ' ? *line : '?');
    }
    out[n++] = '"';
    out[n] = 0;
    return out;
}

static bool judge_hello(const check_case *c, int rank, const char *got, const char *want)
{
    char shown[160], expected[80];
    int said_rank, said_size;

    if (strcmp(got, want) == 0) return true;
    quoted(got, shown, sizeof shown);
    quoted(want, expected, sizeof expected);
    if (strncmp(got, want, strlen(want) - 1) == 0)
        return check_fail(c, "line", "Rank %d printed %s; it should have ended the line there: %s.", rank, shown,
                          expected);
    if (strncmp(got, "that was all ", 13) == 0)
        return check_fail(
            c, "order",
            "Rank %d printed %s where its first line should be: every rank prints %s, the last one too, and "
            "only then the second line.",
            rank, shown, expected);
    if (sscanf(got, "hello from rank %d of %d", &said_rank, &said_size) == 2)
        return said_rank < 0
                   ? check_fail(c, "joined",
                                "Rank %d printed %s: p2p_rank gives -1 and p2p_size 0 where there is no world. Here "
                                "they were asked before p2p_init, which makes it, or after p2p_finalize.",
                                rank, shown)
                   : check_fail(
                         c, "numbers",
                         "Rank %d of %d printed %s: it said rank %d, of %d. p2p_rank gives the rank, 0 to %d, and "
                         "p2p_size how many there are, %d.",
                         rank, c->ranks, shown, said_rank, said_size, c->ranks - 1, c->ranks);
    return check_fail(c, "line", "Rank %d printed %s; it should have printed %s.", rank, shown, expected);
}

static bool judge_last(const check_case *c, int rank, const char *got)
{
    char want[80] = "", shown[160], expected[80];
    bool last = rank == c->ranks - 1;

    if (last) snprintf(want, sizeof want, "that was all %d of us\n", c->ranks);
    if (strcmp(got, want) == 0) return true;
    quoted(got, shown, sizeof shown);
    quoted(want, expected, sizeof expected);
    int other;
    bool greeting = sscanf(got, "hello from rank %d", &other) == 1;
    if (greeting || (*got && strncmp(got, "that was all", 12) != 0))
        return check_fail(c, "more", "Rank %d printed one line more, %s%s.", rank, shown,
                          greeting && other != rank
                              ? ", which is another rank's: each rank runs main and prints its own line, no more"
                              : ", which is neither its greeting nor the last line");
    if (!last)
        return check_fail(
            c, "last", "Rank %d printed a second line, %s; only the rank with the highest number, here %d, does that.",
            rank, shown, c->ranks - 1);
    if (!*got)
        return check_fail(c, "last",
                          "Rank %d has the highest number of the %d ranks, and should have printed a second line: %s.",
                          rank, c->ranks, expected);
    return check_fail(c, "second", "Rank %d's second line was %s; it should have been %s.", rank, shown, expected);
}

/* Before anything else: a rank that said nothing at all explains what others said too much. */
static bool all_speak(const check_case *c)
{
    for (int rank = 0; rank < c->ranks; rank++) {
        const char *text = check_output(c, rank);
        if (text && *text) continue;
        return check_fail(c, "silent",
                          "Rank %d printed nothing on standard output; it should have printed \"hello from rank %d of "
                          "%d\\n\". Every rank "
                          "runs main from the top, and each of them prints its own line.",
                          rank, rank, c->ranks);
    }
    return true;
}

static void judge(const check_case *c)
{
    char line[100], want[80], shown[160];

    if (!all_speak(c)) return;
    for (int rank = 0; rank < c->ranks; rank++) {
        const char *text = check_output(c, rank);
        if (!text) text = "";
        snprintf(want, sizeof want, "hello from rank %d of %d\n", rank, c->ranks);
        if (!judge_hello(c, rank, next_line(&text, line, sizeof line), want)) return;
        if (!judge_last(c, rank, next_line(&text, line, sizeof line))) return;
        if (!*text) continue;
        check_fail(c, "line", "Rank %d printed more than it should have: %s.", rank,
                   quoted(next_line(&text, line, sizeof line), shown, sizeof shown));
        return;
    }
}

static const char *const files[] = {"hello.c", NULL};

const check_exercise check_00_hello = {
    .name = "00_hello",
    .idea = "who am I, and how many are we",
    .call = "your program",
    .files = files,
    .library = CHECK_LIBRARY_P2P,
    .cases = cases,
    .judge = judge,
};
