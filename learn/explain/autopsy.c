/* SPDX-License-Identifier: MIT */
/*
 * A world that ended early: what killed it, from what its ranks and the supervisor printed on standard error. The launcher
 * puts [rank] before every line of a rank, so its own lines cannot be forged.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

/* ---- Lines ---- */

static void add_line(learn_remains *r, int rank, const char *text)
{
    if (r->count == r->room) {
        r->room = 2 * r->room + 64;
        r->lines = realloc(r->lines, r->room * sizeof *r->lines);
        if (!r->lines) exit(1);
    }
    r->lines[r->count++] = (learn_line){rank, text};
}

static void split_lines(learn_remains *r)
{
    char *rest = r->text;
    while (*rest) {
        char *line = rest, *end;
        size_t length = strcspn(line, "\n");
        rest += length + (rest[length] == '\n');
        line[length] = '\0';
        long rank = *line == '[' ? strtol(line + 1, &end, 10) : -1;
        if (rank >= 0 && rank < CHECK_MAX_RANKS && end > line + 1 && end[0] == ']' && end[1] == ' ')
            add_line(r, (int)rank, end + 2);
        else
            add_line(r, -1, line);
    }
}

const char *learn_find_line(const learn_remains *r, int rank, const char *text, size_t *index)
{
    for (size_t i = index ? *index : 0; i < r->count; i++) {
        const char *found = r->lines[i].rank == rank ? strstr(r->lines[i].text, text) : NULL;
        if (!found) continue;
        if (index) *index = i;
        return found;
    }
    return NULL;
}

void learn_note_place(learn_result *result, const learn_exercise *e, const char *text)
{
    for (const char *const *file = e->check->files; *file; file++) {
        const char *at = strstr(text, *file);
        int line;
        if (!at || sscanf(at + strlen(*file), ":%d", &line) != 1) continue;
        result->line = line;
        snprintf(result->file, sizeof result->file, "%s", *file);
        return;
    }
}

const char *learn_call_of(const learn_remains *r)
{
    return r->c && r->c->call ? r->c->call : r->w->e->check->call;
}

/* ---- Deaths ---- */

/* "pairwise: rank 2 exited with status 3, without p2p_finalize; its last call was ..." */
static const char *death_of(const learn_remains *r, int *rank)
{
    static const char *const how[] = {"exited with", "was killed by", "left without", "gave up"};
    for (size_t i = 0; i < r->count; i++) {
        const char *text = r->lines[i].text;
        int length = 0;
        if (r->lines[i].rank >= 0 || sscanf(text, "pairwise: rank %d %n", rank, &length) != 1 || !length) continue;
        for (size_t k = 0; k < sizeof how / sizeof *how; k++)
            if (strncmp(text + length, how[k], strlen(how[k])) == 0) return text + length;
    }
    *rank = -1;
    return NULL;
}

/* Is this call one of the checker's own? */
static bool is_checkers(const char *call)
{
    return strstr(call, "check_rank.c:") != NULL;
}

static bool say_death(const learn_remains *r, learn_result *result)
{
    int rank;
    const char *death = death_of(r, &rank), *last = death ? strstr(death, "; its last call was ") : NULL;
    learn_text broke = {0};
    int status;
    if (!death) return false;
    bool lost = sscanf(death, "exited with status %d", &status) == 1 && status == CHECK_LOST;
    int length = (int)(last ? last - death : (long)strlen(death));
    if (strstr(death, "Bad system call"))
        learn_add(&broke, "Rank %d starts a process. The ranks are all the processes that an exercise needs.", rank);
    else if (lost)
        learn_add(&broke, "Rank %d cannot report any more: does your code close descriptors that it has not opened?",
                  rank);
    else
        learn_add(&broke, "Rank %d %.*s.", rank, length, death);
    if (last && !is_checkers(last)) {
        learn_note_place(result, r->w->e, last);
        learn_add(&broke, " Its last call was %s.", last + strlen("; its last call was "));
    }
    if (!lost && strncmp(death, "was killed", 10) != 0)
        learn_add(&broke, " Does your code call exit? Whoever leaves early leaves the others waiting.");
    learn_fail(result, "crash", "", learn_string(&broke));
    learn_text_free(&broke);
    return true;
}

/* ---- The time limit: "pairwise: the time limit of 10 s is over" and what each rank was doing ---- */

