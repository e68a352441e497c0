/* SPDX-License-Identifier: MIT */
/* Waiting for requests, and looking whether they have ended: p2p_wait, p2p_test and their kin; and p2p_cancel. */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

/* ---- Sets of requests ---- */

typedef struct {
    p2p_request *requests;
    size_t count;
    bool all;
} request_set;

static bool all_done(p2p_engine *engine, void *arg)
{
    (void)engine;
    const request_set *set = arg;
    for (size_t i = 0; i < set->count; i++)
        if (set->requests[i] && !set->requests[i]->done) return false;
    return true;
}

static bool any_done(p2p_engine *engine, void *arg)
{
    (void)engine;
    const request_set *set = arg;
    for (size_t i = 0; i < set->count; i++)
        if (set->requests[i] && set->requests[i]->done) return true;
    return false;
}

/* ---- Waiting ---- */

static void describe(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    const request_set *set = arg;
    p2p__describe_requests(engine, set->requests, set->count, set->all, wait);
}

static p2p_peer *expected_from(p2p_engine *engine, p2p_request request)
{
    bool known = request->kind != REQUEST_LAYER && request->peer >= 0 && request->peer != engine->rank;
    return known ? &engine->peers[request->peer] : NULL;
}

static p2p_err wait_set(p2p_comm *comm, p2p_request *requests, size_t count, bool all)
{
    p2p_request first = NULL;
    for (size_t i = 0; i < count && !first; i++)
        if (requests[i] && !requests[i]->done) first = requests[i];
    if (!first) return P2P_OK;
    request_set set = {requests, count, all};
    p2p_waiting waiting = {.ready = all ? all_done : any_done,
                           .describe = describe,
                           .arg = &set,
                           .hot = expected_from(comm->engine, first),
                           .state = SCOREBOARD_BLOCKED};
    return p2p__block(comm, &waiting);
}

/* Part of the message has come, and no more will. */
static void add_how_much(p2p_comm *comm, p2p_request request)
{
    const p2p_engine *engine = comm->engine;
    if (request->kind != REQUEST_RECV || request->done || request->peer < 0) return;
    const p2p_peer *peer = &engine->peers[request->peer];
    bool arriving = peer->in_request == request || (peer->in_unexpected && peer->in_unexpected->claimed == request);
    size_t used = strlen(comm->cause);
    if (arriving)
        snprintf(comm->cause + used, sizeof comm->cause - used, " (after %llu of %llu bytes of the message)",
                 (unsigned long long)peer->link.in_got, (unsigned long long)peer->link.in.bytes);
}

/* A request on the caller's stack must not stay linked anywhere: what cannot be taken back poisons. */
static p2p_err withdraw(p2p_comm *comm, p2p_request request, p2p_err err)
{
    if (p2p__take_back(request)) return err;
    add_how_much(comm, request);
    return p2p__poison(comm, err);
}

p2p_err p2p__finish_stacked(p2p_comm *comm, p2p_request request, p2p_status *status)
{
    p2p_err err = wait_set(comm, &request, 1, true);
    return err ? withdraw(comm, request, err) : p2p__result(request, status);
}

p2p_err p2p__finish_both(p2p_comm *comm, p2p_request send, p2p_request receive, p2p_status *status)
{
    p2p_request both[] = {send, receive};
    p2p_err err = wait_set(comm, both, 2, true);
    if (err) {
        withdraw(comm, send, err);
        return withdraw(comm, receive, err);
    }
    err = p2p__result(send, NULL);
    return err ? err : p2p__result(receive, status);
}

/* ---- Public calls ---- */

static const p2p_status empty_status = {P2P_ANY_SOURCE, P2P_ANY_TAG, 0};

/* There is no communicator to ask for its error mode: the world's is meant. */
static p2p_err null_argument(const char *call, const char *what)
{
    p2p__forget_line();
    if (p2p__prints_errors()) fprintf(stderr, "pairwise: %s: %s is NULL\n", call, what);
    return P2P_ERR_ARG;
}

static p2p_err no_request(p2p_status *status)
{
    p2p__forget_line();
    if (status) *status = empty_status;
    return P2P_OK;
}

