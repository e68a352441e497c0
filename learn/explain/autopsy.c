/* SPDX-License-Identifier: MIT */
/*
 * A world that ended early: what killed it, from what the supervisor reported, and from what its ranks printed on standard
 * error. The launcher puts [rank] before every line of a rank.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "learn/explain/autopsy.h"

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

/* ---- Deaths ---- */

/* Was it the test that killed it? Ranks that it kills have their turn in the case. */
static bool is_planned(const learn_remains *r, const json_t *finding)
{
    const json_t *ranks = json_object_get(finding, "ranks");
    bool planned = false;
    for (int i = 0; r->w->plan->repairs && r->c && i < r->c->deaths; i++)
        planned |= json_integer_value(json_array_get(ranks, 0)) == r->c->death[i].rank;
    return planned && learn_field_number(finding, "signal") == SIGKILL;
}

static const json_t *death_of(const learn_remains *r, int *rank)
{
    const json_t *finding;
    for (size_t i = 0; (finding = json_array_get(r->w->findings, i)); i++) {
        if (is_planned(r, finding)) continue;
        const json_t *last = learn_place_with(finding, learn_field_is(finding, "reason", "abort") ? "call" : "last");
        *rank = learn_field_number(last, "rank");
        if (last) return finding;
    }
    *rank = -1;
    return NULL;
}

static bool say_death(const learn_remains *r, learn_result *result)
{
    static const char *const words[][2] = {{"exit", "exited with status"},
                                           {"gave_up", "gave up after an error, with exit status"},
                                           {"abort", "ended the job with status"}};
    int rank;
    OWNED_TEXT broke = {0};
    const json_t *death = death_of(r, &rank), *last = learn_place_with(death, "last");
    if (!death) return false;
    int signal = learn_field_number(death, "signal"), status = learn_field_number(death, "exit");
    bool lost = learn_field_is(death, "reason", "exit") && status == CHECK_LOST;
    learn_add(&broke, "Rank %d ", rank);
    if (signal == SIGSYS) {
        learn_add(&broke, "starts a process. The ranks are all the processes that an exercise needs.");
    } else if (lost) {
        learn_add(&broke, "cannot report any more: does your code close descriptors that it has not opened?");
    } else {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (learn_field_is(death, "reason", words[i][0])) learn_add(&broke, "%s %d", words[i][1], status);
        if (learn_field_is(death, "reason", "never_finalized"))
            learn_add(&broke, "left without p2p_finalize (exit status 0)");
        if (signal > 0) learn_add(&broke, "was killed by signal %d (%s)", signal, strsignal(signal));
        if (json_is_true(json_object_get(death, "out_of_memory"))) learn_add(&broke, ", possibly out of memory");
        learn_add(&broke, ".");
    }
    if (last && !learn_is_checkers(last) && *learn_field(last, "text")) {
        learn_note_place(result, r->w->e, last);
        learn_add(&broke, " Its last call was ");
        learn_add_call(&broke, last, true);
        learn_add(&broke, ".");
    }
    if (!lost && !learn_field_is(death, "reason", "signal"))
        learn_add(&broke, " Does your code call exit? A rank that leaves early leaves the others waiting.");
    learn_fail(result, "crash", "", "%s", learn_string(&broke));
    return true;
}

/* ---- The time limit, and what each rank was doing ---- */

/* Returns true if the learner's code is what it computes in. */
static bool add_doing(learn_text *shown, const learn_remains *r, const json_t *place, learn_result *result)
{
    static const char *const words[][2] = {{"absent", "has not called p2p_init"},
                                           {"running", "computes; its last call was "},
                                           {"waits", "waits in "},
                                           {"polling", "polls in "},
                                           {"finalizing", "has finished, in "},
                                           {"finished", "has ended; its last call was "}};
    char line[128];
    size_t late = 0;
    int rank = learn_field_number(place, "rank");
    bool over = r->w->reports[rank].all_done, computes = learn_field_is(place, "state", "running");
    bool checkers = learn_is_checkers(place);
    learn_add(shown, "rank %-8d", rank);
    if (computes && !over && learn_find_line(r, rank, "==check== late", &late) &&
        learn_place_at(r, late, result, line, sizeof line))
        learn_add(shown, "computes, at %s", line);
    else if (over || (checkers && !computes))
        learn_add(shown, "has returned from %s", learn_call_of(r->w->e, r->c));
    else if (checkers || (computes && !*learn_field(place, "text")))
        learn_add(shown, "computes, and has made no Pairwise call yet");
    else
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (!learn_field_is(place, "state", words[i][0])) continue;
            learn_add(shown, "%s", words[i][1]);
            learn_add_call(shown, place, true);
        }
    learn_add(shown, "\n");
    if (!result->line && !checkers) learn_note_place(result, r->w->e, place);
    return computes && !over;
}

