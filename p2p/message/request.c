/* SPDX-License-Identifier: MIT */
/* Requests: making and ending them; wait.c waits for them. */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"

void p2p__request_init(p2p_request request, enum request_kind kind, p2p_comm *comm, uint32_t context, void *buf,
                       size_t bytes)
{
    memset(request, 0, offsetof(struct p2p_operation, packet));
    request->kind = kind;
    request->comm = comm;
    request->counted = true;
    request->kind_expected = comm->engine->kind_expected;
    request->context = context;
    request->buf = buf;
    request->bytes = bytes;
}

p2p_err p2p__request_new(p2p_comm *comm, enum request_kind kind, uint32_t context, void *buf, size_t bytes,
                         p2p_request *out)
{
    p2p_engine *engine = comm->engine;
    p2p_request request = malloc(sizeof *request);
    if (!request) return p2p__fail(comm, CAUSE_NO_REQUEST, sizeof *request);
    p2p__request_init(request, kind, comm, context, buf, bytes);
    request->name = engine->call_name;
    request->file = engine->call_file;
    request->line = engine->call_line;
    request->all_next = engine->requests;
    request->all_link = &engine->requests;
    if (engine->requests) engine->requests->all_link = &request->all_next;
    engine->requests = request;
    *out = request;
    return P2P_OK;
}

static void no_longer_fresh(p2p_request request)
{
    if (!request->fresh_link) return;
    *request->fresh_link = request->fresh_next;
    if (request->fresh_next) request->fresh_next->fresh_link = request->fresh_link;
    request->fresh_link = NULL;
}

void p2p__request_free(p2p_request request)
{
    no_longer_fresh(request);
    *request->all_link = request->all_next;
    if (request->all_next) request->all_next->all_link = request->all_link;
    free(request->explained);
    if (request->kind == REQUEST_LAYER && request->layer->release) request->layer->release(request->layer_state);
    free(request);
}

/* Of a long buffer, lines at a stride; of a short one, all. */
enum { LINE = 64, SUMMED = 8 << 10 };

/* Half a line, and such a half wherever it lies. */
typedef uint64_t lanes __attribute__((vector_size(LINE / 2)));
typedef uint64_t bytes_as_lanes __attribute__((vector_size(LINE / 2), aligned(1), may_alias));

/* By lanes, the sum of the words of every line, or of one in each `step` bytes, and of the last: a word that changes is
 * seen, and one that moves to another lane. */
static inline __attribute__((always_inline)) uint32_t sum_with(const void *buf, size_t bytes, size_t step)
{
    lanes sum = {0}, more = {0};
    const char *first = buf;
    for (size_t at = 0; at + LINE <= bytes; at += step) {
        sum += *(const bytes_as_lanes *)(const void *)(first + at);
        more += *(const bytes_as_lanes *)(const void *)(first + at + LINE / 2);
    }
    char last[LINE] = {0};
    size_t rest = bytes < LINE ? bytes : LINE;
    if (rest) memcpy(last, first + bytes - rest, rest);
    sum = sum * 3 + *(const bytes_as_lanes *)(const void *)last;
    more = more * 5 + *(const bytes_as_lanes *)(const void *)(last + LINE / 2);
    uint64_t all = bytes;
    for (size_t i = 0; i < sizeof sum / sizeof sum[0]; i++) all = (all * 31 + sum[i]) * 31 + more[i];
    return (uint32_t)(all ^ all >> 32) | 1;
}

#ifdef __x86_64__
static __attribute__((target("avx2"))) uint32_t sum_wide(const void *buf, size_t bytes, size_t step)
{
    return sum_with(buf, bytes, step);
}
#endif

bool p2p__under_valgrind(void)
{
    static int known = -1;
    const char *loaded = known < 0 ? getenv("LD_PRELOAD") : NULL;
    if (known < 0) known = loaded && strstr(loaded, "vgpreload");
    return known;
}

/* Of the sanitizers, in a program that is linked with one. */
extern void __asan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));

bool p2p__memory_is_watched(void)
{
    return __asan_init || __msan_init || p2p__under_valgrind();
}

static uint32_t sum_lines(const void *buf, size_t bytes, size_t step)
{
    if (p2p__under_valgrind())
        return 1; /* it complains of bytes that were never set, which are as good as others here */
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2")) return sum_wide(buf, bytes, step);
#endif
    return sum_with(buf, bytes, step);
}

uint32_t p2p_layer_sum(const void *buf, size_t bytes)
{
    return sum_lines(buf, bytes, bytes <= SUMMED ? LINE : (bytes / (SUMMED / LINE) + LINE - 1) / LINE * LINE);
}

enum { LOOKED_AT = 64 }; /* requests */

p2p_err p2p__check_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes)
{
    const char *from = buf, *to = from + bytes;
    int looked_at = 0;
    if (!bytes) return P2P_OK;
    for (p2p_request at = comm->engine->requests; at && looked_at < LOOKED_AT; at = at->all_next, looked_at++) {
        const char *first = at->buf;
        if (!at->guarded || first >= to || first + at->bytes <= from) continue;
        if (!writes && at->kind == REQUEST_SEND) continue;
        p2p__fail(comm, CAUSE_SHARED, at->kind == REQUEST_SEND ? "send" : "receive", at->line, at->bytes);
        p2p__blame_request(comm, at);
        return P2P_ERR_ARG;
    }
    return P2P_OK;
}

/* Its sum is taken when the call ends, for the program runs only then. */
static void freshen(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    if (request->fresh_link || !request->bytes) return;
    request->fresh_next = engine->fresh;
    request->fresh_link = &engine->fresh;
    if (engine->fresh) engine->fresh->fresh_link = &request->fresh_next;
    engine->fresh = request;
}

