/* SPDX-License-Identifier: MIT */
/*
 * What a rank reports to the supervisor, as data: of an error, its class, the call, and the other side; of p2p_finalize,
 * the messages, requests, communicators and memory that are left; of a call that has waited for PAIRWISE_TIMEOUT, for
 * whom, and what those are doing. A rank writes its findings into its own row, and counts them last.
 */
#include <stdio.h>
#include <string.h>

#include "p2p/message/internal.h"
#include "p2p/shared/process.h"
#include "p2p/shared/words.h"

static size_t place_of_sent(uint32_t context, int dest, int tag)
{
    return (context * 31 + (uint32_t)dest * 7 + (uint32_t)tag) % SCOREBOARD_SENT;
}

/* The last call of this kind is known to those whose messages are not what they expected, or are never received. */
void p2p__note_send(const p2p_comm *comm, int dest, int tag, size_t bytes)
{
    p2p_engine *engine = comm->engine;
    scoreboard_call *sent = &engine->row->sent[place_of_sent(comm->context, comm->world_rank[dest], tag)];
    *sent = engine->row->call;
    sent->shape = SHAPE_SEND;
    sent->context = comm->context;
    sent->peer = dest;
    sent->world_peer = comm->world_rank[dest];
    sent->tag = tag;
    sent->bytes = bytes;
}

/* The call of that rank that sent such a message to this one; NULL: it is not known. */
static const scoreboard_call *find_sent(const p2p_engine *engine, int sender, uint32_t context, int tag)
{
    const scoreboard_call *sent = &engine->scoreboard->rows[sender].sent[place_of_sent(context, engine->rank, tag)];
    bool same = sent->context == context && sent->world_peer == engine->rank && sent->tag == tag;
    return engine->config.reports && same && sent->line > 0 ? sent : NULL;
}

void p2p__blame_message(p2p_comm *comm, const p2p_status *message)
{
    const scoreboard_call *sent = find_sent(comm->engine, comm->world_rank[message->source], comm->context,
                                            message->tag);
    comm->blame.other = (p2p_place){.role = ROLE_OTHER,
                                    .rank = comm->world_rank[message->source],
                                    .call = {.shape = SHAPE_SEND,
                                             .peer = comm->rank,
                                             .world_peer = comm->engine->rank,
                                             .tag = message->tag,
                                             .context = comm->context,
                                             .bytes = message->bytes}};
    if (sent) comm->blame.other.call = p2p__call_copy(sent);
}

scoreboard_call p2p__call_of(const struct p2p_operation *request)
{
    static const int shapes[] = {
        [REQUEST_SEND] = SHAPE_SEND, [REQUEST_RECV] = SHAPE_RECV, [REQUEST_LAYER] = SHAPE_COLLECTIVE};
    scoreboard_call call = {.shape = shapes[request->kind],
                            .line = request->line,
                            .synchronous = request->synchronous,
                            .peer = request->peer,
                            .world_peer = request->peer,
                            .tag = request->tag,
                            .context = request->context,
                            .bytes = request->bytes,
                            .number = request->layer_number,
                            .what = {.count = UINT64_MAX, .root = -1}};
    p2p__copy_text(call.name, sizeof call.name, request->name);
    p2p__copy_text(call.file, sizeof call.file, request->file);
    return call;
}

scoreboard_call p2p__call_of_message(const wire_header *header)
{
    return (scoreboard_call){.shape = SHAPE_RECV,
                             .peer = (int)header->source,
                             .world_peer = (int)header->source,
                             .tag = header->tag,
                             .context = header->context,
                             .bytes = header->bytes};
}

void p2p__blame_request(p2p_comm *comm, const struct p2p_operation *request)
{
    comm->blame.other = (p2p_place){.role = ROLE_PENDING, .rank = comm->engine->rank, .call = p2p__call_of(request)};
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
    p2p__words_of(call ? call->name : row->call.name, row->advice, sizeof row->advice);
    atomic_store(&row->found_count, drafts ? drafts : 1);
}

/* One that a non-blocking collective is made of: the collective is named instead. */
static bool is_inner(const p2p_engine *engine, p2p_request request)
{
    for (p2p_request at = engine->layers.head; at; at = at->next) {
        const p2p_request *inner;
        size_t count = at->layer->waits_for(at->layer_state, &inner);
        for (size_t i = 0; i < count; i++)
            if (inner[i] == request) return true;
    }
    return false;
}

/* Of more than there is room for, the last one takes the place of the one before. */
static void add_made(p2p_finding *f, int rank, const char *by, const char *file, int line, size_t bytes)
{
    scoreboard_call call = {.shape = SHAPE_PLAIN, .line = line, .bytes = bytes};
    p2p__copy_text(call.name, sizeof call.name, by);
    p2p__copy_text(call.file, sizeof call.file, file);
    if (f->count == SCOREBOARD_PLACES) f->count--;
    p2p__finding_add(f, ROLE_MADE, rank, &call);
    f->what.count++;
}

/* Each message that is left, and where it was sent. */
static void add_messages(p2p_finding *f, const p2p_engine *engine)
{
    for (int i = 0; i < engine->size; i++)
        for (p2p_unexpected *at = engine->peers[i].unexpected; at && f->count < SCOREBOARD_PLACES; at = at->next) {
            const scoreboard_call message = p2p__call_of_message(&at->header);
            p2p__finding_add(f, ROLE_MESSAGE, engine->rank, &message);
            const scoreboard_call *sent = find_sent(engine, i, message.context, message.tag);
            if (!sent || f->count == SCOREBOARD_PLACES) continue;
            const scoreboard_call from = p2p__call_copy(sent);
            p2p__finding_add(f, ROLE_OTHER, i, &from);
            p2p__set_add(&f->what.ranks, i);
        }
}