/* The request has ended: give its result and forget it. */
static p2p_err finish(p2p_request *request, p2p_status *status)
{
    p2p_err err = p2p__result(*request, status);
    p2p__request_free(*request);
    *request = P2P_REQUEST_NULL;
    return err;
}

/* After a failure of the job nothing will ever end these: give up what can be given up. The rest stays in the engine's
 * list, which nobody walks any more but to free it. */
static void abandon(p2p_request requests[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (requests[i] && p2p__take_back(requests[i])) p2p__request_free(requests[i]);
        requests[i] = P2P_REQUEST_NULL;
    }
}

static p2p_err wait_failed(p2p_comm *comm, p2p_request requests[], size_t count, p2p_err err)
{
    for (size_t i = 0; i < count; i++)
        if (requests[i]) add_how_much(comm, requests[i]);
    if (comm->engine->poisoned) abandon(requests, count);
    return err;
}

p2p_err p2p_wait(p2p_request *request, p2p_status *status)
{
    if (!request) return null_argument("p2p_wait", "request");
    if (!*request) return no_request(status);
    p2p_comm *comm = (*request)->comm;
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_wait", SHAPE_WAIT, 0, 0, 1, 0, 0});
    if (err) return err;
    err = wait_set(comm, request, 1, true);
    err = err ? wait_failed(comm, request, 1, err) : finish(request, status);
    return p2p__leave(comm, err);
}

/* Moves everything on once, unless the set is ready. After a failure of the job once more what has been sent already. */
static p2p_err look(p2p_comm *comm, bool (*ready)(p2p_engine *engine, void *arg), request_set *set, bool *is_ready)
{
    p2p_engine *engine = comm->engine;
    *is_ready = ready(engine, set);
    if (*is_ready) return P2P_OK;
    p2p_err err = p2p__poll(engine);
    if (err) return p2p__fail_again(comm, err);
    bool failed = !ready(engine, set) && p2p__job_failed(engine);
    *is_ready = ready(engine, set);
    if (*is_ready) return P2P_OK;
    if (failed) return p2p__job_error(comm);
    engine->polled = true;
    return P2P_OK;
}

static p2p_err test(p2p_comm *comm, p2p_request *request, bool *done, p2p_status *status)
{
    bool ended;
    p2p_err err = look(comm, all_done, &(request_set){request, 1, true}, &ended);
    if (!err && ended) err = finish(request, status);
    if (!err) *done = ended;
    return err;
}

p2p_err p2p_test(p2p_request *request, bool *done, p2p_status *status)
{
    if (!request || !done) return null_argument("p2p_test", request ? "done" : "request");
    if (!*request) {
        *done = true;
        return no_request(status);
    }
    p2p_comm *comm = (*request)->comm;
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_test", SHAPE_WAIT, 0, 0, 1, 0, 0});
    if (err) return err;
    return p2p__leave(comm, test(comm, request, done, status));
}

static p2p_comm *comm_of(size_t count, const p2p_request requests[])
{
    for (size_t i = 0; i < count; i++)
        if (requests[i]) return requests[i]->comm;
    return NULL;
}

static p2p_err finish_all(p2p_comm *comm, size_t count, p2p_request requests[], p2p_status statuses[])
{
    p2p_err first = P2P_OK;
    char cause[sizeof comm->cause];
    for (size_t i = 0; i < count; i++) {
        p2p_status *status = statuses ? &statuses[i] : NULL;
        if (!requests[i]) {
            if (status) *status = empty_status;
            continue;
        }
        p2p_comm *own = requests[i]->comm;
        p2p_err err = finish(&requests[i], status);
        if (!err || first) continue;
        first = err;
        memcpy(cause, own->cause, sizeof cause);
    }
    if (first) memcpy(comm->cause, cause, sizeof cause);
    return first;
}

static p2p_err no_requests(size_t count, p2p_status statuses[])
{
    for (size_t i = 0; statuses && i < count; i++) statuses[i] = empty_status;
    return no_request(NULL);
}

