/* SPDX-License-Identifier: MIT */
/* Probing: has a message come, and how long is it? The message stays where it is. */
#include "p2p/message/internal.h"

typedef struct {
    struct p2p_operation like; /* the receive that is asked about; never posted */
    p2p_unexpected *found;
} question;

static bool answered(p2p_engine *engine, void *arg)
{
    question *q = arg;
    q->found = p2p__match_unexpected(engine, q->like.context, q->like.peer, q->like.tag);
    return q->found;
}

static void describe(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    p2p_request like = &((question *)arg)->like;
    p2p__describe_requests(engine, &like, 1, true, wait);
}

/* Waits until there is one, or, with `found`, polls once. */
static p2p_err probe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status)
{
    p2p_engine *engine = comm->engine;
    question q = {.found = NULL};
    p2p_err err = p2p__check_message(comm, true, NULL, 0, source, tag);
    if (err) return err;
    p2p__request_init(&q.like, REQUEST_RECV, comm, comm->context, NULL, 0);
    q.like.peer = source == P2P_ANY_SOURCE ? P2P_ANY_SOURCE : comm->world_rank[source];
    q.like.tag = tag;
    if (q.like.peer >= 0 && engine->peers[q.like.peer].unreachable)
        return p2p__unreachable_error(comm, &engine->peers[q.like.peer]);
    bool ready = true;
    p2p_waiting waiting = {.ready = answered, .describe = describe, .arg = &q, .state = SCOREBOARD_BLOCKED};
    err = found ? p2p__poll(comm, &waiting, &ready) : p2p__block(comm, &waiting);
    if (err) return err;
    if (found) *found = ready;
    if (!ready || !status) return P2P_OK;
    const wire_header *header = &q.found->header;
    *status = (p2p_status){comm->comm_rank[header->source], header->tag, (size_t)header->bytes};
    return P2P_OK;
}

p2p_err p2p_probe(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_probe", SHAPE_RECV, source, tag, 0, 0, 0});
    if (err) return err;
    return p2p__leave(comm, probe(comm, source, tag, NULL, status));
}

p2p_err p2p_iprobe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_iprobe", SHAPE_RECV, source, tag, 0, 0, 0});
    if (err) return err;
    if (!found) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_ANSWER));
    return p2p__leave(comm, probe(comm, source, tag, found, status));
}
