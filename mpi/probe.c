/* SPDX-License-Identifier: MIT */
/* Probes: looking at a message, or taking it out of the queue for one receive. */
#include <stdlib.h>

#include "mpi/internal.h"

typedef struct taken {
    mpi__object object;
    mpi__comm *comm; /* held, for the program may free it before the message is received */
    p2p_message message;
    p2p_status status;
    struct taken *next, **link; /* in a list of all */
    const char *name, *file;
    int line;
} taken;

static taken *all_taken;

static void unlist(taken *t)
{
    *t->link = t->next;
    if (t->next) t->next->link = t->link;
}

int mpi__messages_left(void)
{
    const taken *t = all_taken;
    if (!t) return MPI_SUCCESS;
    int code = mpi__mistake(mpi__world, MPI_ERR_PENDING, "lost_message",
                            "a message from rank %d with tag %d (%zu bytes), which %s took on line %d, was never "
                            "received" MPI__TRY "MPI_Mrecv for each message that MPI_Mprobe has taken",
                            t->status.source, t->status.tag, t->status.bytes, t->name, t->line);
    p2p_layer_other_line(mpi__world->p2p, t->name, t->file, t->line);
    return code;
}

static int begin_probe(const char *name, int source, int tag, MPI_Comm comm, mpi__comm **c)
{
    const p2p_layer_call call = {
        .name = name, .shape = P2P_CALL_RECV, .peer = mpi__source(source), .tag = mpi__tag(tag)};
    int code = mpi__begin(c, comm, &call);
    if (code) return code;
    code = mpi__check_peer(*c, source, tag, true);
    return code ? mpi__end(*c, code) : MPI_SUCCESS;
}

static int probe(const char *name, int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                 MPI_Status *status)
{
    mpi__comm *c;
    p2p_status got;
    bool found = true;
    p2p_message m = NULL;
    int code = begin_probe(name, source, tag, comm, &c);
    if (code) return code;
    if (source == MPI_PROC_NULL) {
        if (flag) *flag = true;
        if (message) *message = MPI_MESSAGE_NO_PROC;
        mpi__empty_status(status, MPI_PROC_NULL);
        return mpi__end(c, MPI_SUCCESS);
    }
    int from = mpi__source(source), with = mpi__tag(tag);
    p2p_err err = message && flag ? p2p_itake(c->p2p, from, with, &found, &m, &got)
                  : message       ? p2p_take(c->p2p, from, with, &m, &got)
                  : flag          ? p2p_iprobe(c->p2p, from, with, &found, &got)
                                  : p2p_probe(c->p2p, from, with, &got);
    if (err) return mpi__end(c, mpi__p2p(c, err));
    if (flag) *flag = found;
    if (message) *message = MPI_MESSAGE_NULL;
    if (found && message) {
        taken *t = mpi__object_new(MPI__MESSAGE, sizeof *t);
        if (!t) return mpi__end(c, mpi__no_memory(c));
        mpi__comm_keep(t->comm = c);
        t->message = m;
        t->status = got;
        t->name = name;
        p2p_layer_line(c->p2p, &t->file, &t->line);
        t->next = all_taken;
        t->link = &all_taken;
        if (all_taken) all_taken->link = &t->next;
        all_taken = t;
        *message = (MPI_Message)(void *)t;
    }
    if (found && source == MPI_ANY_SOURCE) mpi__race_adapts(c, got.source);
    if (found) mpi__set_status(status, &got);
    return mpi__end(c, MPI_SUCCESS);
}

API(Probe)(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return probe("MPI_Probe", source, tag, comm, NULL, NULL, status);
}

API(Iprobe)(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    if (!flag) return mpi__place_ever("MPI_Iprobe", NULL, "flag");
    return probe("MPI_Iprobe", source, tag, comm, flag, NULL, status);
}

API(Mprobe)(int source, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status)
{
    if (!message) return mpi__place_ever("MPI_Mprobe", NULL, "message");
    return probe("MPI_Mprobe", source, tag, comm, NULL, message, status);
}

