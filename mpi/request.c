/* SPDX-License-Identifier: MIT */
/* Requests: beginning operations, what is left when they have ended, persistent ones. wait.c waits for them. */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"
#include "mpi/lines.h"

mpi__request *mpi__request_new(mpi__comm *c)
{
    mpi__request *r = mpi__object_new(MPI__REQUEST, sizeof *r);
    if (!r) return NULL;
    r->comm = c;
    mpi__comm_keep(c);
    p2p_layer_line(c->p2p, &r->file, &r->line);
    return r;
}

mpi__request *mpi__request_of(MPI_Request handle, bool *freed)
{
    return mpi__object_of(MPI__REQUEST, handle, freed);
}

void mpi__request_free(mpi__request *r)
{
    mpi__comm *c = r->comm;
    mpi__region_close(&r->region);
    free(r->piece.owned);
    if (r->type) mpi__type_drop(r->type);
    mpi__plan_free(r->plan);
    mpi__object_free(r);
    mpi__comm_drop(c);
}

/* ---- Beginning ---- */

typedef struct {
    mpi__envelope message;
    bool receives, persistent;
    enum mpi__mode mode;
} operation;

static int post(mpi__comm *c, mpi__request *r)
{
    if (r->receives) {
        int code = mpi__piece_in(c, r->type, r->buf, r->count, &r->piece);
        if (code) return code;
        return mpi__p2p(
            c, p2p_irecv(c->p2p, r->piece.at, r->piece.bytes, mpi__source(r->peer), mpi__tag(r->tag), &r->p2p));
    }
    int code = mpi__piece_out(c, r->type, r->buf, r->count, &r->piece);
    if (!code && r->mode == MPI__COPIED && !r->piece.owned && r->piece.bytes) {
        r->piece.owned = malloc(r->piece.bytes);
        if (!r->piece.owned) return mpi__no_memory(c);
        p2p_layer_copy(r->piece.owned, r->piece.at, r->piece.bytes);
        r->piece.at = r->piece.owned;
    }
    if (code) return code;
    if (r->mode == MPI__BUFFERED) {
        code = mpi__bsend(c, &r->piece, r->peer, r->tag, r->type->signature->kind);
        r->piece.owned = NULL;
        return code;
    }
    return mpi__p2p(c, r->mode == MPI__SYNCHRONOUS
                           ? p2p_issend(c->p2p, r->piece.at, r->piece.bytes, r->peer, r->tag, &r->p2p)
                           : p2p_isend(c->p2p, r->piece.at, r->piece.bytes, r->peer, r->tag, &r->p2p));
}

static void is_under_way(mpi__comm *c, mpi__request *r)
{
    r->active = r->started = true;
    p2p_layer_line(c->p2p, &r->file, &r->line);
    if (r->peer == MPI_PROC_NULL) return;
    r->region = (mpi__region){.type = r->type, .buf = r->buf, .count = r->count, .received = r->receives};
    mpi__region_open(&r->region, r);
}

static int start(mpi__comm *c, mpi__request *r)
{
    r->cancelled = false;
    if (r->persistent && r->receives) r->posted = ++mpi__receives;
    if (!r->receives) mpi__acts();
    int code = r->peer == MPI_PROC_NULL ? MPI_SUCCESS : post(c, r);
    if (!code) is_under_way(c, r);
    return code;
}

static mpi__request *make(const operation *o, mpi__comm *c, mpi__type *type)
{
    mpi__request *r = mpi__request_new(c);
    if (!r) return NULL;
    r->type = type;
    mpi__type_keep(type);
    r->buf = (void *)(uintptr_t)o->message.buf;
    r->count = (size_t)o->message.count;
    r->peer = o->message.peer;
    r->tag = o->message.tag;
    r->receives = o->receives;
    r->mode = o->mode;
    r->persistent = o->persistent;
    r->name = o->message.name;
    if (!r->receives) mpi__acts();
    r->posted = r->receives ? ++mpi__receives : 0;
    return r;
}

/* No operation has the buffer. */
static bool is_free(const operation *o, mpi__comm *c, const mpi__type *type)
{
    const void *data = mpi__data(type, o->message.buf);
    return !p2p_layer_check_buffer(c->p2p, data, (size_t)o->message.count * type->size, o->receives);
}

