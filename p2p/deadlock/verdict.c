/* SPDX-License-Identifier: MIT */
/* Of all ranks that are stuck, those that have to be named: the knot, not the tail that leads into it; the class of
 * mistake behind it; the places that make it. */
#include <string.h>

#include "p2p/deadlock/deadlock.h"

/* The knot of a deadlock: ranks that wait for each other and for no other stuck rank (a knot: Holt 1972), or one
 * rank that waits for ranks that have finished. Every stuck rank waits for such a group, directly or not. */
typedef struct {
    int ranks[P2P_MAX_RANKS], length;
    bool is_cycle;
    p2p_rank_set set, behind;
} p2p_knot;

/* Whom a stuck rank waits for in vain. */
static void lacking(p2p_watch *watch, int rank, const p2p_rank_set *can_act, p2p_rank_set *lack)
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
    lacking(watch, rank, can_act, &set);
    for (int i = 0; i * 64 < watch->size; i++) set.word[i] &= stuck->word[i];
    return set;
}

static void find_knot(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_knot *knot)
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

/* ---- The mistake ---- */

/* A plain call may have to wait for operations that were begun before it (MPI_Buffer_detach). */
static bool has_items(const p2p_sight *row)
{
    int shape = row->call.shape;
    return shape == SHAPE_WAIT || shape == SHAPE_SENDRECV || (shape == SHAPE_PLAIN && row->wait.pending_count > 0);
}

static bool sends(const p2p_sight *row)
{
    if (row->call.shape == SHAPE_SEND) return true;
    return has_items(row) && row->wait.pending_count > 0 && row->wait.pending[0].shape == SHAPE_SEND;
}

/* One that waits for its receive whatever its size. */
static bool sends_synchronously(const p2p_sight *row)
{
    return sends(row) && row->wait.pending_count > 0 && row->wait.pending[0].synchronous;
}

static const scoreboard_call *pending_recv(const p2p_sight *row)
{
    if (row->call.shape == SHAPE_RECV) return &row->call;
    for (int i = 0; i < row->wait.pending_count && i < SCOREBOARD_ITEMS; i++)
        if (row->wait.pending[i].shape == SHAPE_RECV) return &row->wait.pending[i];
    return NULL;
}

/* A message lies at a rank of the knot that would do but for one thing: its tag or its communicator; or, `by_source` (of a
 * cycle in which all receive), it comes from another rank of the knot than the one that is waited for. */
static bool judge_message(p2p_watch *watch, const p2p_knot *h, p2p_finding *f, bool by_source)
{
    for (int i = 0; i < h->length; i++) {
        const p2p_sight *row = &watch->seen[h->ranks[i]];
        const scoreboard_call *wanted = row->call.shape == SHAPE_COLLECTIVE ? NULL : pending_recv(row);
        for (int k = 0; wanted && k < row->wait.waiting_count && k < SCOREBOARD_ITEMS; k++) {
            const scoreboard_call *here = &row->wait.waiting[k];
            bool tag_fits = wanted->tag < 0 || wanted->tag == here->tag, in_comm = here->context == wanted->context;
            bool any = wanted->world_peer < 0, from_wanted = any || wanted->world_peer == here->world_peer;
            bool near = here->tag >= 0 && here->context % 2 == 0 && from_wanted && in_comm != tag_fits;
            bool is_rank = here->world_peer >= 0 && here->world_peer < watch->size; /* or what a rank has overwritten */
            bool other = !any && in_comm && tag_fits && is_rank && p2p__set_has(&h->set, here->world_peer);
            if (!(by_source ? other : near)) continue;
            if (!in_comm) f->what.class = CLASS_COMMUNICATOR_MISMATCH;
            f->what.reason = by_source ? REASON_SOURCE : in_comm ? REASON_TAG : REASON_NONE;
            f->what.wanted_tag = wanted->tag;
            f->what.wanted_source = wanted->world_peer;
            p2p__finding_add(f, ROLE_MESSAGE, h->ranks[i], here);
            return true;
        }
    }
    return false;
}

/* Would rank take this message, of what it waits to receive? */
static bool meets(const scoreboard_call *recv, int rank, const scoreboard_call *sent, int sender)
{
    return sent->shape == SHAPE_SEND && sent->world_peer == rank && sent->context == recv->context &&
           (recv->tag < 0 || recv->tag == sent->tag) && (recv->world_peer < 0 || recv->world_peer == sender);
}

