/* SPDX-License-Identifier: MIT */
/* Probing: has a message come, and how long is it? The message stays where it is. */
#include "p2p/message/internal.h"
#include "p2p/shared/crc.h"

typedef struct {
    struct p2p_operation like; /* the receive that is asked about; never posted */
    p2p_unexpected *found;
} question;

static bool answered(p2p_engine *engine, void *arg)
{
    question *q = arg;
    if (engine->choices && q->like.peer >= 0)
        q->found = p2p__choice_message(engine, q->like.peer, q->like.context, q->like.tag);
    else
        q->found = p2p__match_unexpected(engine, q->like.context, q->like.peer, q->like.tag);
    return q->found;
}

static void describe(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    p2p_request like = &((question *)arg)->like;
    p2p__describe_requests(engine, &like, 1, true, wait);
}

/* ---- With launch --explore ---- */

static uint64_t options_of(p2p_engine *engine, void *arg, uint64_t *held)
{
    question *q = arg;
    if (q->like.peer < 0) return p2p__choice_sources(engine, &q->like, held);
    return answered(engine, q) ? UINT64_C(1) << q->like.peer : 0;
}

static int *there(p2p_engine *engine, void *arg, size_t *at)
{
    const question *q = arg;
    while (*at < (size_t)engine->size) {
        int source = (int)(*at)++;
        if (q->like.peer >= 0 && q->like.peer != source) continue;
        p2p_unexpected *message = p2p__choice_message(engine, source, q->like.context, q->like.tag);
        if (message) return &message->vain;
    }
    return NULL;
}

static void note_question(p2p_engine *engine, void *arg, uint32_t number)
{
    question *q = arg;
    uint64_t held, sources = p2p__choice_sources(engine, &q->like, &held);
    if (q->like.peer >= 0) sources |= ~(UINT64_C(1) << q->like.peer); /* of others none would do */
    p2p__choice_note(engine, number, &q->like, sources | held);
}

/* Which message a probe of any source sees, and whether a poll sees one. */
static p2p_err ask(p2p_comm *comm, question *q, bool poll, bool *ready)
{
    int option;
    const int32_t what[] = {(int32_t)q->like.context, q->like.peer, q->like.tag};
    const p2p_asked asked = {.kind = poll ? CHOICE_POLL : CHOICE_PROBE,
                             .options = options_of,
                             .describe = poll ? NULL : describe,
                             .there = there,
                             .question = p2p__crc32c(0, what, sizeof what),
                             .decided = note_question,
                             .arg = q};
    p2p_err err = p2p__choice_ask(comm, &asked, &option);
    *ready = !err && option != CHOICE_NOTHING;
    if (*ready) q->found = p2p__choice_message(comm->engine, option, q->like.context, q->like.tag);
    return err;
}

/* ---- The calls ---- */

/* Waits until there is one, or, with `found`, polls once. */
static p2p_err probe(p2p_comm *comm, int source, int tag, bool *found, p2p_message *taken, p2p_status *status)
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
    if (engine->choices && (found || q.like.peer < 0))
        err = ask(comm, &q, found, &ready);
    else
        err = found ? p2p__poll(comm, &waiting, &ready) : p2p__block(comm, &waiting);
    if (err) return err;
    if (found) *found = ready;
    if (!ready) return P2P_OK;
    if (engine->choices) p2p__poll_saw(q.found);
    if (taken) p2p__unexpected_remove(engine, q.found);
    if (taken) *taken = q.found;
    if (!status) return P2P_OK;
    const wire_header *header = &q.found->header;
    *status = (p2p_status){comm->comm_rank[header->source], header->tag, (size_t)header->bytes};
    return P2P_OK;
}

p2p_err p2p_probe(p2p_comm *comm, int source, int tag, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_probe", SHAPE_RECV, source, tag, 0, 0, 0, 0, 0});
    if (err) return err;
    return p2p__leave(comm, probe(comm, source, tag, NULL, NULL, status));
}

p2p_err p2p_iprobe(p2p_comm *comm, int source, int tag, bool *found, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_iprobe", SHAPE_RECV, source, tag, 0, 0, 0, 0, 0});
    if (err) return err;
    if (!found) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_ANSWER));
    return p2p__leave(comm, probe(comm, source, tag, found, NULL, status));
}

p2p_err p2p_take(p2p_comm *comm, int source, int tag, p2p_message *message, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_take", SHAPE_RECV, source, tag, 0, 0, 0, 0, 0});
    if (err) return err;
    if (!message) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_TAKEN));
    return p2p__leave(comm, probe(comm, source, tag, NULL, message, status));
}

p2p_err p2p_itake(p2p_comm *comm, int source, int tag, bool *found, p2p_message *message, p2p_status *status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_itake", SHAPE_RECV, source, tag, 0, 0, 0, 0, 0});
    if (err) return err;
    if (!found) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_ANSWER));
    if (!message) return p2p__leave(comm, p2p__fail(comm, CAUSE_NO_PLACE_FOR_TAKEN));
    return p2p__leave(comm, probe(comm, source, tag, found, message, status));
}
