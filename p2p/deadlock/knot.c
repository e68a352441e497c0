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

/* Stuck ranks that a stuck rank waits for. */
static p2p_rank_set waits_for(p2p_watch *watch, int rank, const p2p_rank_set *stuck, const p2p_rank_set *can_act)
{
    p2p_rank_set set = {{0}};
    p2p__lacking(watch, rank, can_act, &set);
    for (int i = 0; i * 64 < watch->size; i++) set.word[i] &= stuck->word[i];
    return set;
}

void p2p__find_knot(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_knot *knot)
{
    int size = watch->size, member = 0, round[P2P_MAX_RANKS], length = 0;
    p2p_rank_set all[P2P_MAX_RANKS] = {{{0}}}, seen = {{0}}; /* all: that each waits for, directly or through others */
    for (int i = 0; i < size; i++)
        if (p2p__set_has(stuck, i)) all[i] = waits_for(watch, i, stuck, can_act);
    for (int by = 0; by < size; by++) /* the transitive closure (Warshall 1962) */
        for (int i = 0; i < size; i++)
            if (p2p__set_has(&all[i], by)) p2p__set_join(&all[i], &all[by], size);

    while (!p2p__set_has(stuck, member)) member++;
    for (int next = 0; next < size;) { /* along the chain: as long as a rank is waited for that does not wait back */
        bool goes_on = p2p__set_has(&all[member], next) && !p2p__set_has(&all[next], member);
        if (goes_on) member = next;
        next = goes_on ? 0 : next + 1;
    }
    knot->set = all[member];
    knot->is_cycle = p2p__set_has(&knot->set, member);
    p2p__set_add(&knot->set, member);
    knot->length = p2p__set_list(&knot->set, size, knot->ranks);
    for (int i = 0; i < size; i++)
        if (p2p__set_intersects(&all[i], &knot->set, size)) p2p__set_add(&knot->behind, i);

    /* In the order in which they wait for each other where that is one round, else by number. */
    for (int at = knot->ranks[0]; at < size && !p2p__set_has(&seen, at);) {
        const p2p_rank_set direct = waits_for(watch, at, stuck, can_act);
        p2p__set_add(&seen, at);
        round[length++] = at;
        for (at = 0; at < size && !p2p__set_has(&direct, at);) at++;
        if (at == size) length = 0;
    }
    if (length == knot->length) memcpy(knot->ranks, round, (size_t)length * sizeof *round);
}