void p2p__sum_fresh(p2p_engine *engine)
{
    while (engine->fresh) {
        p2p_request request = engine->fresh;
        bool received = request->kind == REQUEST_RECV && request->done;
        request->sum = p2p_layer_sum(request->buf, received ? request->status.bytes : request->bytes);
        no_longer_fresh(request);
    }
}

void p2p__guard(p2p_request request, bool guards)
{
    request->guarded = guards;
    if (guards)
        freshen(request);
    else if (request->kind == REQUEST_SEND && request->bytes && request->comm->engine->config.debug)
        request->sum = sum_lines(request->buf, request->bytes, LINE);
}

static bool has_changed(p2p_request request, size_t bytes)
{
    if (!request->sum) return false;
    return request->sum !=
           (request->guarded ? p2p_layer_sum(request->buf, bytes) : sum_lines(request->buf, bytes, LINE));
}

/* Has the program written where a message is to come, or has come? */
static void check_guarded(p2p_request receive, size_t bytes)
{
    if (has_changed(receive, bytes)) receive->changed = true;
}

void p2p__before_receive(p2p_request receive)
{
    check_guarded(receive, receive->bytes);
    receive->sum = 0;
    no_longer_fresh(receive);
}

void p2p__matched(p2p_request receive)
{
    if (receive->guarded) freshen(receive);
}

void p2p__complete(p2p_request request, p2p_err err)
{
    if (request->guarded && request->kind == REQUEST_RECV) {
        if (!err && request->status.bytes)
            freshen(request);
        else
            no_longer_fresh(request);
    }
    request->err = err;
    request->done = true;
    request->comm->engine->completed++;
}

bool p2p__take_back(p2p_request request)
{
    p2p_engine *engine = request->comm->engine;
    if (request->done) return true;
    if (!request->posted) return false;
    p2p__list_remove(request->peer < 0 ? &engine->posted_any : &engine->peers[request->peer].posted, request);
    return true;
}

p2p_err p2p__given_up_error(p2p_comm *comm, p2p_request request)
{
    const p2p_status *got = &request->status;
    p2p__fail(comm, CAUSE_GIVEN_UP, got->source, got->bytes, got->tag,
              p2p_strerror(atomic_load(&comm->engine->scoreboard->rows[request->peer].gave_up)));
    comm->blame.what.reason = REASON_GAVE_UP;
    p2p__blame_message(comm, got);
    return P2P_ERR_PEER_DEAD;
}

static bool other_kind(const p2p_engine *engine, const struct p2p_operation *request, const char **differ)
{
    bool known = engine->kinds_differ && request->kind_expected && request->kind_got;
    *differ = known ? engine->kinds_differ(request->kind_expected, request->kind_got) : NULL;
    return *differ;
}

static p2p_err explain(p2p_comm *comm, p2p_request request)
{
    const p2p_status *got = &request->status;
    const char *differ;
    if (request->kind == REQUEST_LAYER) return request->err; /* its step has said why */
    switch (request->err) {
    case P2P_ERR_TRUNCATE:
        if (other_kind(comm->engine, request, &differ))
            p2p__fail(comm, CAUSE_OTHER_TYPE, got->bytes, got->source, got->tag, differ, request->bytes);
        else
            p2p__fail(comm, CAUSE_TOO_LONG, got->bytes, got->source, got->tag, request->bytes);
        p2p__blame_message(comm, got);
        return P2P_ERR_TRUNCATE;
    case P2P_ERR_SYS: return p2p__unreachable_error(comm, &comm->engine->peers[request->peer]);
    case P2P_ERR_PEER_DEAD: return p2p__given_up_error(comm, request);
    default: return request->err;
    }
}

p2p_err p2p__result(p2p_request request, p2p_status *status)
{
    p2p_comm *comm = request->comm;
    if (request->lost) return p2p__fail(comm, CAUSE_OF_EARLIER_GENERATION, "request");
    comm->engine->kind_got = request->kind_got;
    if (request->err) return explain(comm, request);
    const p2p_network *network = &comm->engine->config.network;
    if (network->on && request->counted) { /* virtual time passes where the program waits, in its own order */
        p2p_clock *clock = comm->engine->clock;
        uint64_t ends = request->kind == REQUEST_SEND ? request->ends : request->clock.now;
        int rank = comm->engine->rank;
        uint64_t cost = p2p__network_message(network, request->peer, rank, request->status.bytes);
        bool crosses = p2p__network_crosses(network, request->peer, rank); /* and came through the port of this host */
        if (request->kind == REQUEST_RECV)
            ends = (crosses || request->began > clock->in_free ? request->began : clock->in_free) + cost;
        if (request->kind == REQUEST_RECV && !crosses) clock->in_free = ends;
        if (ends > clock->now) clock->now = ends;
    }
    if (request->kind == REQUEST_RECV && request->guarded) {
        check_guarded(request, request->status.bytes);
        if (request->changed) {
            p2p__fail(comm, CAUSE_WRITTEN, request->line, request->bytes);
            p2p__blame_request(comm, request);
            return P2P_ERR_ARG;
        }
    } else if (has_changed(request, request->bytes)) {
        p2p__fail(comm, CAUSE_CHANGED, request->status.source, request->tag, request->bytes, request->line);
        p2p__blame_request(comm, request);
        return P2P_ERR_ARG;
    }
    if (request->kind == REQUEST_RECV && request->counted) {
        p2p__count_received(comm, request->status.source, request->status.bytes);
        TRACE(comm->engine, p2p__trace_receives(request));
    }
    if (status) *status = request->status;
    return P2P_OK;
}
