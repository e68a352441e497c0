/* SPDX-License-Identifier: MIT */
/* How every MPI call begins and ends, and what is wrong with its arguments. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"
#include "mpi/lines.h"

#define TOO_EARLY "called before MPI_Init: MPI_Init(&argc, &argv) comes first"

/* ---- Begin and end ---- */

int mpi__check_state(const char *name)
{
    if (mpi__state != MPI__BEFORE) return MPI_SUCCESS;
    p2p_layer_too_early(name, TOO_EARLY);
    fflush(stdout);
    _Exit(1);
}

int mpi__begin_on(mpi__comm *c, const p2p_layer_call *call)
{
    mpi__stores = NULL;
    mpi__note_line();
    p2p_err err = p2p_layer_call_begin(c->p2p, call);
    return err ? mpi__ended(c, err) : MPI_SUCCESS;
}

int mpi__begin(mpi__comm **comm, MPI_Comm handle, const p2p_layer_call *call)
{
    bool freed = false;
    mpi__note_line();
    mpi__check_state(call->name);
    *comm = mpi__comm_of(handle);
    if (*comm) return mpi__begin_on(*comm, call);
    const p2p_layer_call plain = {.name = call->name};
    p2p_err err = p2p_layer_call_begin(mpi__world->p2p, &plain);
    if (err) return mpi__ended(mpi__world, err);
    bool begun = mpi__object_of(MPI__COMM, handle, &freed);
    return mpi__end(mpi__world, mpi__wrong(mpi__world, MPI_ERR_COMM, P2P_ARGUMENT_COMMUNICATOR, "%s",
                                           handle == MPI_COMM_NULL ? "the communicator is MPI_COMM_NULL"
                                           : freed                 ? "the communicator has been freed"
                                           : begun ? "the communicator is a copy that is not finished yet" MPI__TRY
                                                     "MPI_Wait for the request of MPI_Comm_idup first"
                                                   : "this is no communicator: was it ever set?"));
}

int mpi__begin_local(mpi__comm **comm, const char *name)
{
    return mpi__begin(comm, MPI_COMM_WORLD, &(p2p_layer_call){.name = name});
}

static const char *ever; /* the call that has begun outside of MPI_Init and MPI_Finalize */

int mpi__begin_ever(mpi__comm **comm, const char *name)
{
    if (mpi__state == MPI__RUNNING) return mpi__begin_local(comm, name);
    mpi__note_line();
    *comm = NULL;
    ever = name;
    return MPI_SUCCESS;
}

_Noreturn static void end_process(const char *cause)
{
    p2p_layer_too_early(ever, cause);
    fflush(stdout);
    _Exit(1);
}

/* What it makes of its copies of the handle and the code is its own affair. */
static int tell_handler(mpi__comm *c, int code)
{
    bool freed;
    int shown = code;
    MPI_Comm handle = c->handle;
    mpi__keep_text(code, p2p_error_message(c->p2p));
    const mpi__handler *h = mpi__object_of(MPI__HANDLER, c->handler, &freed);
    if (h) h->function(&handle, &shown);
    return code;
}

void mpi__close(mpi__comm *c, int code)
{
    static const p2p_err as[] = {P2P_OK, P2P_ERR_ARG};
    if (!c) return;
    p2p_layer_call_end(c->p2p, code ? (c->code ? (p2p_err)c->code : as[1]) : P2P_OK);
    c->code = 0;
    if (code) tell_handler(c, code);
}

int mpi__end_as(mpi__comm *c, mpi__comm *own, const char *name, int code)
{
    const char *file;
    int line;
    const int cause = own->code;
    if (!code || own == c) return mpi__end(c, code);
    p2p_layer_same_cause(c->p2p, own->p2p);
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    int begun = mpi__begin_on(own, &(p2p_layer_call){.name = name});
    if (begun) return begun;
    p2p_layer_same_cause(own->p2p, c->p2p);
    own->code = cause;
    return mpi__end(own, code);
}

int mpi__failed(mpi__comm *c, p2p_err err)
{
    return tell_handler(c, mpi__code_of(err));
}

/* ---- Errors ---- */

/* The sentence, and what to try, which may follow it after TRY: p2p keeps the two apart. */
static p2p_err fail(mpi__comm *c, const char *class, p2p_argument argument, const char *format, va_list args)
{
    static char advice[200];
    char text[600];
    vsnprintf(text, sizeof text, format, args);
    char *try = strstr(text, MPI__TRY);
    if (try) {
        snprintf(advice, sizeof advice, "%s", try + strlen(MPI__TRY));
        *try = '\0';
    }
    if (!c) end_process(text);
    p2p_layer_advise(c->p2p, try ? advice : NULL);
    return p2p_layer_fail(c->p2p, P2P_ERR_ARG, class, argument, "%s", text);
}

