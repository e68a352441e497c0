/* SPDX-License-Identifier: MIT */
/*
 * The one wait loop: poll as long as the backoff goes on (spin.h), then show what this rank waits for and sleep, until
 * it is ready. A waiting rank also reads and writes for all its other operations, so that a flood in every direction
 * passes and no rank waits for one that is itself waiting inside Pairwise.
 *
 * Before it sleeps, a rank shows on the scoreboard what it waits for. The order is what makes deadlock detection exact:
 * ask whether what has arrived releases this rank; only if not, show "blocked" and count what arrived as received.
 */

#include "p2p/message/trace_rank.h"
#include "p2p/shared/control.h"

/* ---- The scoreboard ---- */

static void show_received(p2p_engine *engine)
{
    _Atomic uint64_t *received = p2p__scoreboard_received(engine->scoreboard, engine->rank);
    for (p2p_peer *peer = engine->dirty; peer; peer = peer->next_dirty) {
        atomic_store_explicit(&received[peer->link.rank], peer->link.frames_in, memory_order_relaxed);
        peer->received_dirty = false;
    }
    engine->dirty = NULL;
    atomic_store_explicit(&engine->row->nudges_seen, engine->nudges_seen, memory_order_relaxed);
}

static int shown_state(const p2p_engine *engine)
{
    return atomic_load_explicit(&engine->row->state, memory_order_relaxed);
}

void p2p__show_running(p2p_engine *engine)
{
    int state = engine->polled ? SCOREBOARD_POLLING : SCOREBOARD_RUNNING;
    if (engine->polled) atomic_fetch_add_explicit(&engine->row->polls, 1, memory_order_relaxed);
    engine->polled = false;
    if (!engine->dirty && (shown_state(engine) == state || shown_state(engine) >= SCOREBOARD_FINALIZING)) return;
    p2p__row_open(engine->row);
    if (shown_state(engine) < SCOREBOARD_FINALIZING)
        atomic_store_explicit(&engine->row->state, state, memory_order_relaxed);
    show_received(engine);
    p2p__row_shut(engine->row);
}

/* The ranks that can end this operation. A non-blocking collective moves on when one of its inner requests ends; and
 * when the others have come to it, if it has asked for that. With none under way it waits for those, or for the one
 * begun before it: then any rank may be the one. */
static void add_candidates(p2p_engine *engine, p2p_request request, p2p_rank_set *set)
{
    bool any = request->kind != REQUEST_LAYER && request->peer < 0;
    if (request->kind == REQUEST_LAYER) {
        const p2p_request *inner;
        size_t count = request->layer->waits_for(request->layer_state, &inner), pending = 0;
        for (size_t i = 0; i < count; i++) {
            if (!inner[i] || inner[i]->done) continue;
            add_candidates(engine, inner[i], set);
            pending++;
        }
        any = !pending || request->lacks_agreement;
    } else if (!any) {
        p2p__set_add(set, request->peer);
    }
    const p2p_comm *comm = request->comm;
    for (int i = 0; any && i < comm->size; i++)
        if (i != comm->rank) p2p__set_add(set, comm->world_rank[i]);
}

static p2p_rank_set *next_any_set(p2p_engine *engine, scoreboard_wait *wait)
{
    if (wait->any_count == SCOREBOARD_ANY_SETS)
        return &wait->any[SCOREBOARD_ANY_SETS - 1]; /* a weaker condition: no false alarm */
    p2p_rank_set *set = &wait->any[wait->any_count++];
    p2p__set_clear(set, engine->size);
    return set;
}

void p2p__describe_requests(p2p_engine *engine, const p2p_request *requests, size_t count, bool all,
                            scoreboard_wait *wait)
{
    p2p_rank_set *any = all ? NULL : next_any_set(engine, wait);
    for (size_t i = 0; i < count; i++) {
        p2p_request request = requests[i];
        if (!request || request->done) continue;
        if (wait->pending_count++ < SCOREBOARD_ITEMS) wait->pending[wait->pending_count - 1] = p2p__call_of(request);
        bool one_peer = request->kind != REQUEST_LAYER && request->peer >= 0;
        add_candidates(engine, request, any ? any : one_peer ? &wait->need : next_any_set(engine, wait));
    }
}