static int begin(const operation *o, MPI_Request *request)
{
    mpi__comm *c;
    mpi__type *type;
    mpi__request *r;
    if (request && !o->persistent && o->mode < MPI__BUFFERED && mpi__is_plain(&o->message, o->receives, &c, &type) &&
        is_free(o, c, type) && (r = make(o, c, type))) {
        const p2p_layer_call call = mpi__call_of(&o->message, o->receives, type);
        if (!p2p_layer_line_is_noted()) mpi__note_line();
        p2p_err err = p2p_layer_begin_as(c->p2p, &call, mpi__data(type, r->buf), o->mode == MPI__SYNCHRONOUS, &r->p2p);
        if (err) {
            mpi__request_free(r);
            return mpi__ended(c, err);
        }
        is_under_way(c, r);
        *request = (MPI_Request)(void *)r;
        return MPI_SUCCESS;
    }
    int code = mpi__message_begin(&o->message, o->receives, &c, &type);
    if (code) return code;
    if (!request)
        code = mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "request is NULL: nothing could wait for this");
    if (code) return mpi__end(c, code);
    if (!o->persistent) mpi__stores = request;
    r = make(o, c, type);
    if (!r) return mpi__end(c, mpi__no_memory(c));
    if (!r->persistent) code = start(c, r);
    if (code)
        mpi__request_free(r);
    else
        *request = (MPI_Request)(void *)r;
    if (!code && !r->p2p) p2p_layer_made(c->p2p, r->persistent ? "persistent" : "request", &r->object.thing);
    return mpi__end(c, code);
}

#define SEND(NAME, MODE, PERSISTENT)                                                                                 \
    API(NAME)                                                                                                        \
    (const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)      \
    {                                                                                                                \
        return begin(&(operation){{"MPI_" #NAME, buf, count, datatype, dest, tag, comm, (MODE) == MPI__SYNCHRONOUS}, \
                                  false,                                                                             \
                                  PERSISTENT,                                                                        \
                                  MODE},                                                                             \
                     request);                                                                                       \
    }

SEND(Isend, MPI__STANDARD, false)
SEND(Issend, MPI__SYNCHRONOUS, false)
SEND(Irsend, MPI__READY, false)
SEND(Ibsend, MPI__BUFFERED, false)
SEND(Send_init, MPI__STANDARD, true)
SEND(Ssend_init, MPI__SYNCHRONOUS, true)
SEND(Rsend_init, MPI__READY, true)
SEND(Bsend_init, MPI__BUFFERED, true)

API(Irecv)(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return begin(
        &(operation){{"MPI_Irecv", buf, count, datatype, source, tag, comm, false}, true, false, MPI__STANDARD},
        request);
}

API(Recv_init)(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return begin(
        &(operation){{"MPI_Recv_init", buf, count, datatype, source, tag, comm, false}, true, true, MPI__STANDARD},
        request);
}

/* What is under way goes on without a handle, and is ended in MPI_Finalize. */
static struct {
    mpi__request **list;
    size_t count, room;
} orphans;

void mpi__orphans_reap(void)
{
    size_t left = 0;
    for (size_t i = 0; i < orphans.count; i++) {
        mpi__request *r = orphans.list[i];
        mpi__comm *c = r->comm;
        p2p_status got;
        bool done;
        p2p_err err = p2p_layer_done_status(&r->p2p, &done, &got);
        if (!done) {
            orphans.list[left++] = r;
            continue;
        }
        mpi__request_finish(r, err, &got, p2p_layer_kind(c->p2p), MPI_STATUS_IGNORE);
        c->code = 0; /* there is no call to return it */
        mpi__request_free(r);
    }
    orphans.count = left;
}

static int leave(mpi__comm *c, mpi__request *r)
{
    bool full = orphans.count == orphans.room;
    if (full) mpi__orphans_reap();
    if (full && orphans.count >= orphans.room / 2) { /* else there is room for as many again */
        size_t room = 2 * orphans.room + 8;
        mpi__request **more = realloc(orphans.list, room * sizeof *more);
        if (!more) return mpi__no_memory(c);
        orphans.list = more;
        orphans.room = room;
    }
    p2p_layer_unguard(r->p2p);
    mpi__region_close(&r->region);
    r->persistent = false;
    r->orphan = true;
    orphans.list[orphans.count++] = r;
    return MPI_SUCCESS;
}

/*
 * A send of a copy goes on without a request; the request is the receive's, which is done when both are, as far as the
 * program can see.
 */
static int isendrecv(const operation *out, const operation *in, MPI_Request *request)
{
    MPI_Request sent;
    bool freed;
    int line, code = begin(out, &sent);
    const char *file;
    if (code) return code;
    mpi__request *r = mpi__request_of(sent, &freed);
    mpi__comm *c = r->comm;
    p2p_layer_line(c->p2p, &file, &line);
    if (r->p2p)
        code = leave(c, r);
    else {
        p2p_layer_given_back(&r->object.thing);
        mpi__request_free(r);
    }
    if (code) return code;
    p2p__here(file, line);
    return begin(in, request);
}

API(Isendrecv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    static const char name[] = "MPI_Isendrecv";
    return isendrecv(
        &(operation){{name, sendbuf, sendcount, sendtype, dest, sendtag, comm, false}, false, false, MPI__COPIED},
        &(operation){{name, recvbuf, recvcount, recvtype, source, recvtag, comm, false}, true, false, MPI__STANDARD},
        request);
}

API(Isendrecv_replace)
(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
 MPI_Request *request)
{
    static const char name[] = "MPI_Isendrecv_replace";
    return isendrecv(
        &(operation){{name, buf, count, datatype, dest, sendtag, comm, false}, false, false, MPI__COPIED},
        &(operation){{name, buf, count, datatype, source, recvtag, comm, false}, true, false, MPI__STANDARD}, request);
}

/* ---- Ending ---- */

/* An operation of r has ended so: the rest of it, and its status. */
int mpi__request_finish(mpi__request *r, p2p_err err, const p2p_status *got, uint16_t kind, MPI_Status *status)
{
    mpi__comm *c = r->comm;
    int code = mpi__p2p(c, err);
    mpi__region_close(&r->region);
    if (r->receives && r->peer != MPI_PROC_NULL && r->type) {
        mpi__piece_in_done(r->type, r->buf, &r->piece, err ? 0 : got->bytes);
        if (!err) code = mpi__check_received(c, r->type, got, kind);
        bool looks = !err && !code && r->name && (mpi__races_open || r->peer == MPI_ANY_SOURCE) && got->source >= 0;
        if (looks && status == &r->kept)
            mpi__race_adapts(c, got->source);
        else if (looks)
            mpi__race_received(c,
                               &(mpi__receive){c, r->peer, r->tag, r->posted, r->name, r->file, r->line,
                                               r->count * r->type->size, r->type},
                               got, kind, status);
    }
    free(r->piece.owned);
    r->piece.owned = NULL;
    int left = r->finish ? r->finish(r, !err) : MPI_SUCCESS;
    if (!code) code = left;
    r->finish = NULL;
    if (r->receives && r->peer != MPI_PROC_NULL && !err)
        mpi__set_status(status, got);
    else
        mpi__empty_status(status, r->receives && r->peer == MPI_PROC_NULL ? MPI_PROC_NULL : MPI_ANY_SOURCE);
    if (status) status->MPI_internal[2] = r->cancelled && got->source == P2P_CANCELLED;
    r->p2p = NULL;
    r->active = false;
    return code;
}

/* What a handle in an array stands for: NULL for one that is not waited for (null, or persistent and not started). */
int mpi__request_look(mpi__comm *c, MPI_Request handle, mpi__request **r)
{
    bool freed = false;
    *r = NULL;
    if (handle == MPI_REQUEST_NULL) return MPI_SUCCESS;
    *r = mpi__request_of(handle, &freed);
    if (*r && (*r)->orphan) *r = NULL, freed = true;
    if (!*r && freed)
        return mpi__mistake(c, MPI_ERR_REQUEST, "request_state",
                            "the request has ended already, or been freed" MPI__TRY "wait for each request once");
    if (!*r) return mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "this is no request: was it ever set?");
    return MPI_SUCCESS;
}