API(Improbe)(int source, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status)
{
    if (!flag || !message) return mpi__place_ever("MPI_Improbe", NULL, flag ? "message" : "flag");
    return probe("MPI_Improbe", source, tag, comm, flag, message, status);
}

/* The message, taken out of *handle; NULL, and *code, if there is none. MPI_MESSAGE_NO_PROC is not asked for here. */
static int begin_taken(const char *name, void *buf, int count, MPI_Datatype datatype, MPI_Message *handle, taken *out,
                       mpi__comm **c, mpi__type **type)
{
    bool freed = false;
    taken *t = *handle == MPI_MESSAGE_NULL || *handle == MPI_MESSAGE_NO_PROC
                   ? NULL
                   : mpi__object_of(MPI__MESSAGE, *handle, &freed);
    const p2p_layer_call call = {.name = name};
    int code = t ? mpi__begin_on(*c = t->comm, &call) : mpi__begin(c, MPI_COMM_WORLD, &call);
    if (code) return code;
    if (!t && *handle != MPI_MESSAGE_NO_PROC)
        code = mpi__wrong(*c, MPI_ERR_REQUEST, P2P_ARGUMENT_OTHER, "%s",
                          freed ? "this message has been received already" : "this is no message of MPI_Mprobe");
    if (!code) code = mpi__check_data(*c, buf, count, datatype, type);
    if (code) return mpi__end(*c, code);
    if (!t) return MPI_SUCCESS;
    p2p_layer_expect_kind((*c)->p2p, (*type)->signature->kind);
    *out = *t;
    unlist(t);
    mpi__object_free(t);
    mpi__comm_drop(*c); /* which the call that has begun may still use: it is buried later */
    *handle = MPI_MESSAGE_NULL;
    return MPI_SUCCESS;
}

API(Mrecv)(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    mpi__comm *c;
    mpi__type *type;
    mpi__piece piece;
    p2p_status got;
    taken t = {.message = NULL};
    int code = begin_taken("MPI_Mrecv", buf, count, datatype, message, &t, &c, &type);
    if (code) return code;
    if (!t.message) {
        *message = MPI_MESSAGE_NULL;
        mpi__empty_status(status, MPI_PROC_NULL);
        return mpi__end(c, MPI_SUCCESS);
    }
    code = mpi__piece_in(c, type, buf, (size_t)count, &piece);
    if (code) return mpi__end(c, code);
    p2p_err err = p2p_recv_taken(c->p2p, piece.at, piece.bytes, &t.message, &got);
    mpi__piece_in_done(type, buf, &piece, err ? 0 : got.bytes);
    if (err) return mpi__end(c, mpi__p2p(c, err));
    mpi__set_status(status, &got);
    return mpi__end(c, mpi__check_received(c, type, &got, p2p_layer_kind(c->p2p)));
}

API(Imrecv)(void *buf, int count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    mpi__comm *c;
    mpi__type *type;
    taken t = {.message = NULL};
    int code = begin_taken("MPI_Imrecv", buf, count, datatype, message, &t, &c, &type);
    if (code) return code;
    mpi__request *r = mpi__request_new(c);
    if (!r) return mpi__end(c, mpi__no_memory(c));
    r->receives = r->active = true;
    r->type = type;
    mpi__type_keep(type);
    r->buf = buf;
    r->count = (size_t)count;
    r->peer = t.message ? t.status.source : MPI_PROC_NULL;
    if (t.message) code = mpi__piece_in(c, type, buf, r->count, &r->piece);
    if (!code && t.message)
        code = mpi__p2p(c, p2p_irecv_taken(c->p2p, r->piece.at, r->piece.bytes, &t.message, &r->p2p));
    *message = MPI_MESSAGE_NULL;
    if (code)
        mpi__request_free(r);
    else
        *request = (MPI_Request)(void *)r;
    return mpi__end(c, code);
}
