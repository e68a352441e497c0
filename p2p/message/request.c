/* SPDX-License-Identifier: MIT */
/* Requests: making, waiting for and ending them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/crc.h"
#include "p2p/trace/trace_rank.h"

void p2p__request_init(p2p_request request, enum request_kind kind, p2p_comm *comm, void *buf, size_t bytes)
{
    memset(request, 0, offsetof(struct p2p_operation, packet));
    request->kind = kind;
    request->comm = comm;
    request->counted = true;
    request->buf = buf;
    request->bytes = bytes;
}

p2p_err p2p__request_new(p2p_comm *comm, enum request_kind kind, void *buf, size_t bytes, p2p_request *out)
{
    p2p_engine *engine = comm->engine;
    p2p_request request = malloc(sizeof *request);
    if (!request) return p2p__fail(comm, P2P_ERR_NOMEM, "no memory for a request (%zu bytes)", sizeof *request);
    p2p__request_init(request, kind, comm, buf, bytes);
    request->file = engine->call_file;
    request->line = engine->call_line;
    request->all_next = engine->requests;
    request->all_link = &engine->requests;
    if (engine->requests) engine->requests->all_link = &request->all_next;
    engine->requests = request;
    *out = request;
    return P2P_OK;
}

void p2p__request_free(p2p_request request)
{
    *request->all_link = request->all_next;
    if (request->all_next) request->all_next->all_link = request->all_link;
    if (request->kind == REQUEST_LAYER && request->layer->release) request->layer->release(request->layer_state);
    free(request);
}

const struct p2p_operation *p2p__request_in(const p2p_engine *engine, const char *from, size_t bytes)
{
    p2p_request at = engine->requests;
    while (at && (at->done || (const char *)at->buf < from || (const char *)at->buf >= from + bytes)) at = at->all_next;
    return at;
}

void p2p__complete(p2p_request request, p2p_err err)
{
    request->err = err;
    request->done = true;
    request->comm->engine->completed++;
}

bool p2p__take_back(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    if (request->done) return true;
    if (request->where != LIST_POSTED) return false;
    p2p__list_remove(request->peer < 0 ? &engine->posted_any : &engine->peers[request->peer].posted, request);
    return true;
}

static p2p_err check_debug(p2p_comm *comm, p2p_request request)
{
    if (!request->debug_crc || request->debug_crc == p2p__crc32c(0, request->buf, request->bytes)) return P2P_OK;
    return p2p__fail(comm, P2P_ERR_ARG,
                     "the buffer of isend to %d changed before wait (tag %d, %zu bytes, line %d)\n"
                     "  try: leave it alone until p2p_wait or p2p_test says done",
                     request->status.source, request->tag, request->bytes, request->line);
}

static p2p_err explain(p2p_comm *comm, p2p_request request)
{
    const p2p_status *got = &request->status;
    if (request->kind == REQUEST_LAYER) return request->err; /* its step has said why */
    switch (request->err) {
    case P2P_ERR_TRUNCATE:
        return p2p__fail(comm, P2P_ERR_TRUNCATE,
                         "a message of %zu bytes from rank %d with tag %d does not fit into a buffer of %zu bytes; "
                         "it is gone, the buffer is untouched\n  try: a larger buffer, or p2p_probe for the size first",
                         got->bytes, got->source, got->tag, request->bytes);
    case P2P_ERR_SYS: return p2p__unreachable_error(comm, &comm->engine->peers[request->peer]);
    case P2P_ERR_PEER_DEAD:
        return p2p__fail(comm, P2P_ERR_PEER_DEAD,
                         "rank %d gave up the message of %zu bytes with tag %d before it was received: its call had "
                         "ended with an error (%s), and its buffer may be in use again\n"
                         "  try: what did rank %d wait for then? it takes no more part in anything",
                         got->source, got->bytes, got->tag,
                         p2p_strerror(atomic_load(&comm->engine->board->rows[request->peer].gave_up)), got->source);
    default: return request->err;
    }
}

/* Virtual time passes where the program waits, in its own order. */
static void pass_time(p2p_engine *engine, p2p_request request)
{
    if (!engine->config.network.on || !request->counted) return;
    p2p_clock *clock = engine->clock;
    if (request->kind == REQUEST_RECV) {
        uint64_t cost = p2p__network_message(&engine->config.network, request->peer, engine->rank,
                                             request->status.bytes);
        p2p__clock_receive(clock, request->began, cost);
    } else {
        uint64_t ends = request->kind == REQUEST_SEND ? request->ends : request->clock.now;
        if (ends > clock->now) clock->now = ends;
    }
}

p2p_err p2p__result(p2p_request request, p2p_status *status)
{
    p2p_comm *comm = request->comm;
    if (request->err) return explain(comm, request);
    pass_time(comm->engine, request);
    if (request->kind == REQUEST_SEND) {
        p2p_err err = check_debug(comm, request);
        if (err) return err;
    } else if (request->kind == REQUEST_RECV && request->counted) {
        comm->traffic[request->status.source].messages_received++;
        comm->traffic[request->status.source].bytes_received += request->status.bytes;
        TRACE(comm->engine, p2p__trace_receives(request));
    }
    if (status) *status = request->status;
    return P2P_OK;
}

/* ---- Waiting ---- */

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

static void describe(p2p_engine *engine, void *arg, board_wait *wait)
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
                           .state = BOARD_BLOCKED};
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
                 (unsigned long long)peer->in_got, (unsigned long long)peer->in.bytes);
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

static p2p_err test(p2p_comm *comm, p2p_request *request, bool *done, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    p2p_err err = (*request)->done ? P2P_OK : p2p__poll(engine);
    if (err) return p2p__fail(comm, err, "%s", engine->poison);
    if ((*request)->done) {
        err = finish(request, status);
        if (!err) *done = true;
        return err;
    }
    if (p2p__job_failed(engine)) return p2p__job_error(comm);
    *done = false;
    engine->polled = true;
    return P2P_OK;
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

p2p_err p2p_wait_all(size_t count, p2p_request requests[], p2p_status statuses[])
{
    if (count && !requests) return null_argument("p2p_wait_all", "requests");
    p2p_comm *comm = comm_of(count, requests);
    if (!comm) {
        for (size_t i = 0; statuses && i < count; i++) statuses[i] = empty_status;
        return no_request(NULL);
    }
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_wait_all", SHAPE_WAIT, 0, 0, count, 0, 0});
    if (err) return err;
    err = wait_set(comm, requests, count, true);
    err = err ? wait_failed(comm, requests, count, err) : finish_all(comm, count, requests, statuses);
    return p2p__leave(comm, err);
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
