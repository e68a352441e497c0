/* SPDX-License-Identifier: MIT */
/* The class of mistake behind a deadlock, and the places that make it. */
#include <string.h>

#include "p2p/deadlock/deadlock.h"

static bool has_items(const p2p_sight *row)
{
    return row->call.shape == SHAPE_WAIT || row->call.shape == SHAPE_SENDRECV;
}

static bool sends(const p2p_sight *row)
{
    if (row->call.shape == SHAPE_SEND) return true;
    return has_items(row) && row->wait.pending_count > 0 && row->wait.pending[0].kind == ITEM_SEND;
}

static bool receives(const p2p_sight *row)
{
    return row->call.shape == SHAPE_RECV || (has_items(row) && !sends(row));
}

static int count_knot(p2p_watch *watch, const p2p_knot *h, bool (*is)(const p2p_sight *row))
{
    int count = 0;
    for (int i = 0; i < h->length; i++) count += is(&watch->seen[h->ranks[i]]);
    return count;
}

static bool is_collective(const p2p_sight *row)
{
    return row->call.shape == SHAPE_COLLECTIVE;
}

static bool different_collectives(p2p_watch *watch, const p2p_knot *h)
{
    const scoreboard_call *first = &watch->seen[h->ranks[0]].call;
    for (int i = 1; i < h->length; i++) {
        const scoreboard_call *other = &watch->seen[h->ranks[i]].call;
        if (strcmp(first->name, other->name) != 0 || first->number != other->number) return true;
    }
    return false;
}

static const scoreboard_item *pending_recv(const p2p_sight *row, scoreboard_item *own)
{
    if (row->call.shape == SHAPE_RECV) {
        *own = (scoreboard_item){.peer = row->call.world_peer, .tag = row->call.tag, .context = row->call.context};
        return own;
    }
    for (int i = 0; i < row->wait.pending_count && i < SCOREBOARD_ITEMS; i++)
        if (row->wait.pending[i].kind == ITEM_RECV) return &row->wait.pending[i];
    return NULL;
}

/* A message that would do but for its tag or its communicator. */
static bool near_miss(const scoreboard_item *here, const scoreboard_item *wanted)
{
    bool from_wanted = here->tag >= 0 && here->context % 2 == 0 && (wanted->peer < 0 || wanted->peer == here->peer);
    if (!from_wanted) return false;
    bool tag_fits = wanted->tag < 0 || wanted->tag == here->tag;
    return here->context != wanted->context ? tag_fits : !tag_fits;
}

static void add_message(p2p_finding *f, int rank, const scoreboard_item *here)
{
    const scoreboard_call message = {.shape = SHAPE_RECV,
                                     .peer = here->peer,
                                     .world_peer = here->peer,
                                     .tag = here->tag,
                                     .context = here->context,
                                     .bytes = here->bytes};
    p2p__finding_add(f, ROLE_MESSAGE, rank, &message);
}

static bool judge_near_miss(p2p_watch *watch, const p2p_knot *h, p2p_finding *f)
{
    for (int i = 0; i < h->length; i++) {
        const p2p_sight *row = &watch->seen[h->ranks[i]];
        scoreboard_item own;
        const scoreboard_item *wanted = is_collective(row) ? NULL : pending_recv(row, &own);
        for (int k = 0; wanted && k < row->wait.waiting_count && k < SCOREBOARD_ITEMS; k++) {
            const scoreboard_item *here = &row->wait.waiting[k];
            if (!near_miss(here, wanted)) continue;
            bool by_tag = here->context == wanted->context;
            f->what.class = by_tag ? CLASS_DEADLOCK : CLASS_COMMUNICATOR_MISMATCH;
            f->what.reason = by_tag ? REASON_TAG : REASON_NONE;
            f->what.wanted_tag = wanted->tag;
            add_message(f, h->ranks[i], here);
            return true;
        }
    }
    return false;
}

/* Of a cycle in which all receive: has one of them sent to another that waits for a third? Then a source is wrong. */
static void judge_source(p2p_watch *watch, const p2p_knot *h, p2p_finding *f)
{
    for (int i = 0; i < h->length; i++) {
        const p2p_sight *row = &watch->seen[h->ranks[i]];
        scoreboard_item own;
        const scoreboard_item *wanted = pending_recv(row, &own);
        for (int k = 0; wanted && wanted->peer >= 0 && k < row->wait.waiting_count && k < SCOREBOARD_ITEMS; k++) {
            const scoreboard_item *here = &row->wait.waiting[k];
            bool tag_fits = wanted->tag < 0 || wanted->tag == here->tag;
            if (here->context != wanted->context || !tag_fits || !p2p__set_has(&h->set, here->peer)) continue;
            f->what.reason = REASON_SOURCE;
            f->what.wanted_source = wanted->peer;
            add_message(f, h->ranks[i], here);
            return;
        }
    }
}

