/* SPDX-License-Identifier: MIT */
/* The words: what a deadlock, a death and the board look like to a person. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/launch.h"
#include "p2p/process.h"

#define WAITERS_SHOWN 8

/* Text that grows and never overflows. */
typedef struct {
    char text[6000];
    size_t used;
} words;

__attribute__((format(printf, 2, 3))) static void add(words *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int more = vsnprintf(w->text + w->used, sizeof w->text - w->used, format, args);
    va_end(args);
    if (more > 0) w->used += (size_t)more;
    if (w->used >= sizeof w->text) w->used = sizeof w->text - 1;
}

void p2p__say(p2p_job *job, const char *format, ...)
{
    char text[6200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p2p__sink_add(&job->err, "pairwise: ", 10);
    p2p__sink_add(&job->err, text, strlen(text));
    p2p__sink_add(&job->err, "\n", 1);
}

/* "rank 3", "ranks 1 and 2", "ranks 0, 1 and 5" */
static void add_ranks(words *w, const int *ranks, int count)
{
    add(w, "rank%s ", count == 1 ? "" : "s");
    for (int i = 0; i < count; i++) {
        if (i == WAITERS_SHOWN && count > WAITERS_SHOWN + 1) {
            add(w, " and %d more", count - i);
            return;
        }
        add(w, "%s%d", i == 0 ? "" : i == count - 1 ? " and " : ", ", ranks[i]);
    }
}

static int list_of(const p2p_rank_set *set, int size, int *ranks)
{
    int count = 0;
    for (int i = 0; i < size; i++)
        if (p2p__set_has(set, i)) ranks[count++] = i;
    return count;
}

static int state_of(p2p_job *job, int rank)
{
    return atomic_load(&job->board->rows[rank].state);
}

static bool is_over(p2p_job *job, int rank)
{
    return job->ranks[rank].ended || state_of(job, rank) >= BOARD_FINALIZING;
}

/* ---- Whom a stuck rank waits for ---- */

/* Those it waits for of whom not enough can act: what it lacks. */
static void lacking(p2p_job *job, int rank, const p2p_rank_set *can_act, p2p_rank_set *lack)
{
    const board_wait *wait = &job->board->rows[rank].wait;
    p2p__set_clear(lack, job->size);
    for (int i = 0; i < job->size; i++)
        if (p2p__set_has(&wait->need, i) && !p2p__set_has(can_act, i)) p2p__set_add(lack, i);
    for (int i = 0; i < wait->any_count && i < BOARD_ANY_SETS; i++)
        if (!p2p__set_meets(&wait->any[i], can_act, job->size)) p2p__set_join(lack, &wait->any[i], job->size);
}

/* One of them: a stuck rank if there is one (it leads into a cycle), else one that is over. -1: nobody at all. */
static int next_in_chain(p2p_job *job, int rank, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    p2p_rank_set lack;
    int over = -1;
    lacking(job, rank, can_act, &lack);
    for (int i = 0; i < job->size; i++) {
        if (!p2p__set_has(&lack, i)) continue;
        if (p2p__set_has(stuck, i)) return i;
        if (over < 0) over = i;
    }
    return over;
}

/* Follow the chain from the first stuck rank until it comes back (a cycle), or reaches somebody who cannot help.
 * Returns the length of what it ends in; a cycle is turned so that its lowest rank comes first. */
static int find_core(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act, int *core, bool *is_cycle)
{
    int at = 0, seen[P2P_MAX_RANKS] = {0}, steps = 0, last = 0;
    while (!p2p__set_has(stuck, at)) at++;
    while (at >= 0 && p2p__set_has(stuck, at) && !seen[at]) {
        seen[at] = ++steps;
        last = at;
        at = next_in_chain(job, at, stuck, can_act);
    }
    *is_cycle = at >= 0 && p2p__set_has(stuck, at);
    if (!*is_cycle) {
        core[0] = last;
        return 1;
    }
    int lowest = at, length = 0;
    for (int i = next_in_chain(job, at, stuck, can_act); i != at; i = next_in_chain(job, i, stuck, can_act))
        if (i < lowest) lowest = i;
    at = lowest;
    do {
        core[length++] = at;
        at = next_in_chain(job, at, stuck, can_act);
    } while (at != lowest);
    return length;
}

/* ---- The class of mistake ---- */

typedef struct {
    const char *mistake, *advice;
} verdict;

static bool sends(const board_row *row)
{
    if (row->call.shape == SHAPE_SEND) return true;
    return row->call.shape == SHAPE_WAIT && row->wait.pending_count > 0 && row->wait.pending[0].is_send;
}

static bool receives(const board_row *row)
{
    return row->call.shape == SHAPE_RECV || (row->call.shape == SHAPE_WAIT && !sends(row));
}

static int count_core(p2p_job *job, const int *core, int length, bool (*is)(const board_row *row))
{
    int count = 0;
    for (int i = 0; i < length; i++) count += is(&job->board->rows[core[i]]);
    return count;
}

static bool is_collective(const board_row *row)
{
    return row->call.shape == SHAPE_COLLECTIVE;
}

static bool different_collectives(p2p_job *job, const int *core, int length)
{
    const board_call *first = &job->board->rows[core[0]].call;
    for (int i = 1; i < length; i++) {
        const board_call *other = &job->board->rows[core[i]].call;
        if (strcmp(first->name, other->name) != 0 || first->number != other->number) return true;
    }
    return false;
}

static const board_item *pending_recv(const board_row *row, board_item *own)
{
    if (row->call.shape == SHAPE_RECV) {
        *own = (board_item){.peer = row->call.world_peer, .tag = row->call.tag};
        return own;
    }
    for (int i = 0; i < row->wait.pending_count && i < BOARD_ITEMS; i++)
        if (!row->wait.pending[i].is_send) return &row->wait.pending[i];
    return NULL;
}

/* "rank 1 has a message with tag 7 from rank 0 waiting (4 bytes), but asks for tag 8" */
static bool tag_mismatch(p2p_job *job, const int *core, int length, char *text, size_t bytes)
{
    for (int i = 0; i < length; i++) {
        const board_row *row = &job->board->rows[core[i]];
        board_item own;
        const board_item *wanted = is_collective(row) ? NULL : pending_recv(row, &own);
        for (int k = 0; wanted && k < row->wait.waiting_count && k < BOARD_ITEMS; k++) {
            const board_item *here = &row->wait.waiting[k];
            if (here->tag < 0 || wanted->tag < 0 || here->tag == wanted->tag || (wanted->peer >= 0 && wanted->peer != here->peer))
                continue;
            snprintf(text, bytes, "tag mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but wants tag %d",
                     core[i], here->tag, here->peer, (unsigned long long)here->bytes, wanted->tag);
            return true;
        }
    }
    return false;
}

static void finished_text(p2p_job *job, int rank, const p2p_rank_set *can_act, char *text, size_t bytes)
{
    p2p_rank_set lack;
    int ranks[P2P_MAX_RANKS], count;
    words w = {.used = 0};
    lacking(job, rank, can_act, &lack);
    count = list_of(&lack, job->size, ranks);
    if (count) add_ranks(&w, ranks, count);
    if (!count)
        snprintf(text, bytes, "nobody is left to send: rank %d waits for any source, and there is no other rank", rank);
    else if (job->board->rows[rank].wait.any_count)
        snprintf(text, bytes, "nobody is left to send: all that rank %d could hear from, %.300s, %s finished", rank, w.text,
                 count == 1 ? "has" : "have");
    else
        snprintf(text, bytes, "waiting for a rank that has finished: %.300s sends and receives nothing more", w.text);
}

static verdict judge_cycle(p2p_job *job, const int *core, int length)
{
    if (length == 1 && sends(&job->board->rows[core[0]]))
        return (verdict){"a send to oneself that needs buffering: it waits for a receive that this rank never reaches",
                         "post the receive first (p2p_irecv), or use p2p_isend"};
    if (length == 1)
        return (verdict){"a rank waits for a message from itself that it has not sent", "send it first, with p2p_isend"};
    if (count_core(job, core, length, is_collective) == length && different_collectives(job, core, length))
        return (verdict){"the ranks are in different collectives", "every rank must make the same collective calls in the same order"};
    if (count_core(job, core, length, sends) == length)
        return (verdict){"sends that need buffering: each waits until its message is received, and nobody is receiving (a cycle)",
                         "let one side receive first, or p2p_sendrecv, or p2p_isend and then receive; up to 64 KiB a message may "
                         "be buffered, and that hides this"};
    if (count_core(job, core, length, receives) == length)
        return (verdict){"each receives before it sends, so nobody ever sends (a cycle)",
                         "let one of them send first, or use p2p_sendrecv, or p2p_irecv before the send"};
    return (verdict){"each waits for another to act first (a cycle)",
                     "follow the lines above: which message should come first, and who should be receiving it?"};
}

static verdict judge(p2p_job *job, const int *core, int length, bool is_cycle, const p2p_rank_set *can_act, char *text, size_t bytes)
{
    if (tag_mismatch(job, core, length, text, bytes))
        return (verdict){text, "make the tags equal, or receive with P2P_ANY_TAG and look at the status"};
    if (is_cycle) return judge_cycle(job, core, length);
    finished_text(job, core[0], can_act, text, bytes);
    return (verdict){text, "compare how many messages are sent and received: is a send missing, or a receive too many?"};
}

/* ---- The report ---- */

static void add_items(words *w, const board_row *row)
{
    if (row->call.shape != SHAPE_WAIT) return;
    for (int i = 0; i < row->wait.pending_count && i < BOARD_ITEMS; i++) {
        const board_item *item = &row->wait.pending[i];
        add(w, "\n    %s", item->is_send ? "send to" : "receive from");
        if (item->peer >= 0)
            add(w, " %d", item->peer);
        else
            add(w, " any");
        if (item->tag >= 0) add(w, ", tag %d", item->tag);
        add(w, ", %llu bytes", (unsigned long long)item->bytes);
        if (item->line) add(w, ", posted on line %d", item->line);
    }
    if (row->wait.pending_count > BOARD_ITEMS) add(w, "\n    and %d more", row->wait.pending_count - BOARD_ITEMS);
}

static void add_stuck(words *w, p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    char call[400];
    p2p_rank_set lack;
    int ranks[P2P_MAX_RANKS];
    p2p__call_text(&job->board->rows[rank].call, call, sizeof call);
    lacking(job, rank, can_act, &lack);
    int count = list_of(&lack, job->size, ranks);
    add(w, "\n  rank %d waits in %s", rank, call);
    if (count) {
        add(w, " for ");
        add_ranks(w, ranks, count);
    }
    add_items(w, &job->board->rows[rank]);
}

static void add_over(words *w, p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    p2p_rank_set lack;
    lacking(job, rank, can_act, &lack);
    for (int i = 0, shown = 0; i < job->size && shown < WAITERS_SHOWN; i++) {
        char call[400];
        if (!p2p__set_has(&lack, i) || !is_over(job, i)) continue;
        p2p__call_text(&job->board->rows[i].call, call, sizeof call);
        if (state_of(job, i) == BOARD_ABSENT)
            add(w, "\n  rank %d has ended without calling p2p_init", i);
        else
            add(w, "\n  rank %d is in %s", i, call);
        shown++;
    }
}

static void add_tail(words *w, p2p_job *job, const p2p_rank_set *stuck, const int *core, int length)
{
    p2p_rank_set rest = *stuck;
    int ranks[P2P_MAX_RANKS];
    for (int i = 0; i < length; i++) rest.word[core[i] / 64] &= ~(UINT64_C(1) << (core[i] % 64));
    int count = list_of(&rest, job->size, ranks);
    for (int i = 0; i < count && i < WAITERS_SHOWN; i++) {
        char call[400];
        p2p__call_text(&job->board->rows[ranks[i]].call, call, sizeof call);
        add(w, "\n  behind %s: rank %d in %s", length > 1 ? "them" : "it", ranks[i], call);
    }
    if (count > WAITERS_SHOWN) add(w, "\n  and %d more", count - WAITERS_SHOWN);
}

static void add_headline(words *w, const int *core, int length, bool is_cycle)
{
    add(w, "deadlock: ");
    add_ranks(w, core, length);
    if (is_cycle && length > 1)
        add(w, " wait for each other");
    else
        add(w, " waits for something that can never come");
}

void p2p__report_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    int core[P2P_MAX_RANKS];
    bool is_cycle;
    char text[600];
    words w = {.used = 0};
    int length = find_core(job, stuck, can_act, core, &is_cycle);
    verdict v = judge(job, core, length, is_cycle, can_act, text, sizeof text);
    add_headline(&w, core, length, is_cycle);
    for (int i = 0; i < length; i++) add_stuck(&w, job, core[i], can_act);
    if (!is_cycle) add_over(&w, job, core[0], can_act);
    add_tail(&w, job, stuck, core, length);
    add(&w, "\n  mistake: %s\n  try: %s", v.mistake, v.advice);
    p2p__say(job, "%s", w.text);
    bool finished = !is_cycle && next_in_chain(job, core[0], stuck, can_act) >= 0;
    p2p__job_fail(job, finished ? P2P_ERR_PEER_DEAD : P2P_ERR_DEADLOCK, core[0], 1, w.text);
}