/* The first rank that has not been through all cases; the number of ranks, if there is none. */
static int first_unfinished(const learn_remains *r)
{
    int rank = 0;
    while (rank < r->w->plan->ranks && r->w->reports[rank].all_done) rank++;
    return rank;
}

static bool say_timeout(const learn_remains *r, learn_result *result)
{
    OWNED_TEXT shown = {0};
    bool computes = false, polls = false;
    const json_t *limit, *place;
    for (size_t i = 0; (limit = json_array_get(r->w->findings, i)); i++)
        if (learn_field_is(limit, "class", "timeout") && learn_field_is(limit, "reason", "job")) break;
    if (!limit && !r->w->job.late) return false;
    for (size_t i = 0; (place = json_array_get(json_object_get(limit, "places"), i)); i++) {
        if (!learn_field_is(place, "role", "doing")) continue;
        computes |= add_doing(&shown, r, place, result);
        polls |= learn_field_is(place, "state", "polling");
    }
    bool busy = learn_machine_was_busy(r->w);
    learn_fail(result, "timeout", learn_string(&shown), "It did not come to an end in time.%s%s%s%s",
               first_unfinished(r) == r->w->plan->ranks
                   ? " All cases are done: does your code close descriptors that it has not opened?"
                   : "",
               busy ? " Other programs kept this machine busy: try again when they have ended." : "",
               computes && !busy ? " A rank that computes for so long is in a loop that never ends." : "",
               polls && !busy ? " A rank that polls looks again and again for a message, which never comes." : "");
    return true;
}

/* ---- A rank was killed by the test, and the others have not made it good ---- */

static bool say_not_repaired(const learn_remains *r, learn_result *result)
{
    int rank;
    if (!r->w->plan->repairs || !r->c || !r->c->deaths) return false;
    if (!learn_all_returned_ok(r->w, r->c, result)) return true;
    const json_t *death = death_of(r, &rank);
    if (death && learn_field_number(death, "exit") >= 0) {
        learn_fail(result, "not_repaired", "",
                   "Rank %d was killed by the test, and rank %d ended with status %d. An error that is not returned to "
                   "the program ends it: p2p_set_errors comes first, in each process.",
                   r->c->death[0].rank, rank, learn_field_number(death, "exit"));
        return true;
    }
    for (rank = 0; rank < r->w->plan->ranks; rank++)
        if (rank != r->c->death[0].rank && learn_record(r->w, rank, NULL, r->c->number, CHECK_ENDED, NULL)) break;
    if (rank == r->w->plan->ranks) return false;
    learn_fail(
        result, "left_early", "",
        "Rank %d was killed by the test and did not come back, and rank %d has left %s: it left before the others had "
        "repaired the world, or it went on without the dead rank (p2p_shrink).",
        r->c->death[0].rank, rank, learn_call_of(r->w->e, r->c));
    return true;
}

/* ---- What is left when the supervisor has said nothing ---- */

static bool say_unreadable(const learn_remains *r, learn_result *result)
{
    for (int rank = 0; rank < r->w->plan->ranks; rank++)
        if (r->w->reports[rank].garbled)
            learn_fail(result, "crash", "",
                       "What rank %d reported cannot be read: something wrote over it. Does your code write to memory "
                       "or files that are not its own?",
                       rank);
    for (int rank = 0; rank < r->w->plan->ranks; rank++)
        if (r->w->reports[rank].full)
            learn_fail(result, "checker", "", "The test has more to report on rank %d than there is room for.", rank);
    for (int rank = 0; rank < r->w->plan->ranks; rank++) {
        const char *text = learn_find_line(r, rank, "==check== ", NULL);
        if (text && !learn_has_prefix(text, "==check== late") && !learn_has_prefix(text, CHECK_LEFT))
            learn_fail(result, "checker", "", "The checker stopped on rank %d: %s.", rank, text + strlen("==check== "));
    }
    return result->state == LEARN_FAILED;
}