p2p_err p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[])
{
    if (count && !requests) return null_argument("p2p_wait_all", "requests");
    p2p_comm *comm = comm_of(count, requests);
    if (!comm) return no_requests(count, statuses);
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_wait_all", SHAPE_WAIT, 0, 0, count, 0, 0});
    if (err) return err;
    err = wait_set(comm, requests, count, true);
    err = err ? wait_failed(comm, requests, count, err) : finish_all(comm, count, requests, statuses);
    return p2p__leave(comm, err);
}

static p2p_err test_all(p2p_comm *comm, size_t count, p2p_request requests[], bool *done, p2p_status statuses[])
{
    bool ended;
    p2p_err err = look(comm, all_done, &(request_set){requests, count, true}, &ended);
    if (!err && ended) err = finish_all(comm, count, requests, statuses);
    if (!err) *done = ended;
    return err;
}

p2p_err p2p_test_all(size_t count, p2p_request requests[], bool *done, p2p_status statuses[])
{
    if ((count && !requests) || !done) return null_argument("p2p_test_all", done ? "requests" : "done");
    p2p_comm *comm = comm_of(count, requests);
    if (!comm) {
        *done = true;
        return no_requests(count, statuses);
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_test_all", SHAPE_WAIT, 0, 0, count, 0, 0});
    if (err) return err;
    return p2p__leave(comm, test_all(comm, count, requests, done, statuses));
}

static p2p_err finish_one(p2p_request requests[], size_t *index, p2p_status *status)
{
    size_t i = 0;
    while (!requests[i] || !requests[i]->done) i++;
    *index = i;
    return finish(&requests[i], status);
}

p2p_err p2p_wait_any(size_t count, p2p_request requests[], size_t *index, p2p_status *status)
{
    if ((count && !requests) || !index) return null_argument("p2p_wait_any", index ? "requests" : "index");
    p2p_comm *comm = comm_of(count, requests);
    if (!comm) {
        *index = (size_t)P2P_UNDEFINED;
        return no_request(status);
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_wait_any", SHAPE_WAIT, 0, 0, count, 0, 0});
    if (err) return err;
    request_set set = {requests, count, false};
    if (!any_done(comm->engine, &set)) err = wait_set(comm, requests, count, false);
    err = err ? wait_failed(comm, requests, count, err) : finish_one(requests, index, status);
    return p2p__leave(comm, err);
}

static p2p_err test_any(p2p_comm *comm, size_t count, p2p_request requests[], size_t *index, bool *done,
                        p2p_status *status)
{
    bool ended;
    p2p_err err = look(comm, any_done, &(request_set){requests, count, false}, &ended);
    if (!err && ended) err = finish_one(requests, index, status);
    if (!err) *done = ended;
    return err;
}

p2p_err p2p_test_any(size_t count, p2p_request requests[], size_t *index, bool *done, p2p_status *status)
{
    if ((count && !requests) || !index || !done)
        return null_argument("p2p_test_any", !index ? "index" : done ? "requests" : "done");
    p2p_comm *comm = comm_of(count, requests);
    if (!comm) {
        *index = (size_t)P2P_UNDEFINED;
        *done = true;
        return no_request(status);
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_test_any", SHAPE_WAIT, 0, 0, count, 0, 0});
    if (err) return err;
    return p2p__leave(comm, test_any(comm, count, requests, index, done, status));
}

/* ---- Taking back ---- */

/* One that is in no list of posted receives has its message, or will have. */
static p2p_err cancel(p2p_comm *comm, p2p_request request)
{
    if (request->kind != REQUEST_RECV)
        return p2p__fail(comm, CAUSE_NOT_CANCELLED, request->kind == REQUEST_SEND ? "send" : "collective",
                         request->line);
    if (request->done || !p2p__take_back(request)) return P2P_OK;
    request->status = (p2p_status){P2P_CANCELLED, P2P_CANCELLED, 0};
    request->counted = false;
    p2p__complete(request, P2P_OK);
    return P2P_OK;
}

p2p_err p2p_cancel(p2p_request *request)
{
    if (!request) return null_argument("p2p_cancel", "request");
    if (!*request) return no_request(NULL);
    p2p_comm *comm = (*request)->comm;
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_cancel", SHAPE_PLAIN, 0, 0, 0, 0, 0});
    if (err) return err;
    return p2p__leave(comm, cancel(comm, *request));
}
