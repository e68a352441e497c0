/* SPDX-License-Identifier: MIT */
/*
 * With launch --explore: how often a poll looks in vain, though there is something that it could see. Each thing (a message, a
 * request that has ended) counts the looks that have overlooked it:
 *
 *      0 .. config.looks      the launcher decides each time whether it is seen
 *      .. LOOKS_MOST          it is overlooked for as long as the program goes on without it: the sender is slow
 *      then                   it is seen
 *
 * The last is fairness: a loop would look for ever. The launcher asks for it sooner if ranks do nothing any more but look in vain
 * (p2p__polls_hurry). Between the first and the last there may be orders that no run shows: then the row says so.
 */
#include "p2p/message/internal.h"

enum { LOOKS_MOST = 10000 };

bool p2p__poll_may_overlook(p2p_engine *engine, const p2p_asked *asked)
{
    size_t at = 0;
    for (const int *vain; (vain = asked->there(engine, asked->arg, &at));)
        if (*vain >= LOOKS_MOST) return false;
    return true;
}

bool p2p__poll_goes_on(p2p_engine *engine, const p2p_asked *asked)
{
    size_t at = 0;
    int things = 0;
    for (const int *vain; (vain = asked->there(engine, asked->arg, &at)); things++)
        if (*vain <= engine->config.looks || *vain >= LOOKS_MOST) return false;
    return things > 0;
}

void p2p__poll_overlook(p2p_engine *engine, const p2p_asked *asked)
{
    size_t at = 0;
    for (int *vain; (vain = asked->there(engine, asked->arg, &at));)
        if (++*vain > engine->config.looks + 1) engine->row->choices.bounded = true;
}

void p2p__poll_saw(p2p_unexpected *message)
{
    message->vain = LOOKS_MOST;
}

static void hurry(const p2p_engine *engine, int *vain)
{
    if (*vain > engine->config.looks) *vain = LOOKS_MOST;
}

void p2p__polls_hurry(p2p_engine *engine)
{
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at; at = at->next) hurry(engine, &at->vain);
    for (p2p_request at = engine->requests; at; at = at->all_next) hurry(engine, &at->vain);
}