p2p_err p2p__report_leaks(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    enum { MESSAGES, REQUESTS, COMMUNICATORS, MEMORY, THINGS };
    static const int things[] = {REASON_TYPE,   REASON_OPERATOR, REASON_GROUP,
                                 REASON_BUFFER, REASON_REQUEST,  REASON_PERSISTENT};
    enum { KINDS = THINGS + sizeof things / sizeof *things };
    p2p_finding left[KINDS] = {
        [MESSAGES] = {.what = {.class = CLASS_LOST_MESSAGE, .count = engine->unexpected_count}},
        [REQUESTS] = {.what = {.class = CLASS_REQUEST_LEAK}},
        [COMMUNICATORS] = {.what = {.class = CLASS_RESOURCE_LEAK, .reason = REASON_COMMUNICATOR}},
        [MEMORY] = {.what = {.class = CLASS_RESOURCE_LEAK, .reason = REASON_MEMORY}}};
    for (int kind = THINGS; kind < KINDS; kind++) { /* what a layer on top of this one has made */
        int reason = things[kind - THINGS];
        bool request = reason == REASON_REQUEST, persistent = reason == REASON_PERSISTENT;
        left[kind].what.class = request || persistent ? CLASS_REQUEST_LEAK : CLASS_RESOURCE_LEAK;
        left[kind].what.reason = request ? REASON_NONE : reason;
    }
    for (int kind = 0; kind < KINDS; kind++) {
        p2p__set_add(&left[kind].what.ranks, engine->rank);
        p2p__finding_add(&left[kind], ROLE_CALL, engine->rank, &engine->row->call);
    }
    add_messages(&left[MESSAGES], engine);
    p2p_finding *f = &left[REQUESTS];
    bool pending = false; /* there are others than receives that were cancelled */
    for (p2p_request at = engine->requests; at; at = at->all_next) {
        if (is_inner(engine, at)) continue;
        const scoreboard_call posted = p2p__call_of(at);
        pending = pending || at->status.source != P2P_CANCELLED;
        f->what.count++;
        if (f->count < SCOREBOARD_PLACES) p2p__finding_add(f, ROLE_PENDING, engine->rank, &posted);
    }
    for (const p2p_comm *at = engine->comms; at; at = at->next)
        if (at->context && !at->library) add_made(&left[COMMUNICATORS], engine->rank, "", at->file, at->line, 0);
    for (const p2p_block *at = engine->blocks; at; at = at->next)
        add_made(&left[MEMORY], engine->rank, "p2p_alloc", at->file, at->line, at->asked);
    for (const p2p_layer_thing *at = engine->things; at; at = at->next)
        for (int kind = THINGS; kind < KINDS; kind++)
            if (strcmp(at->what, p2p__reason_name(things[kind - THINGS])) == 0)
                add_made(&left[kind], engine->rank, at->name, at->file, at->line, 0);

    p2p_words w = {.used = 0};
    const char *advice = NULL; /* for the first kind */
    bool note = engine->notes_leaks;
    for (int kind = 0; kind < KINDS; kind++) {
        const char *remedy = left[kind].what.count ? p2p__words_left(&w, &left[kind]) : NULL;
        if (!advice) advice = remedy;
        bool harmless = left[kind].what.class == CLASS_RESOURCE_LEAK || (kind == REQUESTS && !pending);
        note = note && (!left[kind].what.count || harmless);
    }
    if (w.used) p2p__fail(world, CAUSE_LEFT(advice), w.text);
    for (int kind = 0; kind < KINDS; kind++) {
        left[kind].what.note = note;
        if (left[kind].what.count)
            p2p__draft(engine, &left[kind]);
        else
            p2p__finding_free(&left[kind]);
    }
    if (w.used && note) p2p__note(world);
    return w.used && !note ? P2P_ERR_LEAK : P2P_OK;
}

p2p_err p2p__timeout_error(p2p_comm *comm, const scoreboard_wait *wait)
{
    p2p_engine *engine = comm->engine;
    p2p_rank_set all = wait->need;
    p2p_words w = {.used = 0};
    p2p_finding f = {.what = {.class = CLASS_TIMEOUT, .reason = REASON_CALL}};
    f.what.seconds = (double)engine->config.timeout_ns * 1e-9;
    engine->timed_out = true;
    for (int i = 0; i < wait->any_count; i++) p2p__set_join(&all, &wait->any[i], engine->size);
    p2p__finding_add(&f, ROLE_CALL, engine->rank, &engine->row->call);
    for (int i = 0; i < engine->size; i++) {
        const scoreboard_row *row = &engine->scoreboard->rows[i];
        if (!p2p__set_has(&all, i)) continue;
        const scoreboard_call call = p2p__call_copy(&row->call);
        p2p_place *place = p2p__finding_add(&f, ROLE_DOING, i, &call);
        place->state = atomic_load(&row->state);
        place->process = p2p__process_of(engine->scoreboard, i);
        if (place->process != 'T' && place->process != 't') continue;
        f.what.class = CLASS_STOPPED; /* it can do nothing: then it is to blame */
        p2p__set_add(&f.what.ranks, i);
    }
    if (f.what.class == CLASS_TIMEOUT) p2p__set_add(&f.what.ranks, engine->rank);
    p2p__finding_hosts(engine->scoreboard, &f);
    p2p__words_timeout(&w, &f);
    p2p__fail(comm, CAUSE_TIMEOUT, w.text);
    p2p__draft(engine, &f);
    return P2P_ERR_TIMEOUT;
}