void mpi__say_wrong(mpi__comm *c, p2p_argument argument, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p2p_err err = fail(c, "invalid_argument", argument, format, args);
    va_end(args);
    c->code = err;
}

void mpi__say_mistake(mpi__comm *c, const char *class, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    p2p_err err = fail(c, class, P2P_ARGUMENT_NONE, format, args);
    va_end(args);
    c->code = err;
}

void mpi__say_no_memory(mpi__comm *c)
{
    if (!c) end_process("no memory");
    c->code = p2p_layer_fail(c->p2p, P2P_ERR_NOMEM, "refused", P2P_ARGUMENT_NONE, "no memory");
}

int mpi__code_of(p2p_err err)
{
    switch (err) {
    case P2P_OK: return MPI_SUCCESS;
    case P2P_ERR_ARG: return MPI_ERR_ARG;
    case P2P_ERR_RANK: return MPI_ERR_RANK;
    case P2P_ERR_TRUNCATE: return MPI_ERR_TRUNCATE;
    case P2P_ERR_NOMEM: return MPI_ERR_NO_MEM;
    case P2P_ERR_PEER_DEAD: return MPI_ERR_PROC_ABORTED;
    default: return MPI_ERR_OTHER;
    }
}

int mpi__p2p(mpi__comm *c, p2p_err err)
{
    c->code = (int)err;
    return mpi__code_of(err);
}

/* ---- Arguments ---- */

int mpi__check_type(mpi__comm *c, MPI_Datatype handle, mpi__type **type)
{
    bool freed = false;
    *type = mpi__type_quick(handle);
    if (*type) return MPI_SUCCESS;
    const mpi__type *kept = mpi__object_of(MPI__TYPE, handle, &freed);
    freed = freed || kept;
    return mpi__wrong(c, MPI_ERR_TYPE, P2P_ARGUMENT_TYPE, "%s",
                      handle == MPI_DATATYPE_NULL ? "the type is MPI_DATATYPE_NULL"
                      : freed                     ? "the type has been freed"
                                                  : "this is no type: was it ever set?");
}

int mpi__check_data(mpi__comm *c, const void *buf, MPI_Count count, MPI_Datatype handle, mpi__type **type)
{
    if (count < 0)
        return mpi__wrong(c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %lld is negative", (long long)count);
    int code = mpi__check_type(c, handle, type);
    if (code) return code;
    if (!(*type)->committed)
        return mpi__wrong(c, MPI_ERR_TYPE, P2P_ARGUMENT_TYPE,
                          "the type has not been committed" MPI__TRY "MPI_Type_commit(&type) before its first use");
    /* MPI_BOTTOM is NULL too: it goes with types that hold addresses. */
    bool absolute = (*type)->true_lb > 4096;
    if (!buf && count && (*type)->size && !absolute)
        return mpi__wrong(c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER, "the buffer is NULL, but its count is %lld",
                          (long long)count);
    if (buf == MPI_IN_PLACE)
        return mpi__wrong(c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER, "MPI_IN_PLACE cannot stand here");
    return MPI_SUCCESS;
}

int mpi__check_peer(mpi__comm *c, int peer, int tag, bool receives)
{
    if (!(tag == MPI_ANY_TAG && receives) && tag < 0)
        return mpi__wrong(c, MPI_ERR_TAG, P2P_ARGUMENT_TAG, "tag %d is negative" MPI__TRY "tags are 0 to %d%s", tag,
                          INT_MAX, tag == MPI_ANY_TAG ? "; MPI_ANY_TAG is for receives" : "");
    if (peer == MPI_PROC_NULL || (peer == MPI_ANY_SOURCE && receives)) return MPI_SUCCESS;
    if (peer < 0 || peer >= c->size)
        return mpi__wrong(c, MPI_ERR_RANK, P2P_ARGUMENT_RANK,
                          "%s %d is not a rank: not in [0,%d)" MPI__TRY "ranks of this communicator are 0 to %d",
                          receives ? "source" : "dest", peer, c->size, c->size - 1);
    return MPI_SUCCESS;
}

int mpi__check_pointer(mpi__comm *c, const void *pointer, const char *what)
{
    if (pointer) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "there is nowhere to put the answer: %s is NULL", what);
}

int mpi__place(mpi__comm *c, const void *place, const char *what)
{
    int code = mpi__check_pointer(c, place, what);
    return code ? mpi__end(c, code) : MPI_SUCCESS;
}

int mpi__place_ever(const char *name, const void *place, const char *what)
{
    mpi__comm *c;
    if (place) return MPI_SUCCESS;
    if (mpi__state == MPI__BEFORE) return MPI_ERR_ARG;
    int code = mpi__begin_local(&c, name);
    return code ? code : mpi__place(c, place, what);
}
