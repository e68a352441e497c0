/* SPDX-License-Identifier: MIT */
/* What libraries on top of this one need to speak under names of their own (p2p_layer.h). */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "p2p/group/internal.h"

_Static_assert((int)P2P_CALL_PLAIN == SHAPE_PLAIN && (int)P2P_CALL_SEND == SHAPE_SEND &&
                   (int)P2P_CALL_RECV == SHAPE_RECV && (int)P2P_CALL_SENDRECV == SHAPE_SENDRECV &&
                   (int)P2P_CALL_WAIT == SHAPE_WAIT,
               "shapes are the same");

p2p_err p2p_layer_call_begin(p2p_comm *comm, const p2p_layer_call *call)
{
    const char *file = NULL;
    int line = 0;
    bool inner = comm->engine && comm->engine->depth; /* from a function of the program's, inside of another call */
    if (inner) {
        p2p__take_line(&file, &line);
        p2p__here(file, line);
    }
    p2p_err err = p2p__enter(comm, call);
    if (err) return err;
    p2p_engine *engine = comm->engine;
    if (inner) {
        engine->inner.call = *call;
        engine->inner.file = file;
        engine->inner.line = line;
        return P2P_OK;
    }
    engine->kind = engine->kind_expected = call->kind;
    engine->guards = call->guards;
    return P2P_OK;
}

p2p_err p2p_layer_call_end(p2p_comm *comm, p2p_err err)
{
    p2p_engine *engine = comm->engine;
    if (engine->depth == 1) {
        if (engine->fresh) p2p__sum_fresh(engine);
        engine->kind = engine->kind_expected = 0;
        engine->guards = false;
        engine->kinds = NULL;
        engine->errors = NULL;
    } else if (err) {
        p2p__leave_inner(comm, err);
    }
    return p2p__leave(comm, err);
}

p2p_err p2p_layer_check_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes)
{
    return comm->engine->requests ? p2p__check_buffer(comm, buf, bytes, writes) : P2P_OK;
}

void p2p_layer_unguard(p2p_request request)
{
    request->guarded = false;
    p2p__sum_fresh(request->comm->engine);
    request->sum = 0;
}

uint16_t p2p_layer_kind(const p2p_comm *comm)
{
    return comm->engine->kind_got;
}

bool p2p_layer_is_inside(const p2p_comm *comm)
{
    return comm->engine && comm->engine->depth;
}

const char *p2p_layer_kind_differs(const p2p_comm *comm)
{
    const p2p_engine *engine = comm->engine;
    if (!engine->kind || !engine->kind_got || engine->kind == engine->kind_got) return NULL;
    return engine->kinds_differ ? engine->kinds_differ(engine->kind, engine->kind_got) : "";
}

uint16_t p2p_layer_send_kind(p2p_comm *comm, uint16_t kind)
{
    uint16_t before = comm->engine->kind;
    comm->engine->kind = kind;
    return before;
}

void p2p_layer_expect_kind(p2p_comm *comm, uint16_t kind)
{
    comm->engine->kind_expected = kind;
}

const uint16_t *p2p_layer_block_kinds(const p2p_comm *comm)
{
    return comm->engine->block_kinds;
}

void p2p_layer_compare_kinds(p2p_comm *comm, const char *(*differ)(uint16_t expected, uint16_t came))
{
    comm->engine->kinds_differ = differ;
}

void p2p_layer_kinds(p2p_comm *comm, uint16_t kinds[])
{
    comm->engine->kinds = kinds;
}

void p2p_layer_errors(p2p_comm *comm, p2p_err errors[])
{
    comm->engine->errors = errors;
}

