/* SPDX-License-Identifier: MIT */
/* The class of mistake behind a deadlock, and one thing to try. */
#include <stdio.h>
#include <string.h>

#include "p2p/deadlock/report.h"

bool p2p__has_items(const p2p_sight *row)
{
    return row->call.shape == SHAPE_WAIT || row->call.shape == SHAPE_SENDRECV;
}

static bool sends(const p2p_sight *row)
{
    if (row->call.shape == SHAPE_SEND) return true;
    return p2p__has_items(row) && row->wait.pending_count > 0 && row->wait.pending[0].kind == ITEM_SEND;
}

static bool receives(const p2p_sight *row)
{
    return row->call.shape == SHAPE_RECV || (p2p__has_items(row) && !sends(row));
}

static int count_heart(p2p_job *job, const p2p_heart *h, bool (*is)(const p2p_sight *row))
{
    int count = 0;
    for (int i = 0; i < h->length; i++) count += is(&job->seen[h->ranks[i]]);
    return count;
}

static bool is_collective(const p2p_sight *row)
{
    return row->call.shape == SHAPE_COLLECTIVE;
}

static bool different_collectives(p2p_job *job, const p2p_heart *h)
{
    const board_call *first = &job->seen[h->ranks[0]].call;
    for (int i = 1; i < h->length; i++) {
        const board_call *other = &job->seen[h->ranks[i]].call;
        if (strcmp(first->name, other->name) != 0 || first->number != other->number) return true;
    }
    return false;
}

static const board_item *pending_recv(const p2p_sight *row, board_item *own)
{
    if (row->call.shape == SHAPE_RECV) {
        *own = (board_item){.peer = row->call.world_peer, .tag = row->call.tag, .context = row->call.context};
        return own;
    }
    for (int i = 0; i < row->wait.pending_count && i < BOARD_ITEMS; i++)
        if (row->wait.pending[i].kind == ITEM_RECV) return &row->wait.pending[i];
    return NULL;
}

static bool from_wanted(const board_item *here, const board_item *wanted)
{
    return here->tag >= 0 && here->context % 2 == 0 && (wanted->peer < 0 || wanted->peer == here->peer);
}

/* A message that would do but for its tag or its communicator: what is wrong with it. */
static bool near_miss(int rank, const board_item *here, const board_item *wanted, char *text, size_t bytes)
{
    unsigned long long amount = here->bytes;
    if (!from_wanted(here, wanted)) return false;
    if (here->context != wanted->context) {
        if (wanted->tag >= 0 && wanted->tag != here->tag) return false;
        snprintf(
            text, bytes,
            "communicator mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but it was "
            "sent in another communicator",
            rank, here->tag, here->peer, amount);
        return true;
    }
    if (wanted->tag < 0 || wanted->tag == here->tag) return false;
    snprintf(text, bytes,
             "tag mismatch: rank %d has a message with tag %d from rank %d waiting (%llu bytes), but wants tag %d",
             rank, here->tag, here->peer, amount, wanted->tag);
    return true;
}

static bool any_near_miss(p2p_job *job, const p2p_heart *h, char *text, size_t bytes)
{
    for (int i = 0; i < h->length; i++) {
        const p2p_sight *row = &job->seen[h->ranks[i]];
        board_item own;
        const board_item *wanted = is_collective(row) ? NULL : pending_recv(row, &own);
        for (int k = 0; wanted && k < row->wait.waiting_count && k < BOARD_ITEMS; k++)
            if (near_miss(h->ranks[i], &row->wait.waiting[k], wanted, text, bytes)) return true;
    }
    return false;
}

static bool is_split(const p2p_sight *row)
{
    return strcmp(row->call.name, "p2p_split") == 0;
}

static void finished_text(p2p_job *job, int rank, const p2p_rank_set *can_act, char *text, size_t bytes)
{
    p2p_rank_set lack;
    int ranks[P2P_MAX_RANKS], count;
    p2p_words w = {.used = 0};
    p2p__lacking(job, rank, can_act, &lack);
    count = p2p__list_of(&lack, job->size, ranks);
    if (count) p2p__add_ranks(&w, ranks, count, "and");
    if (!count)
        snprintf(text, bytes, "nobody is left to send: rank %d waits for any source, and there is no other rank", rank);
    else if (job->seen[rank].wait.any_count)
        snprintf(text, bytes, "nobody is left to send: all that rank %d could hear from, %.300s, %s finished", rank,
                 w.text, count == 1 ? "has" : "have");
    else
        snprintf(text, bytes, "waiting for a rank that has finished: %.300s sends and receives nothing more", w.text);
}

static p2p_verdict judge_self(const p2p_sight *row)
{
    if (sends(row))
        return (p2p_verdict){
            "a send to oneself that needs buffering: it waits for a receive that this rank never reaches",
            "post the receive first (p2p_irecv), or use p2p_isend"};
    return (p2p_verdict){"a rank waits for a message from itself that it has not sent",
                         "send it first, with p2p_isend"};
}

static p2p_verdict judge_cycle(p2p_job *job, const p2p_heart *h)
{
    int splits = count_heart(job, h, is_split);
    if (h->length == 1) return judge_self(&job->seen[h->ranks[0]]);
    if (splits && splits < h->length)
        return (p2p_verdict){"not every rank is in p2p_split",
                             "p2p_split is called by every rank of the communicator, with "
                             "P2P_UNDEFINED by those that join no group"};
    if (count_heart(job, h, is_collective) == h->length && different_collectives(job, h))
        return (p2p_verdict){"the ranks are in different collectives",
                             "every rank must make the same collective calls in the same order"};
    if (count_heart(job, h, sends) == h->length)
        return (p2p_verdict){
            "sends that need buffering: each waits until its message is received, and nobody is receiving (a cycle)",
            "let one side receive first, or p2p_sendrecv, or p2p_isend and then receive; up to 64 KiB a message may "
            "be buffered, and that hides this"};
    if (count_heart(job, h, receives) == h->length)
        return (p2p_verdict){"each receives before it sends, so nobody ever sends (a cycle)",
                             "let one of them send first, or use p2p_sendrecv, or p2p_irecv before the send"};
    return (p2p_verdict){"each waits for another to act first (a cycle)",
                         "follow the lines above: which message should come first, and who should be receiving it?"};
}

p2p_verdict p2p__judge(p2p_job *job, const p2p_heart *h, const p2p_rank_set *can_act, char *text, size_t bytes)
{
    const p2p_sight *first = &job->seen[h->ranks[0]];
    if (any_near_miss(job, h, text, bytes))
        return (p2p_verdict){text, strncmp(text, "tag", 3) == 0
                                       ? "make the tags equal, or receive with P2P_ANY_TAG and look at the status"
                                       : "send and receive in the same communicator"};
    if (h->is_cycle) return judge_cycle(job, h);
    finished_text(job, h->ranks[0], can_act, text, bytes);
    if (is_split(first))
        return (p2p_verdict){text, "p2p_split is called by every rank of the communicator: does every rank call it?"};
    return (p2p_verdict){text,
                         "compare how many messages are sent and received: is a send missing, or a receive too many?"};
}
