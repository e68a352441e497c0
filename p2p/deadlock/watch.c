/* SPDX-License-Identifier: MIT */
/*
 * Deadlock detection: exact, never a guess from time.
 *
 * Start from the ranks that can act: those that are not waiting, and those to which something is under way. A rank that waits
 * for ranks of which enough can act (all of a wait_all, one of an any-source) can be released, and so can act as well;
 * repeat until nothing changes. A rank that is left waits for ever. (The OR/AND model of Chandy, Misra and Haas, 1983, on a
 * consistent picture: rows that did not change while they were read, see scoreboard.h.)
 */
#include <stdlib.h>
#include <string.h>

#include "p2p/deadlock/deadlock.h"
#include "p2p/shared/clock.h"

#define POLLING_WARN_NS UINT64_C(1000000000)
#define IDLE_POLLS 5

p2p_err p2p__watch_init(p2p_watch *watch, scoreboard *b)
{
    *watch = (p2p_watch){.size = b->size, .scoreboard = b};
    watch->seen = calloc((size_t)watch->size, sizeof *watch->seen);
    watch->ended = calloc((size_t)watch->size, sizeof *watch->ended);
    if (watch->ended) memset(watch->ended, true, (size_t)watch->size * sizeof *watch->ended);
    watch->activity = calloc((size_t)watch->size, sizeof *watch->activity);
    watch->polls = calloc((size_t)watch->size, sizeof *watch->polls);
    watch->idle_polls = calloc((size_t)watch->size, sizeof *watch->idle_polls);
    return watch->seen && watch->ended && watch->activity && watch->polls && watch->idle_polls ? P2P_OK : P2P_ERR_NOMEM;
}

void p2p__watch_free(p2p_watch *watch)
{
    free(watch->seen);
    free(watch->ended);
    free(watch->activity);
    free(watch->polls);
    free(watch->idle_polls);
}

static uint64_t activity_of(p2p_watch *watch, int rank)
{
    return atomic_load_explicit(&watch->scoreboard->rows[rank].activity, memory_order_acquire);
}

static int state_of(p2p_watch *watch, int rank)
{
    return atomic_load_explicit(&watch->scoreboard->rows[rank].state, memory_order_relaxed);
}

static bool is_over(p2p_watch *watch, int rank)
{
    return watch->ended[rank] || state_of(watch, rank) == SCOREBOARD_FINISHED;
}

/* Waiting, and nothing about it has changed since the last look? All other ranks count as able to act. */
static void find_still(p2p_watch *watch, p2p_rank_set *still)
{
    bool unchanged = true;
    p2p__set_clear(still, watch->size);
    for (int i = 0; i < watch->size; i++) {
        uint64_t now = activity_of(watch, i);
        bool same = now == watch->activity[i] && now % 2 == 0;
        unchanged = unchanged && same;
        watch->activity[i] = now;
        int state = state_of(watch, i);
        if (same && (state == SCOREBOARD_BLOCKED || state == SCOREBOARD_FINALIZING)) p2p__set_add(still, i);
    }
    watch->unchanged = unchanged;
}

/* Frames from one rank to another that have not been received. `sent` is counted before and read after: so there are never
 * less than none, unless a rank has overwritten a counter. */
static bool under_way(p2p_watch *watch, int from, int to)
{
    scoreboard *b = watch->scoreboard;
    uint64_t received = atomic_load_explicit(&p2p__scoreboard_received(b, to)[from], memory_order_acquire),
             sent = atomic_load_explicit(&p2p__scoreboard_sent(b, from)[to], memory_order_relaxed);
    if ((int32_t)(uint32_t)(sent - received) < 0) watch->impossible = true;
    return sent != received;
}

/* Something that this rank does not know of yet: a frame, a nudge, or that all it had to send to a peer has arrived. */
static bool something_under_way_to(p2p_watch *watch, int rank)
{
    const scoreboard_row *row = &watch->scoreboard->rows[rank];
    bool drains = state_of(watch, rank) == SCOREBOARD_BLOCKED && row->wait.drains;
    if (atomic_load(&row->nudges) != atomic_load(&row->nudges_seen)) return true;
    for (int i = 0; i < watch->size; i++) {
        if (under_way(watch, i, rank)) return true;
        if (drains && p2p__set_has(&row->wait.draining, i) && !under_way(watch, rank, i)) return true;
    }
    return false;
}

p2p_rank_set p2p__still_needed(scoreboard *b, const scoreboard_wait *wait, int size)
{
    p2p_rank_set need = wait->need;
    if (!wait->agree_number) return need;
    const scoreboard_line *lines = p2p__scoreboard_lines(b, wait->agree_context, wait->agree_number);
    uint64_t wanted = p2p__line_at(wait->agree_number, wait->agree_steps);
    for (int i = 0; i < size; i++)
        if (p2p__set_has(&need, i) && atomic_load(&lines[i].at) >= wanted) p2p__set_remove(&need, i);
    return need;
}