static bool is_split(const p2p_sight *row)
{
    return strcmp(row->call.name, "p2p_split") == 0;
}

static void judge_cycle(p2p_watch *watch, const p2p_knot *h, p2p_diagnosis *what)
{
    int splits = count_knot(watch, h, is_split);
    what->reason = REASON_CYCLE;
    what->all_receive = count_knot(watch, h, receives) == h->length;
    if (count_knot(watch, h, sends) == h->length) what->class = CLASS_BUFFERING;
    if (h->length == 1)
        what->reason = REASON_SELF;
    else if (splits && splits < h->length)
        what->reason = REASON_SPLIT;
    else if (count_knot(watch, h, is_collective) == h->length && different_collectives(watch, h))
        what->reason = REASON_COLLECTIVES;
}

/* ---- The places ---- */

static void add_item(p2p_finding *f, int rank, const scoreboard_item *item, const scoreboard_call *by)
{
    static const int shapes[] = {
        [ITEM_RECV] = SHAPE_RECV, [ITEM_SEND] = SHAPE_SEND, [ITEM_COLLECTIVE] = SHAPE_COLLECTIVE};
    scoreboard_call call = {.shape = shapes[item->kind],
                            .line = item->line,
                            .peer = item->peer,
                            .world_peer = item->peer,
                            .tag = item->tag,
                            .context = item->context,
                            .bytes = item->bytes,
                            .number = item->number,
                            .what = {.count = UINT64_MAX, .root = -1}};
    const char *posted_by = item->kind == ITEM_SEND ? "p2p_isend" : "p2p_irecv";
    p2p__copy_text(call.name, sizeof call.name,
                   item->kind == ITEM_COLLECTIVE ? item->name
                   : item->line                  ? posted_by
                                                 : "");
    if (item->same_file) p2p__copy_text(call.file, sizeof call.file, by->file);
    p2p__finding_add(f, ROLE_PENDING, rank, &call);
}

void p2p__add_pending(p2p_finding *f, p2p_place *place, const p2p_sight *row)
{
    int rank = place->rank, pending = place->pending = has_items(row) ? row->wait.pending_count : 0;
    for (int i = 0; i < pending && i < SCOREBOARD_ITEMS; i++) add_item(f, rank, &row->wait.pending[i], &row->call);
}

static void add_waiter(p2p_watch *watch, p2p_finding *f, int role, int rank, const p2p_rank_set *can_act)
{
    const p2p_sight *row = &watch->seen[rank];
    p2p_place *place = p2p__finding_add(f, role, rank, &row->call);
    p2p__lacking(watch, rank, can_act, &place->awaited);
    place->any = row->wait.any_count > 0;
    place->state = row->state;
    p2p__add_pending(f, place, row);
}

void p2p__diagnose(p2p_watch *watch, const p2p_rank_set *stuck, const p2p_rank_set *can_act, p2p_finding *f)
{
    p2p_knot h = {.length = 0};
    p2p__find_knot(watch, stuck, can_act, &h);
    f->what =
        (p2p_diagnosis){.class = CLASS_DEADLOCK, .reason = REASON_FINISHED, .ranks = h.set, .is_cycle = h.is_cycle};
    for (int i = 0; i < h.length; i++) add_waiter(watch, f, ROLE_WAITS, h.ranks[i], can_act);
    if (!judge_near_miss(watch, &h, f) && h.is_cycle) judge_cycle(watch, &h, &f->what);
    if (f->what.reason == REASON_CYCLE && f->what.all_receive) judge_source(watch, &h, f);
    p2p_rank_set lack = {{0}};
    if (!h.is_cycle) p2p__lacking(watch, h.ranks[0], can_act, &lack);
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(&lack, i) && p2p__is_over(watch, i))
            p2p__finding_add(f, ROLE_FINISHED, i, &watch->seen[i].call)->state = watch->seen[i].state;
    for (int i = 0; i < watch->size; i++)
        if (p2p__set_has(stuck, i) && !p2p__set_has(&h.set, i))
            add_waiter(watch, f, p2p__set_has(&h.behind, i) ? ROLE_BEHIND : ROLE_STUCK, i, can_act);
}