/* Returns true if the learner's code is what it computes in. */
static bool add_doing(learn_text *shown, const learn_remains *r, int rank, const char *doing, learn_result *result)
{
    char place[128];
    bool over = rank >= 0 && rank < CHECK_MAX_RANKS && r->w->reports[rank].all_done;
    bool computes = strncmp(doing, "computes", 8) == 0;
    bool known = computes && !over && learn_place_of(r, rank, "==check== late", place, sizeof place);
    if (known) {
        learn_note_place(result, r->w->e, place);
        learn_add(shown, "rank %-8dcomputes, at %s\n", rank, place);
    } else if (over || (is_checkers(doing) && !computes))
        learn_add(shown, "rank %-8dhas returned from %s\n", rank, learn_call_of(r));
    else if (is_checkers(doing))
        learn_add(shown, "rank %-8dcomputes, and has made no Pairwise call yet\n", rank);
    else
        learn_add(shown, "rank %-8d%s\n", rank, doing);
    return computes && !over;
}

static bool all_over(const learn_remains *r)
{
    for (int rank = 0; rank < r->w->plan->ranks; rank++)
        if (!r->w->reports[rank].all_done) return false;
    return true;
}

static bool say_timeout(const learn_remains *r, learn_result *result)
{
    size_t i = 0;
    learn_text shown = {0}, broke = {0};
    bool computes = false, polls = false;
    const char *limit = learn_find_line(r, -1, "the time limit of ", &i);
    if (!limit && !r->w->job.late) return false;
    for (i++; limit && i < r->count; i++) {
        int rank, length = 0;
        const char *text = r->lines[i].text;
        if (r->lines[i].rank >= 0 || sscanf(text, "  rank %d, %n", &rank, &length) != 1 || !length) continue;
        const char *comma = strstr(text + length, ", "), *doing = comma ? comma + 2 : text + length;
        computes |= add_doing(&shown, r, rank, doing, result);
        polls |= strncmp(doing, "polls", 5) == 0;
        if (!result->line && !is_checkers(doing)) learn_note_place(result, r->w->e, text);
    }
    learn_add(&broke, "It did not come to an end in time.");
    if (all_over(r)) learn_add(&broke, " All cases are done: does your code close descriptors that it has not opened?");
    if (computes) learn_add(&broke, " A rank that computes for so long is in a loop that never ends.");
    if (polls) learn_add(&broke, " A rank that polls looks again and again for a message, which never comes.");
    learn_fail(result, "timeout", learn_string(&shown), learn_string(&broke));
    learn_text_free(&shown);
    learn_text_free(&broke);
    return true;
}

/* ---- What is left when nobody said anything ---- */

static bool say_checker(const learn_remains *r, learn_result *result)
{
    for (int rank = 0; rank < r->w->plan->ranks; rank++) {
        const char *text = learn_find_line(r, rank, "==check== ", NULL);
        if (text && (strstr(text, "==check== late") || strstr(text, CHECK_LEFT))) continue;
        if (!text) continue;
        char *broke = learn_format("The checker stopped on rank %d: %s.", rank, text + strlen("==check== "));
        learn_fail(result, "checker", "", broke);
        free(broke);
        return true;
    }
    return false;
}

static bool say_flooded(const learn_remains *r, learn_result *result)
{
    if (!r->w->job.flooded) return false;
    learn_fail(result, "output", "",
               "It printed more than 64 MiB and was stopped: is there a printf in a loop that never ends?");
    return true;
}

static void say_anything(const learn_remains *r, learn_result *result)
{
    int rank = 0;
    while (rank < r->w->plan->ranks && r->w->reports[rank].all_done) rank++;
    if (rank == r->w->plan->ranks) rank = 0;
    char *broke =
        learn_format("Rank %d ended before the test was over, and without a word. Does your code call exit or "
                     "start another program?",
                     rank);
    if (r->w->job.status > 128) {
        free(broke);
        broke = learn_format(
            "The launcher, which watches over the ranks, was killed (signal %d). Does your code call kill?",
            r->w->job.status - 128);
    }
    learn_fail(result, "crash", "", broke);
    free(broke);
}

static bool say_unreadable(const learn_remains *r, learn_result *result)
{
    int garbled = -1, full = -1;
    for (int rank = r->w->plan->ranks - 1; rank >= 0; rank--) {
        if (r->w->reports[rank].garbled) garbled = rank;
        if (r->w->reports[rank].full) full = rank;
    }
    if (garbled < 0 && full < 0) return false;
    char *broke = garbled < 0
                      ? learn_format("The test has more to report on rank %d than there is room for.", full)
                      : learn_format("What rank %d reported cannot be read: something wrote over it. Does your code "
                                     "write to memory or files that are not its own?",
                                     garbled);
    learn_fail(result, garbled < 0 ? "checker" : "crash", "", broke);
    free(broke);
    return true;
}

