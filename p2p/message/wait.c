/* SPDX-License-Identifier: MIT */
/* Waiting for requests, and looking whether they have ended: p2p_wait, p2p_test and their kin; and p2p_cancel. */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

typedef struct {
    p2p_request *requests;
    size_t count;
    bool all;
    size_t ended;  /* of all: so many of the first have, and need no second look */
    size_t chosen; /* of those that have ended, the one that is given: with launch --explore the launcher's choice */
} request_set;

static bool is_ready(p2p_engine *engine, void *arg)
{
    (void)engine;
    request_set *set = arg;
    for (size_t i = set->ended; i < set->count; i++) {
        if (set->requests[i] && set->requests[i]->done != set->all) return !set->all;
        if (set->all) set->ended = i + 1;
    }
    return set->all;
}

static void describe(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    const request_set *set = arg;
    p2p__describe_requests(engine, set->requests + set->ended, set->count - set->ended, set->all, wait);
}

/* Which of them have ended; of a call for all of them, whether they have, as bit 0. */
static uint64_t ended(p2p_engine *engine, void *arg, uint64_t *held)
{
    const request_set *set = arg;
    uint64_t options = 0;
    if (set->all) return is_ready(engine, arg);
    for (size_t i = 0; i < set->count; i++) /* the last option stands for the first of all behind it */
        if (set->requests[i] && set->requests[i]->done)
            options |= UINT64_C(1) << (i < CHOICE_NOTHING ? i : CHOICE_NOTHING - 1);
    for (size_t i = 0; i < set->count; i++) /* when that ends no message tells */
        if (set->requests[i] && !set->requests[i]->done && set->requests[i]->kind != REQUEST_RECV) *held = 1;
    return options;
}

static int *there(p2p_engine *engine, void *arg, size_t *at)
{
    const request_set *set = arg;
    while (*at < set->count && (!set->all || is_ready(engine, arg))) {
        p2p_request request = set->requests[(*at)++];
        if (request && request->done) return &request->vain;
    }
    return NULL;
}

/* A message for one of those that have not ended. */
static void note_set(p2p_engine *engine, void *arg, uint32_t number)
{
    const request_set *set = arg;
    for (size_t i = 0; i < set->count; i++) {
        const struct p2p_operation *at = set->requests[i];
        if (!at || at->done || at->kind != REQUEST_RECV) continue;
        p2p__choice_note(engine, number, at, at->peer >= 0 ? ~(UINT64_C(1) << at->peer) : 0);
    }
}

/* With launch --explore: which request a call for any of them gives, and whether a poll sees it. */
static p2p_err ask(p2p_comm *comm, request_set *set, bool *done)
{
    int option;
    size_t first = 0;
    while (first < set->count && (!set->requests[first] || set->requests[first]->done)) first++;
    const p2p_asked asked = {.kind = done ? CHOICE_POLL : CHOICE_WAIT,
                             .options = ended,
                             .describe = done ? NULL : describe,
                             .there = there,
                             .question = first < set->count ? (uintptr_t)set->requests[first] : 0,
                             .decided = note_set,
                             .arg = set};
    p2p_err err = p2p__choice_ask(comm, &asked, &option);
    set->chosen = (size_t)option;
    if (done) *done = !err && option != CHOICE_NOTHING;
    return err;
}

/* The peer that all of them wait for; -1: there are several, or it may be any. */
static int hot_peer(const request_set *set)
{
    int hot = -1;
    for (size_t i = 0; i < set->count; i++) {
        const struct p2p_operation *at = set->requests[i];
        if (!at || at->done) continue;
        if (at->kind == REQUEST_LAYER || at->peer < 0 || (hot >= 0 && at->peer != hot)) return -1;
        hot = at->peer;
    }
    return hot;
}

