/* SPDX-License-Identifier: MIT */
/* The second door (p2p_layer.h): the frame that collectives are written in. */
#include <stdarg.h>
#include <stdio.h>

#include "p2p/group/internal.h"
#include "p2p/message/trace_rank.h"

/* What fails at once must name this collective as well, not the one before. */
static p2p_err enter(p2p_comm *comm, const p2p_fingerprint *what)
{
    p2p_engine *engine = comm ? comm->engine : NULL;
    bool fails = engine && *engine->this_process && engine->poisoned && engine->depth == 0;
    if (fails) p2p__show_collective(engine, what, comm->collectives + 1);
    return p2p__enter(comm, &(p2p_call){what->operation, SHAPE_COLLECTIVE, 0, 0, 0, 0, 0, 0, 0});
}

/* As the library that calls shows it, if it has said so; how it is done stays as it is. */
static const p2p_fingerprint *shown_as(p2p_comm *comm, const p2p_fingerprint *what, p2p_fingerprint *shown)
{
    if (!comm || !comm->alias) return what;
    const p2p_fingerprint *as = comm->alias;
    comm->alias = NULL;
    *shown = *what;
    shown->operation = as->operation;
    shown->count = as->count;
    shown->dtype = as->dtype;
    shown->op = as->op;
    shown->root = as->root;
    shown->kind = as->kind;
    shown->kinds = as->kinds;
    return shown;
}

static p2p_err not_begun(p2p_comm *comm, p2p_err err)
{
    if (comm->engine->config.explain) p2p__explain_end(comm, err);
    return p2p__leave(comm, err);
}

p2p_err p2p_layer_begin(p2p_comm *comm, const p2p_fingerprint *means)
{
    p2p_fingerprint shown;
    const p2p_fingerprint *what = shown_as(comm, means, &shown);
    p2p_err err = enter(comm, what);
    if (err) return err;
    if (__builtin_expect(comm->engine->observed, 0)) p2p__observe_collective(comm, what);
    if (comm->engine->depth > 1) return P2P_OK;
    if (comm->engine->config.explain) p2p__explain_begin(comm, what);
    comm->engine->kind = what->kind;
    comm->engine->block_kinds = what->kinds;
    p2p__show_collective(comm->engine, what, comm->collectives + 1);
    if (p2p__job_failed(comm->engine)) return not_begun(comm, p2p__job_error(comm));
    comm->collectives++;
    comm->agreed = comm->size == 1 || !(comm->engine->config.check || what->barriers);
    comm->attaches = comm->all_refused = false;
    if (comm->agreed) return P2P_OK;
    err = p2p__agree_post(comm, what);
    if (err) comm->collectives--; /* nothing has begun */
    if (!err && !what->late) err = p2p_layer_agree(comm);
    return err ? not_begun(comm, err) : P2P_OK;
}

void p2p_layer_advise(p2p_comm *comm, const char *advice)
{
    if (comm) comm->advice = advice;
}

static const char *take_advice(p2p_comm *comm)
{
    const char *advice = comm ? comm->advice : NULL;
    p2p_layer_advise(comm, NULL);
    return advice;
}

p2p_err p2p_layer_refuse(p2p_comm *comm, const p2p_fingerprint *what, p2p_err err, const char *cause)
{
    p2p_argument argument = err == P2P_ERR_RANK ? P2P_ARGUMENT_ROOT : P2P_ARGUMENT_OTHER;
    return p2p_layer_refuse_argument(comm, what, err, argument, cause);
}

p2p_err p2p_layer_refuse_argument(p2p_comm *comm, const p2p_fingerprint *means, p2p_err err, p2p_argument argument,
                                  const char *cause)
{
    p2p_fingerprint shown;
    const p2p_fingerprint *what = shown_as(comm, means, &shown);
    const char *advice = take_advice(comm);
    p2p_err unusable = enter(comm, what);
    if (unusable) return unusable;
    if (comm->engine->depth == 1) p2p__show_collective(comm->engine, what, comm->collectives + 1);
    int class = argument == P2P_ARGUMENT_OVERLAP ? CLASS_BUFFER_CONFLICT : CLASS_INVALID_ARGUMENT;
    return p2p__leave(comm, p2p__fail(comm, err, class, (int)argument, advice, "%s", cause));
}

/* What has been read in place was what its rank meant, unless that has ended the collective with an error meanwhile; or, where
 * parts were done without this rank, a later one: that counts as well, for the job has failed. */