/* ---- A world that ended well, but with something that nobody gave back ---- */

typedef struct {
    size_t pieces, bytes;
    char end[16], failed[CHECK_WORDS], place[128];
} leftover;

static bool read_left(const learn_remains *r, size_t line, leftover *left)
{
    int number, length = 0;
    const char *text = strstr(r->lines[line].text, CHECK_LEFT);
    if (!text ||
        sscanf(text + strlen(CHECK_LEFT), "%d: %zu %zu %15s %n", &number, &left->pieces, &left->bytes, left->end,
               &length) != 4 ||
        number != r->c->number)
        return false;
    snprintf(left->failed, sizeof left->failed, "%s", text + strlen(CHECK_LEFT) + length);
    return true;
}

static void say_unwaited(const learn_remains *r, int rank, const leftover *left, learn_result *result)
{
    char *broke = learn_format("When %s failed on rank %d, %s returned, and did not wait for the request that it had "
                               "begun%s%s: until p2p_wait has ended it, its buffer belongs to it, whatever else went "
                               "wrong.",
                               left->failed, rank, learn_call_of(r), *left->place ? " at " : "", left->place);
    learn_set_advice(result,
                     "Keep the error, wait, and then return it: p2p_err waited = p2p_wait(...); return err ? err : "
                     "waited; p2p_wait_all waits for all, and P2P_REQUEST_NULL is one that needs no waiting.");
    learn_fail(result, "unwaited", "", broke);
    free(broke);
}

static void say_memory(const learn_remains *r, int rank, const leftover *left, learn_result *result)
{
    char *after = *left->failed ? learn_format(" after %s had failed", left->failed) : learn_copy("");
    char *broke = learn_format("Rank %d did not give back memory that it took%s%s: %zu byte%s%s were still in use when "
                               "%s was over%s. What comes "
                               "from %s needs a %s, on every way out of the function.",
                               rank, *left->place ? " at " : "", left->place, left->bytes, left->bytes == 1 ? "" : "s",
                               left->pieces > 1 ? ", in several pieces," : "", learn_call_of(r), after,
                               strcmp(left->end, "free") == 0 ? "malloc" : "p2p_alloc", left->end);
    learn_set_advice(result, *left->failed ? "A return in the middle is a way out, too: free first, then return err."
                                           : "What does the function take from malloc, and does each way to a return "
                                             "pass a free?");
    learn_fail(result, "memory", "", broke);
    free(after);
    free(broke);
}

static bool say_left(const learn_remains *r, size_t line, learn_result *result)
{
    leftover left = {.pieces = 0};
    if (!read_left(r, line, &left)) return false;
    bool waiting = strcmp(left.end, "p2p_wait") == 0;
    if (waiting && !r->w->e->check->waits_on_errors) return false;
    learn_place_at(r, line, left.place, sizeof left.place);
    learn_note_place(result, r->w->e, left.place);
    if (waiting)
        say_unwaited(r, r->lines[line].rank, &left, result);
    else
        say_memory(r, r->lines[line].rank, &left, result);
    return true;
}

bool learn_all_freed(const learn_world *w, const check_case *c, learn_result *result)
{
    if (!strstr(learn_string(&w->job.err), CHECK_LEFT)) return true;
    learn_remains r = {.w = w, .c = c, .text = learn_copy(learn_string(&w->job.err))};
    bool said = false;
    split_lines(&r);
    for (size_t i = 0; i < r.count && !said; i++) said = r.lines[i].rank >= 0 && say_left(&r, i, result);
    free(r.lines);
    free(r.text);
    return !said;
}

/* ---- */

void learn_autopsy(const learn_world *w, const check_case *c, learn_result *result)
{
    learn_remains r = {.w = w, .c = c, .text = learn_copy(learn_string(&w->job.err))};
    split_lines(&r);
    int dead;
    death_of(&r, &dead);
    bool said = say_flooded(&r, result) || learn_say_sanitizer(&r, dead, result) || learn_say_deadlock(&r, result) ||
                say_timeout(&r, result) || say_unreadable(&r, result) || say_checker(&r, result) ||
                learn_say_error(&r, result) || say_death(&r, result);
    if (!said) say_anything(&r, result);
    free(r.lines);
    free(r.text);
}
