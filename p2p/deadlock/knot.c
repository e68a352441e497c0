/* SPDX-License-Identifier: MIT */
/* Of all ranks that are stuck, find those that have to be named: the knot, not the tail that leads into it. */
#include <string.h>

#include "p2p/deadlock/deadlock.h"

void p2p__lacking(p2p_watch *watch, int rank, const p2p_rank_set *can_act, p2p_rank_set *lack)
{
    const scoreboard_wait *wait = &watch->seen[rank].wait;
    for (int i = 0; i * 64 < watch->size; i++) lack->word[i] = wait->need.word[i] & ~can_act->word[i];
    for (int i = 0; i < wait->any_count; i++)
        if (!p2p__set_intersects(&wait->any[i], can_act, watch->size)) p2p__set_join(lack, &wait->any[i], watch->size);
}

/* The stuck ranks and whom among them each waits for. */
typedef struct {
    p2p_watch *watch;
    const p2p_rank_set *stuck, *can_act;
    int size;
} graph;

static void waits_for(const graph *g, int rank, p2p_rank_set *set)
{
    p2p__lacking(g->watch, rank, g->can_act, set);
    for (int i = 0; i * 64 < g->size; i++) set->word[i] &= g->stuck->word[i];
}

/* Stuck ranks that `rank` waits for, directly or through others. */
static void find_reach(const graph *g, int rank, p2p_rank_set *reach)
{
    int todo[P2P_MAX_RANKS + 1], count = 0;
    p2p__set_clear(reach, g->size);
    todo[count++] = rank;
    while (count > 0) {
        p2p_rank_set next = {{0}};
        waits_for(g, todo[--count], &next);
        for (int i = 0; i < g->size; i++) {
            if (!p2p__set_has(&next, i) || p2p__set_has(reach, i)) continue;
            p2p__set_add(reach, i);
            todo[count++] = i;
        }
    }
}

/* Stuck ranks that wait for one of `set`, directly or through others. */
static void find_waiting(const graph *g, const p2p_rank_set *set, p2p_rank_set *waiting)
{
    p2p_rank_set goal = *set;
    p2p__set_clear(waiting, g->size);
    for (bool grown = true; grown;) {
        grown = false;
        for (int i = 0; i < g->size; i++) {
            p2p_rank_set next = {{0}};
            if (!p2p__set_has(g->stuck, i) || p2p__set_has(waiting, i)) continue;
            waits_for(g, i, &next);
            if (!p2p__set_intersects(&next, &goal, g->size)) continue;
            p2p__set_add(waiting, i);
            p2p__set_add(&goal, i);
            grown = true;
        }
    }
}

/* From a stuck rank along the chain: as long as a rank is waited for that does not wait back, go on to it. */
static int find_member(const graph *g, p2p_rank_set *reach)
{
    int at = 0;
    while (!p2p__set_has(g->stuck, at)) at++;
    for (;;) {
        p2p_rank_set self = {{0}}, back = {{0}};
        int next = 0;
        p2p__set_add(&self, at);
        find_reach(g, at, reach);
        find_waiting(g, &self, &back);
        p2p__set_add(&back, at);
        while (next < g->size && !(p2p__set_has(reach, next) && !p2p__set_has(&back, next))) next++;
        if (next == g->size) return at;
        at = next;
    }
}

void p2p__find_knot(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_knot *knot)
{
    graph g = {watch, stuck, can_act, watch->size};
    int member = find_member(&g, &knot->set);
    knot->is_cycle = p2p__set_has(&knot->set, member);
    p2p__set_add(&knot->set, member);
    knot->length = p2p__set_list(&knot->set, watch->size, knot->ranks);
    /* In the order in which they wait for each other where that is one round, else by number. */
    int round[P2P_MAX_RANKS], length = 0;
    p2p_rank_set seen = {{0}}, next = {{0}};
    for (int at = knot->ranks[0]; at < g.size && !p2p__set_has(&seen, at);) {
        p2p__set_add(&seen, at);
        round[length++] = at;
        waits_for(&g, at, &next);
        for (at = 0; at < g.size && !p2p__set_has(&next, at);) at++;
        if (at == g.size) length = 0;
    }
    if (length == knot->length) memcpy(knot->ranks, round, (size_t)length * sizeof *round);
    find_waiting(&g, &knot->set, &knot->behind);
}