static p2p_err check_attached(p2p_comm *comm)
{
    const p2p_engine *engine = comm->engine;
    if (!atomic_load(&engine->scoreboard->shared->any_gave_up)) return P2P_OK;
    if (p2p__job_failed(comm->engine)) return p2p__job_error(comm);
    for (int i = 0; i < comm->size; i++)
        if (p2p__gave_up(engine, comm->world_rank[i])) return p2p__fail(comm, CAUSE_ATTACHED_GIVEN_UP, i);
    return P2P_OK;
}

p2p_err p2p_layer_end(p2p_comm *comm, p2p_err err)
{
    bool outermost = comm->engine->depth == 1;
    if (!err && outermost) err = p2p_layer_agree(comm);
    if (!err && outermost && comm->attaches) err = check_attached(comm);
    /* The others may be anywhere in it: the next one could take its messages for this one's. */
    bool behind = err == P2P_ERR_TIMEOUT || err == P2P_ERR_NOMEM || err == P2P_ERR_SYS || err == P2P_ERR_PEER_DEAD;
    if (outermost && comm->size > 1 && behind && !comm->all_refused) p2p__poison(comm, err);
    if (outermost && comm->engine->config.explain) p2p__explain_end(comm, err);
    if (outermost) comm->engine->kind = 0;
    if (outermost) comm->engine->block_kinds = NULL;
    if (outermost && comm->engine->fresh) p2p__sum_fresh(comm->engine);
    return p2p__leave(comm, err);
}

p2p_err p2p_layer_error(p2p_comm *comm, p2p_err err, const char *format, ...)
{
    char cause[sizeof comm->blame.cause];
    const p2p_diagnosis what = p2p__diagnosis_of(err);
    va_list args;
    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    return p2p__fail(comm, err, what.class, what.argument, take_advice(comm), "%s", cause);
}

/* Its call is known if it is still in this collective. */
void p2p_layer_other(p2p_comm *comm, int rank)
{
    if (rank < 0 || rank >= comm->size) return;
    const p2p_engine *engine = comm->engine;
    p2p_place place = {.role = ROLE_OTHER, .rank = comm->world_rank[rank]};
    const scoreboard_call shown = p2p__call_copy(&engine->scoreboard->rows[place.rank].call), *own = &engine->row->call;
    if (shown.shape == SHAPE_COLLECTIVE && shown.number == own->number && shown.context == own->context)
        place.call = shown;
    comm->blame.other = place;
}

p2p_err p2p_layer_request(p2p_comm *comm, const p2p_layer_ops *ops, void *state, p2p_request *out)
{
    if (!ops || !ops->step || !ops->waits_for || !out) return p2p__fail(comm, CAUSE_NO_PLACE_FOR_REQUEST);
    p2p_request request;
    p2p_err err = p2p__agree_settle(comm);
    if (err) return err;
    err = p2p__request_new(comm, REQUEST_LAYER, 0, NULL, 0, &request);
    if (err) return err;
    request->layer = ops;
    request->layer_state = state;
    request->layer_number = comm->collectives;
    request->clock.now = comm->engine->clock->now;
    if (comm->engine->config.explain) p2p__explain_request(comm, request);
    if (comm->engine->trace) {
        request->order = comm->engine->trace->order++;
        request->began = p2p__trace_clock(comm->engine);
    }
    p2p__list_add(&comm->engine->layers, request);
    comm->agreed = true; /* its steps see to that */
    *out = request;
    return P2P_OK;
}

p2p_err p2p_layer_done(p2p_request *request, bool *done)
{
    return p2p_layer_done_status(request, done, NULL);
}

p2p_err p2p_layer_done_status(p2p_request *request, bool *done, p2p_status *status)
{
    if (*request && !(*request)->done) {
        *done = false;
        return P2P_OK;
    }
    *done = true;
    if (!*request) return P2P_OK;
    p2p_err err = p2p__result(*request, status);
    p2p__request_free(*request);
    *request = P2P_REQUEST_NULL;
    return err;
}

void p2p_layer_compute(p2p_comm *comm, size_t bytes)
{
    p2p_engine *engine = comm->engine;
    uint64_t before = engine->clock->now;
    const char *file;
    int line;
    p2p__take_line(&file, &line);
    if (engine->config.network.on)
        engine->clock->now += p2p__network_compute(&engine->config.network, engine->rank, bytes);
    TRACE(engine, p2p__trace_compute(comm, bytes, before, file, line));
}