static void show_blocked(p2p_engine *engine, const p2p_waiting *waiting)
{
    scoreboard_wait *wait = &engine->row->wait;
    int shown = 0;
    p2p__row_open(engine->row);
    p2p__set_clear(&wait->need, engine->size);
    wait->agree_number = 0;
    wait->any_count = wait->layer_count = wait->pending_count = 0;
    waiting->describe(engine, waiting->arg, wait);
    for (p2p_request at = engine->layers.head; at; at = at->next, wait->layer_count++) {
        if (!wait->layer_count) p2p__set_clear(&wait->layers, engine->size);
        add_candidates(engine, at, &wait->layers);
    }

    /* Once such a peer has received everything, this rank has news, though nothing is on its way to it. */
    wait->drains = engine->end.queued > 0;
    if (wait->drains) p2p__set_clear(&wait->draining, engine->size);
    for (int i = 0; wait->drains && i < engine->size; i++)
        if (engine->peers[i].link.head) p2p__set_add(&wait->draining, i);

    wait->waiting_count = (int)engine->unexpected_count;
    for (int i = 0; i < engine->size && engine->unexpected_count && shown < SCOREBOARD_ITEMS; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && shown < SCOREBOARD_ITEMS; at = at->next)
            wait->waiting[shown++] = p2p__call_of_message(&at->header);
    if (engine->choices) p2p__choices_show(engine);
    atomic_store_explicit(&engine->row->state, waiting->state, memory_order_relaxed);
    show_received(engine);
    p2p__row_shut(engine->row);
}

/* ---- A job that has failed ---- */

bool p2p__job_failed(p2p_engine *engine)
{
    if (!engine->failed && !atomic_load_explicit(&engine->scoreboard->shared->failed, memory_order_acquire))
        return false;
    if (engine->drained) return true;
    uint64_t give_up = p2p__now() + LOST_GRACE_NS;
    while (!engine->failed && !engine->poisoned && p2p__now() < give_up) engine->world->progress(&engine->end, give_up);
    uint64_t before;
    do {
        before = engine->end.moved;
        engine->world->progress(&engine->end, 0);
    } while (engine->end.moved != before && !engine->poisoned);
    engine->drained = true;
    if (!engine->failed) engine->failed = P2P_ERR_PEER_DEAD;
    return true;
}

p2p_err p2p__job_error(p2p_comm *comm)
{
    p2p_engine *engine = comm->engine;
    char text[sizeof comm->blame.cause];
    if (engine->poisoned) return p2p__fail_again(comm, engine->poisoned); /* what came last was no frame */
    p2p_err err = p2p__scoreboard_failure(engine->scoreboard, text, sizeof text);
    p2p__fail(comm, err, CLASS_NONE, P2P_ARGUMENT_NONE, NULL, "%s", text);
    return p2p__poison(comm, err);
}

/* ---- Waiting ---- */

/* On a virtual network the non-blocking collectives of a communicator follow one another, or their times would depend
 * on which of them the machine lets move first. */
static bool must_wait(p2p_engine *engine, p2p_request request)
{
    if (!engine->config.network.on) return false;
    for (p2p_request at = engine->layers.head; at != request; at = at->next)
        if (at->comm == request->comm) return true;
    if (request->clock.now < request->comm->layers_end) request->clock.now = request->comm->layers_end;
    return false;
}

/* Until none can move: a step may end what another one, or itself, waits for, and nothing else would call that again.
 * After all have said goodbye no rank waits for a collective, and nothing may be sent any more. */