/* Waits, or, with `done`, polls once. */
static p2p_err wait_set(p2p_comm *comm, request_set *set, bool *done)
{
    p2p_engine *engine = comm->engine;
    if ((done || !set->all) && engine->choices) return ask(comm, set, done);
    p2p_waiting waiting = {.ready = is_ready, .describe = describe, .arg = set, .state = SCOREBOARD_BLOCKED};
    if (done) return p2p__poll(comm, &waiting, done);
    if (is_ready(engine, set)) return P2P_OK;
    int hot = hot_peer(set);
    if (hot >= 0 && hot != engine->rank) waiting.hot = &engine->peers[hot];
    return p2p__block(comm, &waiting);
}

/* Part of the message has come, and no more will. */
static void add_how_much(p2p_comm *comm, p2p_request request)
{
    const p2p_engine *engine = comm->engine;
    if (request->kind != REQUEST_RECV || request->done || request->peer < 0) return;
    const p2p_peer *peer = &engine->peers[request->peer];
    bool arriving = peer->in_request == request || (peer->in_unexpected && peer->in_unexpected->claimed == request);
    size_t used = strlen(comm->blame.cause);
    if (arriving)
        snprintf(comm->blame.cause + used, sizeof comm->blame.cause - used,
                 " (after %llu of %llu bytes of the message)", (unsigned long long)peer->link.in_got,
                 (unsigned long long)peer->link.in.bytes);
}

/* A request on the caller's stack must not stay linked anywhere: what cannot be taken back poisons. */
p2p_err p2p__finish_stacked(p2p_comm *comm, p2p_request requests[], size_t count, p2p_status *status)
{
    p2p_err err = wait_set(comm, &(request_set){requests, count, true, 0, 0}, NULL);
    for (size_t i = 0; err && i < count; i++) {
        if (p2p__take_back(requests[i])) continue;
        add_how_much(comm, requests[i]);
        p2p__poison(comm, err);
    }
    if (err) return err;
    for (size_t i = 0; !err && i < count; i++) err = p2p__result(requests[i], i + 1 == count ? status : NULL);
    return err;
}

/* ---- Public calls ---- */

/* There is no communicator to ask for its error mode: the world's is meant. */
static p2p_err null_argument(const char *call, const char *what)
{
    p2p__here(NULL, 0);
    if (p2p__prints_errors()) fprintf(stderr, "pairwise: %s: %s is NULL\n", call, what);
    return P2P_ERR_ARG;
}

static const p2p_status empty_status = {P2P_ANY_SOURCE, P2P_ANY_TAG, 0};

/* Gives the results of requests that have ended, or are none, and forgets them. The communicator gets the cause of the
 * first error. */
static p2p_err finish(p2p_comm *comm, p2p_request requests[], size_t count, p2p_status statuses[])
{
    p2p_err first = P2P_OK;
    p2p_blame blame;
    for (size_t i = 0; i < count; i++) {
        p2p_request request = requests[i];
        p2p_status *status = statuses ? &statuses[i] : NULL;
        if (!request && status) *status = empty_status;
        if (!request) continue;
        p2p_err err = p2p__result(request, status);
        if (comm->engine->kinds) comm->engine->kinds[i] = comm->engine->kind_got;
        if (comm->engine->errors) comm->engine->errors[i] = err;
        if (err && !first) {
            first = err;
            blame = request->comm->blame;
        }
        p2p__request_free(request);
        requests[i] = P2P_REQUEST_NULL;
    }
    if (first) comm->blame = blame;
    return first;
}

/* All calls that wait or test: for all of a set of requests, or, with `index`, for one of them; with `done` without
 * waiting. */