static bool is_released(scoreboard *b, const scoreboard_wait *wait, const p2p_rank_set *can_act, int size)
{
    p2p_rank_set need = p2p__still_needed(b, wait, size);
    if (!p2p__set_within(&need, can_act, size)) return false;
    for (int i = 0; i < wait->any_count && i < SCOREBOARD_ANY_SETS; i++)
        if (!p2p__set_intersects(&wait->any[i], can_act, size)) return false;
    return true;
}

/* A rank that stands still: released, or one of its non-blocking collectives may go on. */
static bool may_act(p2p_watch *watch, int rank, const p2p_rank_set *can_act)
{
    const scoreboard_wait *wait = &watch->scoreboard->rows[rank].wait;
    if (wait->layer_count && p2p__set_intersects(&wait->layers, can_act, watch->size)) return true;
    return state_of(watch, rank) == SCOREBOARD_BLOCKED && is_released(watch->scoreboard, wait, can_act, watch->size);
}

static void find_can_act(p2p_watch *watch, const p2p_rank_set *still, p2p_rank_set *can_act)
{
    p2p__set_clear(can_act, watch->size);
    for (int i = 0; i < watch->size; i++)
        if (!is_over(watch, i) && (!p2p__set_has(still, i) || something_under_way_to(watch, i)))
            p2p__set_add(can_act, i);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < watch->size; i++) {
            if (!p2p__set_has(still, i) || p2p__set_has(can_act, i) || is_over(watch, i) || !may_act(watch, i, can_act))
                continue;
            p2p__set_add(can_act, i);
            grown = true;
        }
    }
}

/* No row of those that stand still has changed while all this was read? */
static bool picture_is_true(p2p_watch *watch, const p2p_rank_set *still)
{
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(still, i) && activity_of(watch, i) != watch->activity[i]) return false;
    return true;
}

static bool find_stuck(p2p_watch *watch, const p2p_rank_set *still, const p2p_rank_set *can_act, p2p_rank_set *stuck)
{
    bool any = false;
    p2p__set_clear(stuck, watch->size);
    for (int i = 0; i < watch->size; i++) {
        bool waits = p2p__set_has(still, i) && state_of(watch, i) == SCOREBOARD_BLOCKED && !is_over(watch, i);
        if (!waits || something_under_way_to(watch, i) ||
            is_released(watch->scoreboard, &watch->scoreboard->rows[i].wait, can_act, watch->size))
            continue;
        p2p__set_add(stuck, i);
        any = true;
    }
    return any;
}

/* ---- Polling: no deadlock, since a rank that polls may do anything next, but worth a word when nothing else happens. ---- */

/* Every rank polls or waits, one polls, and nothing is under way. */
static bool only_polling(p2p_watch *watch)
{
    bool polling = false;
    for (int i = 0; i < watch->size; i++) {
        if (is_over(watch, i)) continue;
        int state = state_of(watch, i);
        if (state == SCOREBOARD_RUNNING || state == SCOREBOARD_ABSENT || something_under_way_to(watch, i)) return false;
        polling = polling || state == SCOREBOARD_POLLING;
    }
    return polling;
}

static void watch_polling(p2p_watch *watch)
{
    uint64_t now = p2p__now();
    bool quiet = watch->unchanged && only_polling(watch), enough = true;
    if (!quiet) watch->quiet_since = now;
    for (int i = 0; i < watch->size; i++) {
        uint64_t polls = atomic_load_explicit(&watch->scoreboard->rows[i].polls, memory_order_relaxed);
        watch->idle_polls[i] = quiet ? watch->idle_polls[i] + (polls != watch->polls[i]) : 0;
        watch->polls[i] = polls;
        bool polling = state_of(watch, i) == SCOREBOARD_POLLING && !is_over(watch, i);
        if (polling && watch->idle_polls[i] < IDLE_POLLS) enough = false;
    }
    watch->only_polls = quiet && enough && !watch->warned && now - watch->quiet_since >= POLLING_WARN_NS;
    watch->warned = watch->warned || watch->only_polls;
}

bool p2p__watch_look(p2p_watch *watch, p2p_rank_set *stuck, p2p_rank_set *can_act)
{
    p2p_rank_set still;
    watch->impossible = false;
    find_still(watch, &still);
    watch_polling(watch);
    find_can_act(watch, &still, can_act);
    watch->impossible_polls = watch->impossible ? watch->impossible_polls + 1 : 0;
    if (!find_stuck(watch, &still, can_act, stuck)) return false;
    p2p__see(watch);
    return picture_is_true(watch, &still);
}
