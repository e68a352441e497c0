/* SPDX-License-Identifier: MIT */
/*
 * Deadlock detection: exact, never a guess from time.
 *
 * Start from the ranks that can act: those that are not waiting, and those to which something is under way. A rank that waits
 * for ranks of which enough can act (all of a wait_all, one of an any-source) can be released, and so can act as well;
 * repeat until nothing changes. A rank that is left waits for ever. (The OR/AND model of Chandy, Misra and Haas, 1983, on a
 * consistent picture: rows that did not change while they were read, see scoreboard.h.)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/deadlock/deadlock.h"
#include "p2p/shared/clock.h"

#define IMPOSSIBLE_POLLS 3
#define POLLING_WARN_NS UINT64_C(1000000000)
#define IDLE_POLLS 5
#define POLLING_GAP_NS UINT64_C(2000000000) /* longest time between two polls of a rank that does nothing else */

/* ---- Copies: a rank can write anything on the scoreboard, by mistake or not; so whatever is said about ranks is said of
 *      copies, taken once, in which numbers are in range and texts end ---- */

/* wait->need, without those who came to the collective after this rank had shown for whom it waits there. */
static p2p_rank_set still_needed(scoreboard *b, const scoreboard_wait *wait, int size)
{
    p2p_rank_set need = wait->need;
    if (!wait->agree_number) return need;
    const scoreboard_line *lines = p2p__scoreboard_lines(b, wait->agree_context, wait->agree_number);
    uint64_t wanted = p2p__line_at(wait->agree_number, wait->agree_steps);
    for (int i = 0; i < size; i++)
        if (p2p__set_has(&need, i) && atomic_load(&lines[i].at) >= wanted) p2p__set_remove(&need, i);
    return need;
}

void p2p__see(p2p_watch *watch)
{
    for (int i = 0; i < watch->size; i++) {
        const scoreboard_row *row = &watch->scoreboard->rows[i];
        p2p_sight *sight = &watch->seen[i];
        sight->state = p2p__state_of(atomic_load(&row->state));
        sight->call = p2p__call_copy(&row->call);
        scoreboard_wait *wait = &sight->wait;
        *wait = row->wait;
        if (wait->any_count < 0 || wait->any_count > SCOREBOARD_ANY_SETS) wait->any_count = 0;
        for (int k = 0; k < SCOREBOARD_ITEMS; k++) {
            wait->pending[k] = p2p__call_copy(&wait->pending[k]);
            wait->waiting[k] = p2p__call_copy(&wait->waiting[k]);
        }
        wait->need = still_needed(watch->scoreboard, wait, watch->size);
    }
}

bool p2p__is_over(const p2p_watch *watch, int rank)
{
    return watch->ended[rank] || watch->seen[rank].state >= SCOREBOARD_FINALIZING;
}

void p2p__see_error(const p2p_watch *watch, int rank, p2p_words *w)
{
    const scoreboard_row *row = &watch->scoreboard->rows[rank];
    char advice[sizeof row->advice];
    snprintf(advice, sizeof advice, "%.*s", (int)sizeof advice - 1, row->advice);
    p2p__add(w, "%.*s", (int)sizeof row->error - 1, row->error);
    p2p__add_advice(w, advice[0] ? advice : NULL);
}

bool p2p__scoreboard_is_sound(const p2p_watch *watch, bool failed)
{
    const scoreboard *b = watch->scoreboard;
    for (int i = 0; i < watch->size; i++) {
        int state = atomic_load(&b->rows[i].state);
        if (state != p2p__state_of(state)) return false;
    }
    return p2p__scoreboard_is_whole(b) && watch->impossible_polls < IMPOSSIBLE_POLLS &&
           (atomic_load(&b->shared->failed) != 0) == failed;
}

/* ---- Which ranks can act ---- */

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
        bool same = now == watch->seen[i].activity && now % 2 == 0;
        unchanged = unchanged && same;
        watch->seen[i].activity = now;
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
    bool known = p2p__is_local(b, from) || p2p__is_local(b, to); /* elsewhere both, they were read at different times */
    if (known && (int32_t)(uint32_t)(sent - received) < 0) watch->impossible = true;
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

static bool is_released(scoreboard *b, const scoreboard_wait *wait, const p2p_rank_set *can_act, int size)
{
    p2p_rank_set need = still_needed(b, wait, size);
    if (!p2p__set_within(&need, can_act, size)) return false;
    for (int i = 0; i < wait->any_count && i < SCOREBOARD_ANY_SETS; i++)
        if (!p2p__set_intersects(&wait->any[i], can_act, size)) return false;
    return true;
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
            const scoreboard_wait *wait = &watch->scoreboard->rows[i].wait;
            if (!p2p__set_has(still, i) || p2p__set_has(can_act, i) || is_over(watch, i)) continue;
            bool moves = wait->layer_count && p2p__set_intersects(&wait->layers, can_act, watch->size);
            if (!moves && (state_of(watch, i) != SCOREBOARD_BLOCKED ||
                           !is_released(watch->scoreboard, wait, can_act, watch->size)))
                continue; /* neither released, nor may one of its non-blocking collectives go on */
            p2p__set_add(can_act, i);
            grown = true;
        }
    }
}

