/* SPDX-License-Identifier: MIT */
/* Requests: making and ending them; wait.c waits for them. */
#include <stdlib.h>
#include <string.h>

#include "p2p/message/trace_rank.h"
#include "p2p/shared/crc.h"

void p2p__request_init(p2p_request request, enum request_kind kind, p2p_comm *comm, uint32_t context, void *buf,
                       size_t bytes)
{
    memset(request, 0, offsetof(struct p2p_operation, packet));
    request->kind = kind;
    request->comm = comm;
    request->counted = true;
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
    if (!request->posted) return false;
    p2p__list_remove(request->peer < 0 ? &engine->posted_any : &engine->peers[request->peer].posted, request);
    return true;
}

static p2p_err explain(p2p_comm *comm, p2p_request request)
{
    const p2p_status *got = &request->status;
    if (request->kind == REQUEST_LAYER) return request->err; /* its step has said why */
    switch (request->err) {
    case P2P_ERR_TRUNCATE:
        p2p__fail(comm, CAUSE_TOO_LONG, got->bytes, got->source, got->tag, request->bytes);
        p2p__blame_message(comm, got);
        return P2P_ERR_TRUNCATE;
    case P2P_ERR_SYS: return p2p__unreachable_error(comm, &comm->engine->peers[request->peer]);
    case P2P_ERR_PEER_DEAD:
        p2p__fail(comm, CAUSE_GIVEN_UP, got->source, got->bytes, got->tag,
                  p2p_strerror(atomic_load(&comm->engine->scoreboard->rows[request->peer].gave_up)));
        comm->blame.what.reason = REASON_GAVE_UP;
        p2p__blame_message(comm, got);
        return P2P_ERR_PEER_DEAD;
    default: return request->err;
    }
}

p2p_err p2p__result(p2p_request request, p2p_status *status)
{
    p2p_comm *comm = request->comm;
    if (request->err) return explain(comm, request);
    const p2p_network *network = &comm->engine->config.network;
    if (network->on && request->counted) { /* virtual time passes where the program waits, in its own order */
        p2p_clock *clock = comm->engine->clock;
        uint64_t ends = request->kind == REQUEST_SEND ? request->ends : request->clock.now;
        if (request->kind == REQUEST_RECV)
            ends = clock->in_free = (request->began > clock->in_free ? request->began : clock->in_free) +
                                    p2p__network_message(network, request->peer, comm->engine->rank,
                                                         request->status.bytes);
        if (ends > clock->now) clock->now = ends;
    }
    if (request->debug_crc && request->debug_crc != p2p__crc32c(0, request->buf, request->bytes)) {
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
