/* SPDX-License-Identifier: MIT */
/* A deadlock in words: who waits in which call for which ranks, the mistake behind it, and one thing to try. */
#include <string.h>

#include "p2p/shared/words.h"

/* "rank 3", "ranks 1 and 2", "ranks 0, 1 or 5" */
static void add_ranks(p2p_words *w, const int *ranks, int count, const char *last)
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

void p2p__add_item(p2p_words *w, const scoreboard_call *item)
{
    if (item->shape == SHAPE_COLLECTIVE)
        p2p__add(w, "%s #%llu", item->name, (unsigned long long)item->number);
    else
        p2p__add_operation(w, "send to", "receive from", item);
    if (item->line) p2p__add(w, ", posted on line %d", item->line);
}

void p2p__add_items(p2p_words *w, const p2p_finding *f, const p2p_place *of)
{
    int shown = 0;
    for (const p2p_place *at = of + 1; at < f->places + f->count && at->role == ROLE_PENDING; at++, shown++) {
        p2p__add(w, "\n    ");
        p2p__add_item(w, &at->call);
    }
    if (of->pending > shown) p2p__add(w, "\n    and %d more", of->pending - shown);
}

static void add_waiter(p2p_words *w, const p2p_place *place)
{
    int ranks[P2P_MAX_RANKS], count = p2p__set_list(&place->awaited, P2P_MAX_RANKS, ranks);
    p2p__add_call(w, "", &place->call);
    if (!count) return;
    p2p__add(w, " for ");
    add_ranks(w, ranks, count, place->any ? "or" : "and");
}

/* ---- The mistake behind it, and one thing to try ---- */

#define EVERY_RANK_SPLITS "p2p_split is called by every rank of the communicator"

/* A message lies at a rank that waits, but is not what it wants. */
static const char *say_near_miss(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place = p2p__finding_first(f, ROLE_MESSAGE);
    bool by_communicator = f->what.class == CLASS_COMMUNICATOR_MISMATCH, by_tag = f->what.reason == REASON_TAG;
    p2p__add(w, "%s mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but ",
             by_communicator ? "communicator"
             : by_tag        ? "tag"
                             : "source",
             place->rank, place->call.tag, place->call.peer, (unsigned long long)place->call.bytes);
    if (by_communicator) {
        p2p__add(w, "it was sent in another communicator");
        return "send and receive in the same communicator";
    }
    if (by_tag) {
        p2p__add(w, "wants tag %d", f->what.wanted_tag);
        return "make the tags equal, or receive with P2P_ANY_TAG and look at the status";
    }
    p2p__add(w, "wants one from rank %d", f->what.wanted_source);
    return "do both sides mean each other? Compare to whom each rank sends, and from whom it receives";
}

static const char *say_finished(p2p_words *w, const p2p_finding *f)
{
    const p2p_place *place = p2p__finding_first(f, ROLE_WAITS), *pending = place + 1;
    int ranks[P2P_MAX_RANKS], count = p2p__set_list(&place->awaited, P2P_MAX_RANKS, ranks);
    if (!count) {
        p2p__add(w, "no rank is left that could send: rank %d waits for any source, and there is no other rank",
                 place->rank);
    } else if (place->any) {
        p2p__add(w, "no rank is left that could send: all from which rank %d could receive, ", place->rank);
        add_ranks(w, ranks, count, "and");
        p2p__add(w, ", %s finished", count == 1 ? "has" : "have");
    } else {
        p2p__add(w, "waiting for a rank that has finished: ");
        add_ranks(w, ranks, count, "and");
        p2p__add(w, count == 1 ? " sends and receives nothing more" : " send and receive nothing more");
    }
    if (strcmp(place->call.name, "p2p_split") == 0) return EVERY_RANK_SPLITS ": does every rank call it?";
    if (place->call.shape == SHAPE_COLLECTIVE)
        return "every rank of the communicator makes this call: does every rank make it as often?";
    bool sends = place->call.shape == SHAPE_SEND ||
                 (place->pending && pending < f->places + f->count && pending->call.shape == SHAPE_SEND);
    return sends ? "compare how many messages are sent and received: is a receive missing, or a send too many?"
                 : "compare how many messages are sent and received: is a send missing, or a receive too many?";
}

