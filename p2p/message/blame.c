/* SPDX-License-Identifier: MIT */
/*
 * What an error is, as data, for the supervisor's report: its class, the call, and the other side. Nothing here runs on
 * a path without an error. A rank writes its findings into its own row, and counts them last.
 */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

static int own_rank(const p2p_comm *comm)
{
    return comm->engine ? comm->engine->rank : comm->rank;
}

void p2p__blame_message(p2p_comm *comm, const p2p_status *message)
{
    comm->blame.has_other = true;
    comm->blame.other = (p2p_place){.role = ROLE_OTHER,
                                    .rank = comm->world_rank[message->source],
                                    .call = {.shape = SHAPE_SEND,
                                             .peer = comm->rank,
                                             .world_peer = own_rank(comm),
                                             .tag = message->tag,
                                             .context = comm->context,
                                             .bytes = message->bytes}};
}

p2p_place p2p__place_of(const struct p2p_operation *request, int rank)
{
    static const int shapes[] = {
        [REQUEST_SEND] = SHAPE_SEND, [REQUEST_RECV] = SHAPE_RECV, [REQUEST_LAYER] = SHAPE_COLLECTIVE};
    static const char *const names[] = {
        [REQUEST_SEND] = "p2p_isend", [REQUEST_RECV] = "p2p_irecv", [REQUEST_LAYER] = ""};
    p2p_place place = {.role = ROLE_PENDING, .rank = rank};
    place.call = (scoreboard_call){.shape = shapes[request->kind],
                                   .line = request->line,
                                   .peer = request->peer,
                                   .world_peer = request->peer,
                                   .tag = request->tag,
                                   .context = request->context,
                                   .bytes = request->bytes,
                                   .number = request->layer_number,
                                   .what = {.count = UINT64_MAX, .root = -1}};
    bool layer = request->kind == REQUEST_LAYER;
    p2p__copy_text(place.call.name, sizeof place.call.name, layer ? request->layer_name : names[request->kind]);
    p2p__copy_text(place.call.file, sizeof place.call.file, request->file);
    return place;
}

void p2p__blame_request(p2p_comm *comm, const struct p2p_operation *request)
{
    comm->blame.has_other = true;
    comm->blame.other = p2p__place_of(request, own_rank(comm));
}

/* Its call is known if it is still in this collective. */
void p2p__blame_rank(p2p_comm *comm, int rank)
{
    const p2p_engine *engine = comm->engine;
    p2p_place place = {.role = ROLE_OTHER, .rank = comm->world_rank[rank]};
    const scoreboard_call shown = p2p__call_copy(&engine->scoreboard->rows[place.rank].call), *own = &engine->row->call;
    if (shown.shape == SHAPE_COLLECTIVE && shown.number == own->number && shown.context == own->context)
        place.call = shown;
    comm->blame.has_other = true;
    comm->blame.other = place;
}

void p2p__draft(p2p_engine *engine, p2p_finding *f)
{
    if (engine->drafts < SCOREBOARD_FOUND) {
        scoreboard_found *found = &engine->row->found[engine->drafts++];
        found->what = f->what;
        found->count = (int)(f->count < SCOREBOARD_PLACES ? f->count : SCOREBOARD_PLACES);
        if (found->count) memcpy(found->places, f->places, (size_t)found->count * sizeof *f->places);
    }
    p2p__finding_free(f);
}

void p2p__publish(p2p_comm *comm, const scoreboard_call *call, p2p_err err)
{
    scoreboard_row *row = comm->row;
    if (!row) return;
    int count = comm->engine ? comm->engine->drafts : 0;
    if (!count) {
        scoreboard_found *found = &row->found[0];
        found->what = comm->blame.what.class ? comm->blame.what : p2p__diagnosis_of(err);
        p2p__set_add(&found->what.ranks, own_rank(comm));
        found->places[0] = (p2p_place){.role = ROLE_CALL, .rank = own_rank(comm), .call = *call};
        found->places[1] = comm->blame.other;
        found->count = comm->blame.has_other ? 2 : 1;
        if (comm->blame.other.role == ROLE_OTHER && comm->blame.has_other)
            p2p__set_add(&found->what.ranks, comm->blame.other.rank);
    }
    snprintf(row->error, sizeof row->error, "%.*s", (int)sizeof row->error - 1, comm->message);
    p2p__copy_text(row->advice, sizeof row->advice, comm->blame.advice);
    atomic_store(&row->found_count, count ? count : 1);
}

void p2p__publish_drafts(p2p_engine *engine)
{
    atomic_store(&engine->row->found_count, engine->drafts);
}

void p2p__publish_early(scoreboard_row *row, int rank, const p2p_diagnosis *what, const scoreboard_call *call,
                        const char *text)
{
    scoreboard_found *found = &row->found[0];
    found->what = *what;
    found->places[0] = (p2p_place){.role = ROLE_CALL, .rank = rank, .call = *call};
    found->count = 1;
    p2p__set_add(&found->what.ranks, rank);
    snprintf(row->error, sizeof row->error, "%s", text);
    atomic_store(&row->found_count, 1);
}