static void say_anything(const learn_remains *r, learn_result *result)
{
    if (r->w->job.status > 128)
        learn_fail(result, "crash", "",
                   "The launcher, which watches over the ranks, was killed (signal %d). Does your code call kill?",
                   r->w->job.status - 128);
    else
        learn_fail(result, "crash", "",
                   "Rank %d ended before the test was over, and without a word. Does your code call exit or start "
                   "another program?",
                   first_unfinished(r) % r->w->plan->ranks);
}

/* ---- A world that ended well, but with something that was not given back ---- */

static bool say_left(const learn_remains *r, size_t line, learn_result *result)
{
    size_t pieces, bytes;
    int number, length = 0, rank = r->lines[line].rank;
    char end[16], place[128];
    const char *text = strstr(r->lines[line].text, CHECK_LEFT), *ran = learn_call_of(r->w->e, r->c);
    if (!text || sscanf(text + strlen(CHECK_LEFT), "%d: %zu %zu %15s %n", &number, &pieces, &bytes, end, &length) != 4)
        return false;
    OWNED char *failed = learn_format("%.*s", CHECK_WORDS - 1, text + strlen(CHECK_LEFT) + length);
    bool waiting = strcmp(end, "p2p_wait") == 0, after = *failed,
         said = number == r->c->number && (!waiting || r->w->e->check->waits_on_errors);
    if (said) learn_place_at(r, line, result, place, sizeof place);
    if (said && waiting) {
        learn_set_advice(result,
                         "Keep the error, wait, and then return it: p2p_err waited = p2p_wait(...); return err ? err : "
                         "waited; p2p_wait_all waits for all, and P2P_REQUEST_NULL is one that needs no waiting.");
        learn_fail(result, "unwaited", "",
                   "When %s failed on rank %d, %s returned, and did not wait for the request that it had begun%s%s: "
                   "until p2p_wait has ended it, its buffer belongs to it, whatever else went wrong.",
                   failed, rank, ran, *place ? " at " : "", place);
    } else if (said) {
        learn_set_advice(result, after ? "A return in the middle is a way out, too: free first, then return err."
                                       : "What does the function take from malloc, and does each way to a return pass "
                                         "a free?");
        learn_fail(result, "memory", "",
                   "Rank %d did not give back memory that it took%s%s: %zu byte%s%s were still in use when %s was "
                   "over%s%s%s. What comes from %s needs a %s, on every way out of the function.",
                   rank, *place ? " at " : "", place, bytes, bytes == 1 ? "" : "s",
                   pieces > 1 ? ", in several pieces," : "", ran, after ? " after " : "", failed,
                   after ? " had failed" : "", strcmp(end, "free") == 0 ? "malloc" : "p2p_alloc", end);
    }
    return said;
}

/* ---- */

static learn_remains remains_of(const learn_world *w, const check_case *c)
{
    learn_remains r = {.w = w, .c = c, .text = learn_copy(learn_string(&w->job.err))};
    size_t lines = 1;
    for (const char *at = r.text; *at; at++) lines += *at == '\n';
    r.lines = learn_memory(lines * sizeof *r.lines);
    char *rest = r.text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        const char *text = line;
        int rank = learn_rank_of_line(line, &text);
        r.lines[r.count++] = (learn_line){rank, text};
    }
    return r;
}

static void free_remains(learn_remains *r)
{
    free(r->lines);
    free(r->text);
}
#define OWNED_REMAINS __attribute__((cleanup(free_remains))) learn_remains

bool learn_all_freed(const learn_world *w, const check_case *c, learn_result *result)
{
    if (!strstr(learn_string(&w->job.err), CHECK_LEFT)) return true;
    OWNED_REMAINS r = remains_of(w, c);
    bool said = false;
    for (size_t i = 0; i < r.count && !said; i++) said = r.lines[i].rank >= 0 && say_left(&r, i, result);
    return !said;
}

void learn_autopsy(const learn_world *w, const check_case *c, learn_result *result)
{
    OWNED_REMAINS r = remains_of(w, c);
    int dead;
    death_of(&r, &dead);
    if (w->job.flooded)
        learn_fail(result, "output", "",
                   "It printed more than 64 MiB and was stopped: is there a printf in a loop that never ends?");
    else if (!learn_say_sanitizer(&r, dead, result) && !say_not_repaired(&r, result) &&
             !learn_say_deadlock(&r, result) && !say_timeout(&r, result) && !say_unreadable(&r, result) &&
             !learn_say_error(&r, result) && !say_death(&r, result))
        say_anything(&r, result);
}