/* The first that fits; class CLASS_NONE: of any class. */
static const struct {
    int reason, class;
    bool all_receive;
    const char *mistake, *advice;
} mistakes[] = {
    {REASON_SELF, CLASS_BUFFERING, false,
     "a send to oneself that needs buffering: it waits for a receive that this rank never reaches",
     "post the receive first (p2p_irecv), or use p2p_isend"},
    {REASON_SELF, CLASS_NONE, false, "a rank waits for a message from itself that it has not sent",
     "send it first, with p2p_isend"},
    {REASON_SPLIT, CLASS_NONE, false, "not every rank is in p2p_split",
     EVERY_RANK_SPLITS ", with P2P_UNDEFINED by those that join no group"},
    {REASON_COLLECTIVES, CLASS_COMMUNICATOR_MISMATCH, false, "the ranks are in collectives of different communicators",
     "every rank must make its calls on several communicators in the same order"},
    {REASON_COLLECTIVES, CLASS_NONE, false, "the ranks are in different collectives",
     "every rank must make the same collective calls in the same order"},
    {REASON_CYCLE, CLASS_BUFFERING, false,
     "sends that need buffering: each waits until its message is received, and none of the ranks receives (a cycle)",
     "let one side receive first, or p2p_sendrecv, or p2p_isend and then receive; up to 64 KiB a message may be "
     "buffered, and that hides this"},
    {REASON_CYCLE, CLASS_NONE, true, "each receives before it sends, so none of them ever sends (a cycle)",
     "let one of them send first, or use p2p_sendrecv, or p2p_irecv before the send"},
    {REASON_CYCLE, CLASS_NONE, false, "each waits for another to act first (a cycle)",
     "follow the lines above: which message should come first, and who should be receiving it?"},
};

const char *p2p__words_mistake(p2p_words *w, const p2p_finding *f)
{
    const p2p_diagnosis *what = &f->what;
    bool in_messages = what->class == CLASS_COMMUNICATOR_MISMATCH && what->reason != REASON_COLLECTIVES;
    if (in_messages || what->reason == REASON_TAG || what->reason == REASON_SOURCE) return say_near_miss(w, f);
    if (what->reason == REASON_FINISHED) return say_finished(w, f);
    size_t i = 0, last = sizeof mistakes / sizeof *mistakes - 1;
    while (i < last && (mistakes[i].reason != what->reason || (mistakes[i].class && mistakes[i].class != what->class) ||
                        (mistakes[i].all_receive && !what->all_receive)))
        i++;
    p2p__add(w, "%s", mistakes[i].mistake);
    return mistakes[i].advice;
}

void p2p__words_deadlock(p2p_words *w, const p2p_finding *f)
{
    int ranks[P2P_MAX_RANKS], knot = 0, waits = 0, finished = 0, others = 0;
    const p2p_place *place;
    for (size_t at = 0; knot < P2P_MAX_RANKS && (place = p2p__finding_next(f, ROLE_WAITS, &at));)
        ranks[knot++] = place->rank;
    p2p__add(w, "deadlock: ");
    add_ranks(w, ranks, knot, "and");
    p2p__add(w, f->what.is_cycle && knot > 1 ? " wait for each other" : " waits for something that can never come");
    for (size_t at = 0; waits < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_WAITS, &at)); waits++) {
        p2p__add(w, "\n  ");
        p2p__add_rank(w, place);
        p2p__add(w, " waits in ");
        add_waiter(w, place);
        p2p__add_items(w, f, place);
    }
    if (knot > waits) p2p__add(w, "\n  and %d more", knot - waits);
    for (size_t at = 0; finished < WAITERS_SHOWN && (place = p2p__finding_next(f, ROLE_FINISHED, &at)); finished++) {
        p2p__add(w, "\n  ");
        p2p__add_rank(w, place);
        if (place->state == SCOREBOARD_ABSENT)
            p2p__add(w, " has ended without calling p2p_init");
        else
            p2p__add_call(w, " is in ", &place->call);
    }
    for (place = f->places; place < f->places + f->count; place++) {
        bool behind = place->role == ROLE_BEHIND;
        if ((!behind && place->role != ROLE_STUCK) || others++ >= WAITERS_SHOWN) continue;
        p2p__add(w, "\n  %s: ", !behind ? "stuck as well" : knot > 1 ? "behind them" : "behind it");
        p2p__add_rank(w, place);
        p2p__add(w, " in ");
        add_waiter(w, place);
    }
    if (others > WAITERS_SHOWN) p2p__add(w, "\n  and %d more", others - WAITERS_SHOWN);
    p2p__add(w, "\n  mistake: ");
    p2p__add_advice(w, p2p__words_mistake(w, f));
}