mpi__comm *mpi__requests_comm(int count, const MPI_Request requests[])
{
    bool freed;
    mpi__comm *first = mpi__world;
    for (int i = 0; requests && i < count; i++) {
        const mpi__request *r = requests[i] == MPI_REQUEST_NULL ? NULL : mpi__request_of(requests[i], &freed);
        if (r && r->active) return r->comm;
        if (r && first == mpi__world) first = r->comm;
    }
    return first;
}

/* ---- Requests as such ---- */

static int begin_one(const char *name, MPI_Request *request, mpi__comm **c, mpi__request **r)
{
    mpi__check_state(name);
    mpi__comm *of = mpi__state == MPI__RUNNING ? mpi__requests_comm(request ? 1 : 0, request) : mpi__world;
    int code = mpi__begin_on(*c = of, &(p2p_layer_call){.name = name});
    if (code) return code;
    if (!request)
        code = mpi__wrong(*c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "request is NULL");
    else if (*request == MPI_REQUEST_NULL)
        code = mpi__wrong(*c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "the request is MPI_REQUEST_NULL");
    else
        code = mpi__request_look(*c, *request, r);
    return code ? mpi__end(*c, code) : MPI_SUCCESS;
}

API(Cancel)(MPI_Request *request)
{
    mpi__comm *c;
    mpi__request *r;
    int code = begin_one("MPI_Cancel", request, &c, &r);
    if (code) return code;
    if (r->collective)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "a collective cannot be cancelled"));
    r->cancelled = true;
    return mpi__end(c, r->receives && r->p2p ? mpi__p2p(c, p2p_cancel(&r->p2p)) : MPI_SUCCESS);
}

