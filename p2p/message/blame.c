/* SPDX-License-Identifier: MIT */
/*
 * What an error is, as data, for the supervisor's report: its class, the call, and the other side. Nothing here runs on
 * a path without an error. A rank writes its findings into its own row, and counts them last.
 */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"

void p2p__blame_message(p2p_comm *comm, const p2p_status *message)
{
    comm->blame.other = (p2p_place){.role = ROLE_OTHER,
                                    .rank = comm->world_rank[message->source],
                                    .call = {.shape = SHAPE_SEND,
                                             .peer = comm->rank,
                                             .world_peer = comm->engine->rank,
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
    comm->blame.other = p2p__place_of(request, comm->engine->rank);
}

/* Its call is known if it is still in this collective. */
void p2p__blame_rank(p2p_comm *comm, int rank)
{
    const p2p_engine *engine = comm->engine;
    p2p_place place = {.role = ROLE_OTHER, .rank = comm->world_rank[rank]};
    const scoreboard_call shown = p2p__call_copy(&engine->scoreboard->rows[place.rank].call), *own = &engine->row->call;
    if (shown.shape == SHAPE_COLLECTIVE && shown.number == own->number && shown.context == own->context)
        place.call = shown;
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

void p2p__publish(scoreboard_row *row, int rank, const p2p_blame *blame, const scoreboard_call *call, const char *text,
                  int drafts)
{
    scoreboard_found *found = &row->found[0];
    if (!drafts) {
        found->what = blame->what;
        found->places[0] = (p2p_place){.role = ROLE_CALL, .rank = rank, .call = *call};
        found->places[1] = blame->other;
        found->count = blame->other.role == ROLE_CALL ? 1 : 2;
        p2p__set_add(&found->what.ranks, rank);
        if (blame->other.role == ROLE_OTHER) p2p__set_add(&found->what.ranks, blame->other.rank);
    }
    snprintf(row->error, sizeof row->error, "%.*s", (int)sizeof row->error - 1, text);
    p2p__copy_text(row->advice, sizeof row->advice, blame->advice);
    atomic_store(&row->found_count, drafts ? drafts : 1);
}
