/* SPDX-License-Identifier: MIT */
/*
 * Deadlock detection: exact, never a guess from time.
 *
 * Start from the ranks that can act: those that are not waiting, and those to which something is under way. Whoever waits
 * for ranks of which enough can act (all of a wait_all, one of an any-source) can be released, and so can act as well;
 * repeat until nothing changes. Whoever is left waits for ever. (The OR/AND model of Chandy, Misra and Haas, 1983, on a
 * consistent picture: rows that did not change while they were read, see board.h.)
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/job/launch.h"

#define POLLING_WARN_NS UINT64_C(1000000000)
#define POLLING_LOOKS 5

p2p_err p2p__watch_init(p2p_job *job)
{
    p2p_watch *watch = &job->watch;
    watch->activity = calloc((size_t)job->size, sizeof *watch->activity);
    watch->polls = calloc((size_t)job->size, sizeof *watch->polls);
    watch->polled_looks = calloc((size_t)job->size, sizeof *watch->polled_looks);
    return watch->activity && watch->polls && watch->polled_looks ? P2P_OK : P2P_ERR_NOMEM;
}

void p2p__watch_free(p2p_job *job)
{
    free(job->watch.activity);
    free(job->watch.polls);
    free(job->watch.polled_looks);
}

static uint64_t activity_of(p2p_job *job, int rank)
{
    return atomic_load_explicit(&job->board->rows[rank].activity, memory_order_acquire);
}

static int state_of(p2p_job *job, int rank)
{
    return atomic_load_explicit(&job->board->rows[rank].state, memory_order_relaxed);
}

static bool is_over(p2p_job *job, int rank)
{
    return job->ranks[rank].ended || state_of(job, rank) == BOARD_FINISHED;
}

/* Waiting, and nothing about it has changed since the last look? Everyone else counts as able to act. */
static void find_still(p2p_job *job, p2p_rank_set *still)
{
    p2p_watch *watch = &job->watch;
    bool unchanged = true;
    p2p__set_clear(still, job->size);
    for (int i = 0; i < job->size; i++) {
        uint64_t now = activity_of(job, i);
        bool same = now == watch->activity[i] && now % 2 == 0;
        unchanged = unchanged && same;
        watch->activity[i] = now;
        int state = state_of(job, i);
        if (same && (state == BOARD_BLOCKED || state == BOARD_FINALIZING)) p2p__set_add(still, i);
    }
    watch->unchanged = unchanged;
}

static uint64_t sent_by(p2p_job *job, int from, int to)
{
    return atomic_load_explicit(&p2p__board_sent(job->board, from)[to], memory_order_relaxed);
}

static uint64_t received_by(p2p_job *job, int by, int from)
{
    return atomic_load_explicit(&p2p__board_received(job->board, by)[from], memory_order_acquire);
}

/* Frames from one rank to another that have not been received. `sent` is counted before and read after: so there are never
 * less than none, unless somebody has written there. */
static bool under_way(p2p_job *job, int from, int to)
{
    uint64_t received = received_by(job, to, from), sent = sent_by(job, from, to);
    if ((int32_t)(uint32_t)(sent - received) < 0) job->watch.impossible = true;
    return sent != received;
}

/* Something that this rank does not know of yet: a frame, a nudge, or that all it had to send to a peer has arrived. */
static bool something_under_way_to(p2p_job *job, int rank)
{
    const board_row *row = &job->board->rows[rank];
    bool drains = state_of(job, rank) == BOARD_BLOCKED && row->wait.drains;
    if (atomic_load(&row->nudges) != atomic_load(&row->nudges_seen)) return true;
    for (int i = 0; i < job->size; i++) {
        if (under_way(job, i, rank)) return true;
        if (drains && p2p__set_has(&row->wait.draining, i) && !under_way(job, rank, i)) return true;
    }
    return false;
}

p2p_rank_set p2p__still_needed(board *b, const board_wait *wait, int size)
{
    p2p_rank_set need = wait->need;
    if (!wait->agree_number) return need;
    const board_line *lines = p2p__board_lines(b, wait->agree_context, wait->agree_number);
    uint64_t wanted = p2p__line_at(wait->agree_number, wait->agree_steps);
    for (int i = 0; i < size; i++)
        if (p2p__set_has(&need, i) && atomic_load(&lines[i].at) >= wanted) p2p__set_remove(&need, i);
    return need;
}