/* The standard lets it pass that one is waited for which is not started, before its first start as well; but if that never
 * comes, who has waited has meant to start it. */
static int check_started(mpi__comm *c, const mpi__request *r)
{
    if (!r->persistent || r->started || !r->awaited.line) return MPI_SUCCESS;
    int code = mpi__mistake(
        c, MPI_ERR_REQUEST, "request_state",
        "the request that %s made on line %d was waited for on line %d, and has never been started" MPI__TRY
        "MPI_Start before it is waited for",
        r->name, r->line, r->awaited.line);
    p2p_layer_other_line(c->p2p, r->name, r->file, r->line);
    return code;
}

API(Request_free)(MPI_Request *request)
{
    mpi__comm *c;
    mpi__request *r;
    int code = begin_one("MPI_Request_free", request, &c, &r);
    if (code) return code;
    *request = MPI_REQUEST_NULL;
    p2p_layer_given_back(&r->object.thing);
    if (r->collective && r->active)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST,
                                      "the request of a collective that is under way cannot be freed"));
    if (!r->p2p) {
        code = check_started(c, r);
        mpi__request_free(r);
        code = mpi__end(c, code);
        mpi__comms_bury(); /* a persistent collective has one of its own */
        return code;
    }
    return mpi__end(c, leave(c, r));
}

void mpi__orphans_end(void)
{
    for (size_t i = 0; i < orphans.count; i++) {
        mpi__request *r = orphans.list[i];
        p2p_status got;
        p2p_err err = p2p_wait(&r->p2p, &got);
        if (r->p2p) continue; /* it goes on (PAIRWISE_TIMEOUT), and uses its memory */
        mpi__request_finish(r, err, &got, p2p_layer_kind(r->comm->p2p), MPI_STATUS_IGNORE);
        mpi__request_free(r);
    }
    free(orphans.list);
    orphans.list = NULL;
    orphans.count = orphans.room = 0;
}

/* ---- Persistent ones ---- */

static int start_one(mpi__comm *c, MPI_Request *request)
{
    mpi__request *r;
    if (*request == MPI_REQUEST_NULL)
        return mpi__wrong(c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "the request is MPI_REQUEST_NULL");
    int code = mpi__request_look(c, *request, &r);
    if (code) return code;
    if (!r->persistent)
        return mpi__mistake(c, MPI_ERR_REQUEST, "request_state",
                            "this request is not persistent: it was started when it was made (%s, line %d)",
                            r->name ? r->name : "", r->line);
    if (r->active) {
        code = mpi__mistake(c, MPI_ERR_REQUEST, "request_state",
                            "this request has been started already, on line %d" MPI__TRY
                            "MPI_Wait before it is started again",
                            r->line);
        p2p_layer_other_line(c->p2p, "MPI_Start", r->file, r->line);
        return code;
    }
    if (r->comm != c) return MPI_SUCCESS;
    code = start(c, r);
    if (code) r->active = false;
    return code;
}

static int start_call(const char *name, MPI_Request *request)
{
    mpi__comm *c;
    bool freed;
    mpi__check_state(name);
    const mpi__request *r = mpi__state == MPI__RUNNING && *request != MPI_REQUEST_NULL
                                ? mpi__request_of(*request, &freed)
                                : NULL;
    p2p_layer_call call = {.name = name};
    if (r && r->type) {
        call.kind = r->type->signature->kind | (r->mode == MPI__SYNCHRONOUS ? MPI__SENT_SYNCHRONOUSLY : 0);
        call.guards = mpi__is_one_piece(r->type, r->count);
        call.shape = r->receives ? P2P_CALL_RECV : P2P_CALL_SEND;
        call.peer = r->receives ? mpi__source(r->peer) : r->peer;
        call.tag = mpi__tag(r->tag);
        call.bytes = r->count * r->type->size;
    }
    int code = mpi__begin_on(c = r ? r->comm : mpi__world, &call);
    if (code || !r || !r->plan || r->active) return code ? code : mpi__end(c, start_one(c, request));
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    mpi__end(c, MPI_SUCCESS);
    p2p__here(file, line);
    return mpi__plan_start((mpi__request *)(uintptr_t)r);
}

API(Start)(MPI_Request *request)
{
    return start_call("MPI_Start", request);
}

API(Startall)(int count, MPI_Request requests[])
{
    const char *file = NULL;
    int line = 0;
    for (int i = 0; i < count; i++) {
        int code = start_call("MPI_Startall", &requests[i]);
        if (code) return code;
        p2p_layer_line(mpi__world->p2p, &file, &line);
        p2p__here(file, line);
    }
    return MPI_SUCCESS;
}