static void step_layers(p2p_engine *engine)
{
    uint64_t before;
    p2p_clock *clock = engine->clock;
    if (engine->in_step || engine->all_done || engine->at_port) return;
    do {
        before = engine->completed;
        for (p2p_request at = engine->layers.head, next; at; at = next) {
            bool done = false;
            next = at->next;
            if (must_wait(engine, at)) continue;
            engine->clock = &at->clock;
            engine->in_step = at;
            at->lacks_agreement = false;
            p2p_err err = at->layer->step(at->comm, at->layer_state, &done);
            engine->in_step = NULL;
            engine->clock = clock;
            if (!err && !done) continue;
            at->comm->layers_end = at->clock.now;
            p2p__list_remove(&engine->layers, at);
            if (!err && at->explained) engine->explain_done(at);
            p2p__complete(at, err);
            TRACE(engine, p2p__trace_background(at));
        }
    } while (engine->completed != before);
}

p2p_err p2p__poll(p2p_comm *comm, const p2p_waiting *waiting, bool *ready)
{
    p2p_engine *engine = comm->engine;
    *ready = waiting->ready(engine, waiting->arg);
    if (*ready) return P2P_OK;
    p2p_err err = engine->world->progress(&engine->end, 0);
    if (err) return p2p__fail_again(comm, err);
    step_layers(engine);
    bool failed = !waiting->ready(engine, waiting->arg) && p2p__job_failed(engine);
    *ready = waiting->ready(engine, waiting->arg);
    if (failed && !*ready) return p2p__job_error(comm);
    engine->polled = !*ready;
    return P2P_OK;
}

/* Polls for as long as the backoff goes on; something that moves prolongs it. */
static p2p_err poll_a_while(p2p_engine *engine, const p2p_waiting *waiting, p2p_backoff *backoff)
{
    p2p_err err;
    do {
        uint64_t before = engine->end.moved;
        err = waiting->hot && backoff->spin_until ? engine->world->try_peer(&engine->end, &waiting->hot->link)
                                                  : engine->world->progress(&engine->end, 0);
        if (!err && engine->layers.head) step_layers(engine);
        bool more = engine->end.moved != before && engine->spin.now >= SPIN_SHORTEST_NS; /* of a long message, say */
        if (more) backoff->spin_until = p2p__now() + engine->spin.now;
    } while (!err && !waiting->ready(engine, waiting->arg) && !engine->failed &&
             p2p__backoff_goes_on(&engine->spin, backoff));
    return err == P2P_ERR_NOMEM ? P2P_OK : err;
}

/* A message that this rank has asked for and waits for, whose sender gives none any more: of one on another host that may
 * not have been known when it was asked. NULL: there is none. */
static p2p_request find_given_up(p2p_engine *engine)
{
    for (int i = 0; i < engine->size; i++) {
        p2p_request asked = engine->peers[i].awaits_payload.head;
        if (asked && p2p__gave_up(engine, i) && p2p__set_has(&engine->row->wait.need, i)) return asked;
    }
    return NULL;
}

/* With launch --explore: messages go to the receives that have to get them. True: something has ended by that. */
static bool settles(p2p_comm *comm, p2p_err *err)
{
    p2p_engine *engine = comm->engine;
    uint64_t before = engine->completed;
    *err = p2p__choice_settle(engine);
    if (*err) *err = p2p__fail_again(comm, *err);
    if (!*err && engine->completed != before) step_layers(engine);
    return engine->completed != before;
}

