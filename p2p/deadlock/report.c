/* SPDX-License-Identifier: MIT */
/* The words: what a deadlock, a death and the board look like to a person. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "p2p/shared/process.h"
#include "p2p/trace/trace_job.h"

void p2p__add(p2p_words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (more > 0) w->used += (size_t)more;
    if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

/* A rank has drawn a line that it means to draw again: what is said takes its place, or a new line. */
static void leave_bar(p2p_job *job)
{
    const char *terminal = getenv("TERM");
    bool dumb = !terminal || !*terminal || strcmp(terminal, "dumb") == 0;
    if (job->out.last != '\r' || !isatty(job->out.fd) || !isatty(job->err.fd)) return;
    p2p__sink_add(&job->out, dumb ? "\n" : "\r\033[K", dumb ? 1 : 4);
    p2p__sink_flush(&job->out);
}

void p2p__say(p2p_job *job, const char *format, ...)
{
    char text[6200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    leave_bar(job);
    p2p__sink_add(&job->err, "pairwise: ", 10);
    p2p__sink_add(&job->err, text, strlen(text));
    p2p__sink_add(&job->err, "\n", 1);
}

void p2p__add_ranks(p2p_words *w, const int *ranks, int count, const char *last)
{
    p2p__add(w, "rank%s ", count == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        if (i == WAITERS_SHOWN && count > WAITERS_SHOWN + 1) {
            p2p__add(w, " %s %d more", last, count - i);
            return;
        }
        if (i > 0 && i == count - 1)
            p2p__add(w, " %s ", last);
        else if (i > 0)
            p2p__add(w, ", ");
        p2p__add(w, "%d", ranks[i]);
    }
}

int p2p__list_of(const p2p_rank_set *set, int size, int *ranks)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        if (p2p__set_has(set, i)) ranks[count++] = i;
    return count;
}

static int state_of(const p2p_job *job, int rank)
{
    return job->seen[rank].state;
}

bool p2p__is_over(p2p_job *job, int rank)
{
    return job->ranks[rank].ended || state_of(job, rank) >= BOARD_FINALIZING;
}

/* ---- Deadlock ---- */

static void add_item(p2p_words *w, const board_item *item)
{
    if (item->kind == ITEM_COLLECTIVE) {
        p2p__add(w, "\n    %s #%llu", item->name, (unsigned long long)item->number);
    } else {
        p2p__add(w, "\n    %s", item->kind == ITEM_SEND ? "send to" : "receive from");
        if (item->peer >= 0)
            p2p__add(w, " %d", item->peer);
        else
            p2p__add(w, " any");
        if (item->tag >= 0) p2p__add(w, ", tag %d", item->tag);
        p2p__add(w, ", %llu bytes", (unsigned long long)item->bytes);
    }
    if (item->line) p2p__add(w, ", posted on line %d", item->line);
}

static void add_items(p2p_words *w, const p2p_sight *row)
{
    if (!p2p__has_items(row)) return;
    for (int i = 0; i < row->wait.pending_count && i < BOARD_ITEMS; i++) add_item(w, &row->wait.pending[i]);
    if (row->wait.pending_count > BOARD_ITEMS) p2p__add(w, "\n    and %d more", row->wait.pending_count - BOARD_ITEMS);
}

static void add_awaited(p2p_words *w, p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    p2p_rank_set lack;
    int ranks[P2P_MAX_RANKS];
    p2p__lacking(job, rank, can_act, &lack);
    int count = p2p__list_of(&lack, job->size, ranks);
    if (!count) return;
    p2p__add(w, " for ");
    p2p__add_ranks(w, ranks, count, job->seen[rank].wait.any_count ? "or" : "and");
}

static void add_stuck(p2p_words *w, p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    char call[500];
    p2p__call_text(&job->seen[rank].call, call, sizeof call);
    p2p__add(w, "\n  rank %d waits in %s", rank, call);
    add_awaited(w, job, rank, can_act);
    add_items(w, &job->seen[rank]);
}

/* Those that the heart waits for and that have finished. */
static void add_over(p2p_words *w, p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    p2p_rank_set lack;
    p2p__lacking(job, rank, can_act, &lack);
    for (int i = 0, shown = 0; i < job->size && shown < WAITERS_SHOWN; i++) {
        char call[500];
        if (!p2p__set_has(&lack, i) || !p2p__is_over(job, i)) continue;
        p2p__call_text(&job->seen[i].call, call, sizeof call);
        if (state_of(job, i) == BOARD_ABSENT)
            p2p__add(w, "\n  rank %d has ended without calling p2p_init", i);
        else
            p2p__add(w, "\n  rank %d is in %s", i, call);
        shown++;
    }
}

static void add_others(p2p_words *w, p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act,
                       const p2p_heart *h)
{
    int shown = 0, more = 0;
    for (int i = 0; i < job->size; i++) {
        char call[500];
        if (!p2p__set_has(stuck, i) || p2p__set_has(&h->set, i)) continue;
        if (shown == WAITERS_SHOWN) {
            more++;
            continue;
        }
        bool behind = p2p__set_has(&h->behind, i);
        p2p__call_text(&job->seen[i].call, call, sizeof call);
        p2p__add(w, "\n  %s: rank %d in %s",
                 !behind         ? "stuck as well"
                 : h->length > 1 ? "behind them"
                                 : "behind it",
                 i, call);
        add_awaited(w, job, i, can_act);
        shown++;
    }
    if (more) p2p__add(w, "\n  and %d more", more);
}