/* ---- Ports of a virtual network ---- */

static bool asks_for_port(p2p_watch *watch, int rank)
{
    const scoreboard_port *port = &watch->scoreboard->rows[rank].port;
    return atomic_load_explicit(&port->asked, memory_order_acquire) != atomic_load(&port->granted);
}

bool p2p__watch_is_quiet(p2p_watch *watch, p2p_rank_set *asking)
{
    const p2p_rank_set none = {{0}};
    bool quiet = true;
    p2p__set_clear(asking, watch->size);
    watch->impossible = false;
    for (int i = 0; i < watch->size; i++) {
        uint64_t activity = activity_of(watch, i);
        int state = state_of(watch, i);
        watch->seen[i].activity = activity;
        if (is_over(watch, i)) continue;
        bool asks = asks_for_port(watch, i);
        if (asks) p2p__set_add(asking, i);
        quiet = quiet && activity % 2 == 0 && state != SCOREBOARD_ABSENT && (asks || state != SCOREBOARD_RUNNING);
    }
    for (int i = 0; i < watch->size && quiet; i++) {
        const scoreboard_wait *wait = &watch->scoreboard->rows[i].wait;
        if (is_over(watch, i)) continue;
        if (something_under_way_to(watch, i)) return false;
        if (!p2p__set_has(asking, i) && state_of(watch, i) == SCOREBOARD_BLOCKED &&
            is_released(watch->scoreboard, wait, &none, watch->size))
            return false;
    }
    atomic_thread_fence(memory_order_acquire);
    for (int i = 0; i < watch->size; i++)
        if (activity_of(watch, i) != watch->seen[i].activity || asks_for_port(watch, i) != p2p__set_has(asking, i))
            return false;
    return quiet;
}

/* ---- Polling: no deadlock, since a rank that polls may do anything next, but worth a word when nothing else happens. ---- */

/* Looks whether this rank has polled since the last look. A rank that has not for a while computes: it does not poll. */
static void see_polls(p2p_watch *watch, int rank, uint64_t now, bool quiet)
{
    p2p_sight *last = &watch->seen[rank];
    uint64_t polls = atomic_load_explicit(&watch->scoreboard->rows[rank].polls, memory_order_relaxed);
    if (polls != last->polls) last->polled_at = now;
    last->idle_polls = quiet ? last->idle_polls + (polls != last->polls) : 0;
    last->polls = polls;
    if (quiet && state_of(watch, rank) == SCOREBOARD_POLLING && now - last->polled_at >= POLLING_GAP_NS)
        watch->quiet_since = now;
}

static void watch_polling(p2p_watch *watch)
{
    uint64_t now = p2p__now(), polled_at = now;
    bool quiet = watch->unchanged, polling = false, enough = true;
    /* Every rank polls or waits, one polls, and nothing is under way. */
    for (int i = 0; i < watch->size && quiet; i++) {
        int state = state_of(watch, i);
        if (is_over(watch, i)) continue;
        quiet = state != SCOREBOARD_RUNNING && state != SCOREBOARD_ABSENT && !something_under_way_to(watch, i);
        polling = polling || state == SCOREBOARD_POLLING;
    }
    quiet = quiet && polling;
    if (!quiet) watch->quiet_since = now;
    for (int i = 0; i < watch->size; i++) {
        const p2p_sight *last = &watch->seen[i];
        see_polls(watch, i, now, quiet);
        if (state_of(watch, i) != SCOREBOARD_POLLING || is_over(watch, i)) continue;
        if (last->idle_polls < IDLE_POLLS) enough = false;
        if (last->polled_at < polled_at) polled_at = last->polled_at;
    }
    /* Up to the last poll of each that polls: what it has done since is not known. */
    watch->polls_for = quiet && enough && polled_at > watch->quiet_since ? polled_at - watch->quiet_since : 0;
    watch->only_polls = !watch->warned && watch->polls_for >= POLLING_WARN_NS;
    watch->warned = watch->warned || watch->only_polls;
}

bool p2p__watch_look(p2p_watch *watch, p2p_rank_set *stuck, p2p_rank_set *can_act)
{
    const p2p_rank_set *still = &watch->still;
    watch->impossible = false;
    find_still(watch, &watch->still);
    watch_polling(watch);
    find_can_act(watch, still, can_act);
    watch->impossible_polls = watch->impossible ? watch->impossible_polls + 1 : 0;
    bool any = false;
    p2p__set_clear(stuck, watch->size);
    for (int i = 0; i < watch->size; i++) {
        const scoreboard_wait *wait = &watch->scoreboard->rows[i].wait;
        bool waits = p2p__set_has(still, i) && state_of(watch, i) == SCOREBOARD_BLOCKED && !is_over(watch, i);
        if (!waits || something_under_way_to(watch, i) || is_released(watch->scoreboard, wait, can_act, watch->size))
            continue;
        p2p__set_add(stuck, i);
        any = true;
    }
    if (!any) return false;
    p2p__see(watch);
    atomic_thread_fence(memory_order_acquire); /* the picture is true if no row of those that stand still has changed */
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(still, i) && activity_of(watch, i) != watch->seen[i].activity) return false;
    return true;
}