/* Shows what this rank waits for, and sleeps until something moves. */
static p2p_err sleep_once(p2p_comm *comm, const p2p_waiting *waiting, uint64_t deadline, int *tries)
{
    p2p_engine *engine = comm->engine;
    if (engine->failed && engine->drained) return p2p__job_error(comm);
    if (p2p__job_failed(engine)) return P2P_OK; /* what has arrived may be enough */
    if (engine->control < 0) return p2p__fail(comm, CAUSE_ALONE);
    if (waiting->before_sleep) {
        waiting->before_sleep(engine, waiting->arg);
        if (waiting->ready(engine, waiting->arg)) return P2P_OK;
    }
    p2p_err err = P2P_OK;
    if (engine->choices && (settles(comm, &err) || err)) return err;
    if (engine->choices) p2p__choice_acts(engine);
    show_blocked(engine, waiting);
    if (engine->choices) p2p__control_tell(engine->control, CONTROL_CHOICE, engine->rank, 0);
    uint64_t before = engine->end.moved, until = deadline;
    if (engine->lost_since && engine->lost_since + LOST_GRACE_NS < until) until = engine->lost_since + LOST_GRACE_NS;
    err = engine->world->progress(&engine->end, until);
    if (!err && engine->choices) err = p2p__choices_obey(engine);
    if (err == P2P_ERR_TIMEOUT && until < deadline)
        err = p2p__broken(&engine->end, P2P_ERR_PEER_DEAD,
                          "rank %d has closed its link to this rank, but is still there", engine->lost_peer);
    if (!err) step_layers(engine);
    bool may_come_back = err == P2P_ERR_NOMEM && !engine->poisoned; /* memory, for a message that arrives */
    if (may_come_back && ++*tries <= NOMEM_TRIES) {
        p2p__pause(NOMEM_PAUSE_NS);
        err = P2P_OK;
    } else if (may_come_back) {
        engine->poison = (p2p_blame){.cause = "no memory to keep a message that has arrived",
                                     .what = p2p__diagnosis_of(P2P_ERR_NOMEM)};
    }
    if (!err && engine->spin.now && engine->end.moved != before) { /* more of a long message comes soon */
        p2p_backoff backoff;
        p2p__backoff_begin(&engine->spin, &backoff, 0);
        backoff.deadline = deadline;
        err = poll_a_while(engine, waiting, &backoff);
    }
    bool too_late = deadline != UINT64_MAX && p2p__now() >= deadline; /* though other messages come all the time */
    if (!err && too_late && !waiting->ready(engine, waiting->arg)) err = P2P_ERR_TIMEOUT;
    p2p_request given_up = err == P2P_ERR_TIMEOUT ? find_given_up(engine) : NULL;
    if (given_up) {
        engine->timed_out = true;
        return p2p__given_up_error(comm, given_up);
    }
    if (err == P2P_ERR_TIMEOUT) return p2p__timeout_error(comm, &engine->row->wait);
    return err ? p2p__fail_again(comm, err) : P2P_OK;
}

p2p_err p2p__block(p2p_comm *comm, const p2p_waiting *waiting)
{
    p2p_engine *engine = comm->engine;
    p2p_err err = P2P_OK;
    if (waiting->ready(engine, waiting->arg)) return P2P_OK;
    if (engine->poisoned) return p2p__fail_again(comm, engine->poisoned);
    TRACE(engine, p2p__trace_push(engine, TRACE_WAIT, "wait", 0, NULL, 0));
    if (engine->spin.cheap_polls) p2p__cores_spread(engine->scoreboard, engine->rank, &engine->spin, &engine->spread);
    /* Ranks that share cores: what comes without this rank's doing is often here once the others had the core. */
    bool came = engine->spin.shares_cores && waiting->timed_wait && p2p__spin_yield(&engine->spin) &&
                waiting->ready(engine, waiting->arg);
    if (!came) {
        p2p_backoff backoff;
        int tries = 0;
        bool slept = false;
        p2p__backoff_begin(&engine->spin, &backoff, waiting->patient ? 0 : engine->config.timeout_ns);
        err = poll_a_while(engine, waiting, &backoff);
        if (err) p2p__fail_again(comm, err);
        if (!err && waiting->timed_wait && !waiting->ready(engine, waiting->arg))
            waiting->timed_wait(engine, waiting->arg);
        if (engine->operation && !err && !waiting->ready(engine, waiting->arg)) p2p__note_sleep(engine);
        for (; !err && !waiting->ready(engine, waiting->arg); slept = true)
            err = sleep_once(comm, waiting, backoff.deadline, &tries);
        if (shown_state(engine) == SCOREBOARD_BLOCKED) p2p__show_running(engine);
        p2p__backoff_end(&engine->spin, &backoff, slept);
    }
    TRACE(engine, p2p__trace_pop(engine, 0));
    return err;
}