static bool is_released(board *b, const board_wait *wait, const p2p_rank_set *can_act, int size)
{
    p2p_rank_set need = p2p__still_needed(b, wait, size);
    if (!p2p__set_within(&need, can_act, size)) return false;
    for (int i = 0; i < wait->any_count && i < BOARD_ANY_SETS; i++)
        if (!p2p__set_meets(&wait->any[i], can_act, size)) return false;
    return true;
}

static bool may_act(p2p_job *job, int rank, const p2p_rank_set *can_act)
{
    const board_wait *wait = &job->board->rows[rank].wait;
    if (wait->layer_count && p2p__set_meets(&wait->layers, can_act, job->size)) return true;
    return state_of(job, rank) == BOARD_BLOCKED && is_released(job->board, wait, can_act, job->size);
}

static void find_can_act(p2p_job *job, const p2p_rank_set *still, p2p_rank_set *can_act)
{
    p2p__set_clear(can_act, job->size);
    for (int i = 0; i < job->size; i++)
        if (!is_over(job, i) && (!p2p__set_has(still, i) || something_under_way_to(job, i))) p2p__set_add(can_act, i);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < job->size; i++) {
            if (!p2p__set_has(still, i) || p2p__set_has(can_act, i) || is_over(job, i) || !may_act(job, i, can_act))
                continue;
            p2p__set_add(can_act, i);
            grown = true;
        }
    }
}

/* No row of those that stand still has changed while all this was read? */
static bool picture_is_true(p2p_job *job, const p2p_rank_set *still)
{
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < job->size; i++)
        if (p2p__set_has(still, i) && activity_of(job, i) != job->watch.activity[i]) return false;
    return true;
}

static bool find_stuck(p2p_job *job, const p2p_rank_set *still, const p2p_rank_set *can_act, p2p_rank_set *stuck)
{
    bool any = false;
    p2p__set_clear(stuck, job->size);
    for (int i = 0; i < job->size; i++) {
        bool waits = p2p__set_has(still, i) && state_of(job, i) == BOARD_BLOCKED && !is_over(job, i);
        if (!waits || something_under_way_to(job, i) ||
            is_released(job->board, &job->board->rows[i].wait, can_act, job->size))
            continue;
        p2p__set_add(stuck, i);
        any = true;
    }
    return any;
}

/* ---- Polling: no deadlock, since a rank that polls may do anything next, but worth a word when nothing else happens. ---- */

static bool only_polling(p2p_job *job)
{
    bool polling = false;
    for (int i = 0; i < job->size; i++) {
        if (is_over(job, i)) continue;
        int state = state_of(job, i);
        if (state == BOARD_RUNNING || state == BOARD_ABSENT || something_under_way_to(job, i)) return false;
        polling = polling || state == BOARD_POLLING;
    }
    return polling;
}

static bool all_polled_enough(p2p_job *job)
{
    for (int i = 0; i < job->size; i++)
        if (state_of(job, i) == BOARD_POLLING && !is_over(job, i) && job->watch.polled_looks[i] < POLLING_LOOKS)
            return false;
    return true;
}

static void watch_polling(p2p_job *job)
{
    p2p_watch *watch = &job->watch;
    uint64_t now = p2p__now();
    bool quiet = watch->unchanged && only_polling(job);
    if (!quiet) watch->quiet_since = now;
    for (int i = 0; i < job->size; i++) {
        uint64_t polls = atomic_load_explicit(&job->board->rows[i].polls, memory_order_relaxed);
        watch->polled_looks[i] = quiet ? watch->polled_looks[i] + (polls != watch->polls[i]) : 0;
        watch->polls[i] = polls;
    }
    if (!quiet || watch->warned || now - watch->quiet_since < POLLING_WARN_NS || !all_polled_enough(job)) return;
    watch->warned = true;
    p2p__report_polling(job);
}

bool p2p__watch_look(p2p_job *job, p2p_rank_set *stuck, p2p_rank_set *can_act)
{
    p2p_rank_set still;
    job->watch.impossible = false;
    find_still(job, &still);
    watch_polling(job);
    find_can_act(job, &still, can_act);
    job->watch.impossible_looks = job->watch.impossible ? job->watch.impossible_looks + 1 : 0;
    if (!find_stuck(job, &still, can_act, stuck)) return false;
    p2p__see(job);
    return picture_is_true(job, &still);
}