static p2p_err end_requests(const char *call, request_set set, size_t *index, bool *done, p2p_status *status)
{
    p2p_comm *comm = NULL;
    for (size_t i = 0; !comm && i < set.count; i++)
        if (set.requests[i]) comm = set.requests[i]->comm;
    if (!comm) {
        p2p__here(NULL, 0);
        for (size_t i = 0; status && i < (set.all ? set.count : 1); i++) status[i] = empty_status;
        if (index) *index = (size_t)P2P_UNDEFINED;
        if (done) *done = true;
        return P2P_OK;
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){call, SHAPE_WAIT, 0, 0, set.count, 0, 0, 0, 0});
    if (err) return err;
    bool ended = true;
    err = wait_set(comm, &set, done ? &ended : NULL);
    for (size_t i = 0; err && !done && i < set.count; i++)
        if (set.requests[i]) add_how_much(comm, set.requests[i]);
    /* After a failure of the job nothing will end these: what can be taken back is freed. The rest stays in the
     * engine's list, until that is freed. */
    for (size_t i = 0; err && !done && comm->engine->poisoned && i < set.count; i++) {
        if (set.requests[i] && p2p__take_back(set.requests[i])) p2p__request_free(set.requests[i]);
        set.requests[i] = P2P_REQUEST_NULL;
    }
    if (!err && ended) {
        size_t first = set.chosen;
        while (!set.all && (!set.requests[first] || !set.requests[first]->done)) first++;
        if (set.all) first = 0;
        if (!set.all) *index = first;
        err = finish(comm, set.requests + first, set.all ? set.count : 1, status);
    }
    if (!err && done) *done = ended;
    return p2p__leave(comm, err);
}

p2p_err p2p_wait(p2p_request *request, p2p_status *status)
{
    if (!request) return null_argument("p2p_wait", "request");
    return end_requests("p2p_wait", (request_set){request, 1, true, 0, 0}, NULL, NULL, status);
}

p2p_err p2p_test(p2p_request *request, bool *done, p2p_status *status)
{
    if (!request || !done) return null_argument("p2p_test", request ? "done" : "request");
    return end_requests("p2p_test", (request_set){request, 1, true, 0, 0}, NULL, done, status);
}

p2p_err p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[])
{
    if (count && !requests) return null_argument("p2p_wait_all", "requests");
    return end_requests("p2p_wait_all", (request_set){requests, count, true, 0, 0}, NULL, NULL, statuses);
}

p2p_err p2p_test_all(size_t count, p2p_request requests[], bool *done, p2p_status statuses[])
{
    if ((count && !requests) || !done) return null_argument("p2p_test_all", done ? "requests" : "done");
    return end_requests("p2p_test_all", (request_set){requests, count, true, 0, 0}, NULL, done, statuses);
}

p2p_err p2p_wait_any(size_t count, p2p_request requests[], size_t *index, p2p_status *status)
{
    if ((count && !requests) || !index) return null_argument("p2p_wait_any", index ? "requests" : "index");
    return end_requests("p2p_wait_any", (request_set){requests, count, false, 0, 0}, index, NULL, status);
}

p2p_err p2p_test_any(size_t count, p2p_request requests[], size_t *index, bool *done, p2p_status *status)
{
    if ((count && !requests) || !index || !done)
        return null_argument("p2p_test_any", !index ? "index" : done ? "requests" : "done");
    return end_requests("p2p_test_any", (request_set){requests, count, false, 0, 0}, index, done, status);
}

p2p_err p2p_cancel(p2p_request *request)
{
    if (!request) return null_argument("p2p_cancel", "request");
    if (!*request) {
        p2p__here(NULL, 0);
        return P2P_OK;
    }
    p2p_request at = *request;
    p2p_err err = p2p__enter(at->comm, &(p2p_call){"p2p_cancel", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (err) return err;
    if (at->kind != REQUEST_RECV) {
        const char *kind = at->kind == REQUEST_SEND ? "send" : "collective";
        return p2p__leave(at->comm, p2p__fail(at->comm, CAUSE_NOT_CANCELLED, kind, at->line));
    }
    /* If it is in no list of posted receives, it has its message, or will have it. */
    if (!at->done && p2p__take_back(at)) {
        at->status = (p2p_status){P2P_CANCELLED, P2P_CANCELLED, 0};
        at->counted = false;
        if (at->sum) p2p__before_receive(at);
        p2p__complete(at, P2P_OK);
    }
    return p2p__leave(at->comm, P2P_OK);
}