void p2p__report_death(p2p_job *job, int rank, const char *how)
{
    words w = {.used = 0};
    int shown = 0;
    add(&w, "%s", how);
    for (int i = 0; i < job->size && shown < WAITERS_SHOWN; i++) {
        char call[400];
        if (i == rank || state_of(job, i) != BOARD_BLOCKED || job->ranks[i].ended) continue;
        p2p__call_text(&job->board->rows[i].call, call, sizeof call);
        add(&w, "\n  meanwhile rank %d waited: %s", i, call);
        shown++;
    }
    p2p__say(job, "%s", w.text);
}

void p2p__report_polling(p2p_job *job)
{
    words w = {.used = 0};
    add(&w, "note: for a second nothing has happened but polling:");
    for (int i = 0; i < job->size && w.used < sizeof w.text - 600; i++) {
        char call[400];
        int state = state_of(job, i);
        if (is_over(job, i)) continue;
        p2p__call_text(&job->board->rows[i].call, call, sizeof call);
        add(&w, "\n  rank %d %s in %s", i, state == BOARD_POLLING ? "polls" : "waits", call);
    }
    add(&w, "\n  try: is the message they look for ever sent?");
    p2p__say(job, "%s", w.text);
}

static void say_doing(p2p_job *job, int rank, char *text, size_t bytes)
{
    const board_call *call = &job->board->rows[rank].call;
    static const char *const waits[] = {[BOARD_BLOCKED] = "waits in ", [BOARD_POLLING] = "polls in ",
                                        [BOARD_FINALIZING] = "says goodbye in "};
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
    for (int i = 0; i < job->size; i++) {
        char doing[440], process[64];
        words w = {.used = 0};
        say_doing(job, i, doing, sizeof doing);
        p2p__process_state(job->ranks[i].pid, process, sizeof process);
        add(&w, "  rank %d, %s, %s", i, process, doing);
        if (state_of(job, i) == BOARD_BLOCKED) add_items(&w, &job->board->rows[i]);
        add(&w, "\n");
        p2p__sink_add(&job->err, w.text, w.used);
    }
}