static void add_headline(p2p_words *w, const p2p_heart *h)
{
    p2p__add(w, "deadlock: ");
    p2p__add_ranks(w, h->ranks, h->length, "and");
    if (h->is_cycle && h->length > 1)
        p2p__add(w, " wait for each other");
    else
        p2p__add(w, " waits for something that can never come");
}

/* Waits for somebody who is over, rather than for nobody at all? */
static bool waits_for_finished(p2p_job *job, const p2p_heart *h, const p2p_rank_set *can_act)
{
    p2p_rank_set lack;
    int ranks[P2P_MAX_RANKS];
    p2p__lacking(job, h->ranks[0], can_act, &lack);
    return !h->is_cycle && p2p__list_of(&lack, job->size, ranks) > 0;
}

void p2p__report_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    p2p_heart h = {.length = 0};
    char text[600];
    p2p_words w = {.used = 0};
    p2p__find_heart(job, stuck, can_act, &h);
    p2p_verdict v = p2p__judge(job, &h, can_act, text, sizeof text);
    add_headline(&w, &h);
    for (int i = 0; i < h.length; i++) {
        if (i < WAITERS_SHOWN) add_stuck(&w, job, h.ranks[i], can_act);
    }
    if (h.length > WAITERS_SHOWN) p2p__add(&w, "\n  and %d more", h.length - WAITERS_SHOWN);
    if (!h.is_cycle) add_over(&w, job, h.ranks[0], can_act);
    add_others(&w, job, stuck, can_act, &h);
    p2p__add(&w, "\n  mistake: %s\n  try: %s", v.mistake, v.advice);
    p2p__say(job, "%s", w.text);
    p2p__trace_deadlock(job, stuck, can_act, &h);
    p2p__job_fail(job, waits_for_finished(job, &h, can_act) ? P2P_ERR_PEER_DEAD : P2P_ERR_DEADLOCK, h.ranks[0], 1,
                  w.text);
}

void p2p__report_death(p2p_job *job, int rank, const char *how)
{
    p2p_words w = {.used = 0};
    int shown = 0;
    p2p__see(job);
    p2p__add(&w, "%s", how);
    for (int i = 0; i < job->size && shown < WAITERS_SHOWN; i++) {
        char call[500];
        if (i == rank || state_of(job, i) != BOARD_BLOCKED || job->ranks[i].ended) continue;
        p2p__call_text(&job->seen[i].call, call, sizeof call);
        p2p__add(&w, "\n  meanwhile rank %d waited: %s", i, call);
        shown++;
    }
    p2p__say(job, "%s", w.text);
}

void p2p__report_polling(p2p_job *job)
{
    p2p_words w = {.used = 0};
    p2p__see(job);
    p2p__add(&w, "note: for a second nothing has happened but polling:");
    for (int i = 0; i < job->size && w.used < sizeof w.text - 600; i++) {
        char call[500];
        int state = state_of(job, i);
        if (p2p__is_over(job, i)) continue;
        p2p__call_text(&job->seen[i].call, call, sizeof call);
        p2p__add(&w, "\n  rank %d %s in %s", i, state == BOARD_POLLING ? "polls" : "waits", call);
    }
    p2p__add(&w, "\n  try: is the message they look for ever sent?");
    p2p__say(job, "%s", w.text);
}

static void say_doing(p2p_job *job, int rank, char *text, size_t bytes)
{
    const board_call *call = &job->seen[rank].call;
    static const char *const waits[] = {
        [BOARD_BLOCKED] = "waits in ", [BOARD_POLLING] = "polls in ", [BOARD_FINALIZING] = "says goodbye in "};
    int state = state_of(job, rank);
    if (job->ranks[rank].ended || state == BOARD_RUNNING || state == BOARD_FINISHED) {
        const char *what = state == BOARD_RUNNING && !job->ranks[rank].ended ? "computes; " : "has ended; ";
        snprintf(text, bytes, "%s", what);
        p2p__last_call_text(call, text + strlen(what), bytes - strlen(what));
    } else if (state == BOARD_ABSENT) {
        snprintf(text, bytes, "has not called p2p_init");
    } else {
        snprintf(text, bytes, "%s", waits[state]);
        p2p__call_text(call, text + strlen(text), bytes - strlen(text));
    }
}

void p2p__report_board(p2p_job *job)
{
    p2p__see(job);
    for (int i = 0; i < job->size; i++) {
        char doing[440], process[64];
        p2p_words w = {.used = 0};
        say_doing(job, i, doing, sizeof doing);
        p2p__process_state(job->ranks[i].pid, process, sizeof process);
        p2p__add(&w, "  rank %d, %s, %s", i, process, doing);
        if (state_of(job, i) == BOARD_BLOCKED) add_items(&w, &job->seen[i]);
        p2p__add(&w, "\n");
        p2p__sink_add(&job->err, w.text, w.used);
    }
}