p2p_err p2p_layer_too_early(const char *name, const char *cause)
{
    char text[300];
    scoreboard_call shown = {.shape = SHAPE_PLAIN};
    const char *file;
    p2p__take_line(&file, &shown.line);
    p2p__copy_text(shown.name, sizeof shown.name, name);
    p2p__copy_text(shown.file, sizeof shown.file, file);
    if (file)
        snprintf(text, sizeof text, "%s at %.150s:%d: %s", name, file, shown.line, cause);
    else
        snprintf(text, sizeof text, "%s: %s", name, cause);
    fprintf(stderr, "pairwise: %s\n", text);
    p2p__tell_early(&shown, text);
    return P2P_ERR_STATE;
}

static int class_named(const char *name)
{
    int found = CLASS_COUNT - 1;
    while (found > CLASS_NONE && strcmp(p2p__class_name(found), name) != 0) found--;
    return found;
}

p2p_err p2p_layer_fail(p2p_comm *comm, p2p_err err, const char *class_name, p2p_argument argument, const char *format,
                       ...)
{
    char cause[sizeof comm->blame.cause];
    const char *advice = comm->advice;
    comm->advice = NULL;
    va_list args;
    va_start(args, format);
    vsnprintf(cause, sizeof cause, format, args);
    va_end(args);
    return p2p__fail(comm, err, class_named(class_name), (int)argument, advice, "%s", cause);
}

void p2p_layer_other_message(p2p_comm *comm, const p2p_status *message)
{
    if (message->source >= 0 && message->source < comm->size) p2p__blame_message(comm, message);
}

void p2p_layer_other_line(p2p_comm *comm, const char *name, const char *file, int line)
{
    p2p_place place = {.role = ROLE_OTHER, .rank = comm->engine->rank, .call = {.shape = SHAPE_PLAIN, .line = line}};
    p2p__copy_text(place.call.name, sizeof place.call.name, name);
    p2p__copy_text(place.call.file, sizeof place.call.file, file);
    comm->blame.other = place;
}

bool p2p_layer_orders(const p2p_comm *comm)
{
    return comm && comm->engine && comm->engine->choices;
}

void p2p_layer_same_cause(p2p_comm *comm, const p2p_comm *as)
{
    comm->blame = as->blame;
}

void p2p_layer_alias(p2p_comm *comm, const p2p_fingerprint *as)
{
    comm->alias = as;
}

void p2p_layer_made(p2p_comm *comm, const char *what, p2p_layer_thing *thing)
{
    p2p_engine *engine = comm->engine;
    *thing = (p2p_layer_thing){engine->things, &engine->things, what, engine->call_name, NULL, 0};
    p2p_layer_line(comm, &thing->file, &thing->line);
    if (engine->things) engine->things->link = &thing->next;
    engine->things = thing;
}

void p2p_layer_given_back(p2p_layer_thing *thing)
{
    if (!thing->link) return;
    *thing->link = thing->next;
    if (thing->next) thing->next->link = thing->link;
    thing->link = NULL;
}

void p2p_layer_line(const p2p_comm *comm, const char **file, int *line)
{
    *file = comm->engine->call_file;
    *line = comm->engine->call_line;
}

void p2p_layer_leaks_are_notes(p2p_comm *comm, bool always)
{
    comm->engine->notes_leaks = always || !comm->engine->config.strict || comm->engine->choices;
}

void p2p_layer_freed(p2p_comm *comm)
{
    comm->library = true;
}

int p2p_layer_world_rank(const p2p_comm *comm, int rank)
{
    return comm->world_rank[rank];
}

/* The world's index, in a turn that is never given out: no other rank hears of it. */
p2p_err p2p_layer_self(p2p_comm *comm, p2p_comm **self)
{
    p2p_engine *engine = comm->engine;
    p2p_comm *made = p2p__comm_new(engine, 2 * SCOREBOARD_CONTEXTS, 0, 1, &engine->rank);
    if (!made) return p2p__fail(comm, CAUSE_NO_COMMUNICATOR, 1);
    made->errors = comm->errors;
    made->library = true;
    *self = made;
    return P2P_OK;
}