/* A receive that a rank of the knot waits for, and that nothing meets which the knot is sending. */
static bool is_unmet(p2p_watch *watch, const p2p_knot *h, int rank, const scoreboard_call *recv)
{
    if (recv->shape != SHAPE_RECV) return false;
    for (int i = 0; i < h->length; i++) {
        const scoreboard_wait *wait = &watch->seen[h->ranks[i]].wait;
        if (wait->pending_count > SCOREBOARD_ITEMS) return false;
        for (int k = 0; k < wait->pending_count; k++)
            if (meets(recv, rank, &wait->pending[k], h->ranks[i])) return false;
    }
    return true;
}

/* Each rank waits for such a receive as well: buffered sends would change nothing. */
static bool all_unmet(p2p_watch *watch, const p2p_knot *h)
{
    for (int i = 0; i < h->length; i++) {
        const scoreboard_wait *wait = &watch->seen[h->ranks[i]].wait;
        bool unmet = false;
        for (int k = 0; k < wait->pending_count && k < SCOREBOARD_ITEMS && !wait->any_count; k++)
            unmet = unmet || is_unmet(watch, h, h->ranks[i], &wait->pending[k]);
        if (!unmet) return false;
    }
    return true;
}

static void judge_cycle(p2p_watch *watch, const p2p_knot *h, p2p_finding *f)
{
    p2p_diagnosis *what = &f->what;
    const scoreboard_call *first = &watch->seen[h->ranks[0]].call;
    int splits = 0, sending = 0, synchronous = 0, receiving = 0, collectives = 0;
    bool differ = false, elsewhere = false;
    for (int i = 0; i < h->length; i++) {
        const p2p_sight *row = &watch->seen[h->ranks[i]];
        splits += strcmp(row->call.name, "p2p_split") == 0;
        sending += sends(row);
        synchronous += sends_synchronously(row);
        receiving += row->call.shape == SHAPE_RECV || (has_items(row) && !sends(row));
        collectives += row->call.shape == SHAPE_COLLECTIVE;
        differ = differ || strcmp(first->name, row->call.name) != 0 || first->number != row->call.number;
        elsewhere = elsewhere || first->context != row->call.context;
    }
    what->reason = REASON_CYCLE;
    what->all_receive = receiving == h->length;
    bool unmet = all_unmet(watch, h);
    if (sending == h->length && synchronous < h->length && !unmet) what->class = CLASS_BUFFERING;
    if (h->length == 1)
        what->reason = REASON_SELF;
    else if (splits && splits < h->length)
        what->reason = REASON_SPLIT;
    else if (collectives == h->length && (differ || elsewhere))
        what->reason = REASON_COLLECTIVES;
    if (what->reason == REASON_COLLECTIVES && elsewhere) what->class = CLASS_COMMUNICATOR_MISMATCH;
    if (what->reason == REASON_CYCLE && (what->all_receive || unmet)) judge_message(watch, h, f, true);
}

/* ---- The places ---- */

void p2p__add_pending(p2p_finding *f, p2p_place *place, const p2p_sight *row)
{
    int rank = place->rank, pending = place->pending = has_items(row) ? row->wait.pending_count : 0;
    for (int i = 0; i < pending && i < SCOREBOARD_ITEMS; i++)
        p2p__finding_add(f, ROLE_PENDING, rank, &row->wait.pending[i]);
}

static void add_waiter(p2p_watch *watch, p2p_finding *f, int role, int rank, const p2p_rank_set *can_act)
{
    const p2p_sight *row = &watch->seen[rank];
    p2p_place *place = p2p__finding_add(f, role, rank, &row->call);
    lacking(watch, rank, can_act, &place->awaited);
    place->any = row->wait.any_count > 0;
    place->state = row->state;
    p2p__add_pending(f, place, row);
}

void p2p__diagnose(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_finding *f)
{
    p2p_knot h = {.length = 0};
    find_knot(watch, stuck, can_act, &h);
    f->what =
        (p2p_diagnosis){.class = CLASS_DEADLOCK, .reason = REASON_FINISHED, .ranks = h.set, .is_cycle = h.is_cycle};
    for (int i = 0; i < h.length; i++) add_waiter(watch, f, ROLE_WAITS, h.ranks[i], can_act);
    if (!judge_message(watch, &h, f, false) && h.is_cycle) judge_cycle(watch, &h, f);
    p2p_rank_set lack = {{0}};
    if (!h.is_cycle) lacking(watch, h.ranks[0], can_act, &lack);
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(&lack, i) && p2p__is_over(watch, i))
            p2p__finding_add(f, ROLE_FINISHED, i, &watch->seen[i].call)->state = watch->seen[i].state;
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(stuck, i) && !p2p__set_has(&h.set, i))
            add_waiter(watch, f, p2p__set_has(&h.behind, i) ? ROLE_BEHIND : ROLE_STUCK, i, can_act);
    p2p__finding_hosts(watch->scoreboard, f);
}
