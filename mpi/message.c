/* SPDX-License-Identifier: MIT */
/* Messages, blocking; probes; what a status says. */
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"
#include "mpi/lines.h"

/* Is what came what was asked for? */
bool mpi__is_expected(const mpi__type *type, const p2p_status *got, uint16_t kind)
{
    kind &= (uint16_t)~MPI__SENT_SYNCHRONOUSLY;
    if (!kind || kind == type->signature->kind || !got->bytes || got->source == P2P_CANCELLED || !type->signature->kind)
        return true;
    uint16_t expected = mpi__expected_kind(type, got->bytes);
    return !expected || mpi__same_kind(expected, kind);
}

int mpi__check_received(mpi__comm *c, const mpi__type *type, const p2p_status *got, uint16_t kind)
{
    if (mpi__is_expected(type, got, kind)) return MPI_SUCCESS;
    int code = mpi__mistake(c, MPI_ERR_TYPE, "type_mismatch",
                            "a message of %s (%zu bytes) from rank %d with tag %d was received as %s" MPI__TRY
                            "the same type on both sides",
                            mpi__kind_name(kind & (uint16_t)~MPI__SENT_SYNCHRONOUSLY), got->bytes, got->source,
                            got->tag, type->signature->name);
    p2p_layer_other_message(c->p2p, got);
    return code;
}

/* ---- Sending and receiving ---- */

int mpi__message_begin(const mpi__envelope *m, bool receives, mpi__comm **c, mpi__type **type)
{
    const p2p_layer_call call = mpi__call_of(m, receives,
                                             mpi__state == MPI__RUNNING ? mpi__type_of(m->datatype) : NULL);
    int code = mpi__begin(c, m->comm, &call);
    if (code) return code;
    code = mpi__check_data(*c, m->buf, m->count, m->datatype, type);
    if (!code) code = mpi__check_peer(*c, m->peer, m->tag, receives);
    return code ? mpi__end(*c, code) : MPI_SUCCESS;
}

static int send(const mpi__envelope *m, enum mpi__mode mode)
{
    mpi__comm *c;
    mpi__type *type;
    mpi__piece piece;
    mpi__acts();
    if (mode != MPI__BUFFERED && mpi__is_plain(m, false, &c, &type)) {
        const p2p_layer_call call = mpi__call_of(m, false, type);
        if (!p2p_layer_line_is_noted()) mpi__note_line();
        return mpi__ended(c, p2p_layer_send_as(c->p2p, &call, mpi__data(type, m->buf), mode == MPI__SYNCHRONOUS));
    }
    int code = mpi__message_begin(m, false, &c, &type);
    if (code) return code;
    if (m->peer == MPI_PROC_NULL) return mpi__end(c, MPI_SUCCESS);
    code = mpi__piece_out(c, type, m->buf, (size_t)m->count, &piece);
    if (code) return mpi__end(c, code);
    if (mode == MPI__BUFFERED) return mpi__end(c, mpi__bsend(c, &piece, m->peer, m->tag, type->signature->kind));
    p2p_err err = mode == MPI__SYNCHRONOUS ? p2p_ssend(c->p2p, piece.at, piece.bytes, m->peer, m->tag)
                                           : p2p_send(c->p2p, piece.at, piece.bytes, m->peer, m->tag);
    free(piece.owned);
    return mpi__end(c, mpi__p2p(c, err));
}

API(Send)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send(&(mpi__envelope){"MPI_Send", buf, count, datatype, dest, tag, comm, false}, MPI__STANDARD);
}

API(Ssend)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send(&(mpi__envelope){"MPI_Ssend", buf, count, datatype, dest, tag, comm, true}, MPI__SYNCHRONOUS);
}

API(Rsend)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send(&(mpi__envelope){"MPI_Rsend", buf, count, datatype, dest, tag, comm, false}, MPI__READY);
}

API(Bsend)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return send(&(mpi__envelope){"MPI_Bsend", buf, count, datatype, dest, tag, comm, false}, MPI__BUFFERED);
}

/* As a call of its own, for the receive's has ended. */
static int look_at_kind(mpi__comm *c, const p2p_layer_call *call, const mpi__type *type, const p2p_status *got)
{
    uint16_t kind = p2p_layer_kind(c->p2p);
    const char *file;
    int line;
    if (kind == call->kind || mpi__is_expected(type, got, kind)) return MPI_SUCCESS;
    p2p_layer_line(c->p2p, &file, &line);
    p2p__here(file, line);
    int code = mpi__begin_on(c, call);
    return code ? code : mpi__end(c, mpi__check_received(c, type, got, kind));
}

/* For race.c. */
static void note_receive(mpi__comm *c, const mpi__envelope *m, mpi__type *type, uint64_t posted, const p2p_status *got,
                         MPI_Status *status)
{
    mpi__receive r = {.source = m->peer, .tag = m->tag, .posted = posted, .name = m->name, .type = type};
    r.room = (size_t)m->count * type->size;
    p2p_layer_line(c->p2p, &r.file, &r.line);
    mpi__race_received(c, &r, got, p2p_layer_kind(c->p2p), status);
}

API(Recv)(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    mpi__comm *c;
    mpi__type *type;
    mpi__piece piece;
    p2p_status got;
    const uint64_t posted = ++mpi__receives;
    const mpi__envelope m = {"MPI_Recv", buf, count, datatype, source, tag, comm, false};
    if (mpi__is_plain(&m, true, &c, &type)) {
        const p2p_layer_call call = mpi__call_of(&m, true, type);
        if (!p2p_layer_line_is_noted()) mpi__note_line();
        p2p_err err = p2p_layer_recv_as(c->p2p, &call, mpi__data(type, buf), &got);
        if (err) return mpi__ended(c, err);
        if (status != MPI_STATUS_IGNORE) mpi__set_status(status, &got);
        if (mpi__races_open || source == MPI_ANY_SOURCE) note_receive(c, &m, type, posted, &got, status);
        return look_at_kind(c, &call, type, &got);
    }
    int code = mpi__message_begin(&m, true, &c, &type);
    if (code) return code;
    if (source == MPI_PROC_NULL) {
        mpi__empty_status(status, MPI_PROC_NULL);
        return mpi__end(c, MPI_SUCCESS);
    }
    code = mpi__piece_in(c, type, buf, (size_t)count, &piece);
    if (code) return mpi__end(c, code);
    p2p_err err = p2p_recv(c->p2p, piece.at, piece.bytes, mpi__source(source), mpi__tag(tag), &got);
    mpi__piece_in_done(type, buf, &piece, err ? 0 : got.bytes);
    if (err) return mpi__end(c, mpi__p2p(c, err));
    mpi__set_status(status, &got);
    note_receive(c, &m, type, posted, &got, status);
    return mpi__end(c, mpi__check_received(c, type, &got, p2p_layer_kind(c->p2p)));
}

/* ---- Both at once ---- */

static bool overlap(const mpi__piece *a, const mpi__piece *b)
{
    uintptr_t x = (uintptr_t)a->at, y = (uintptr_t)b->at;
    return a->bytes && b->bytes && x < y + b->bytes && y < x + a->bytes;
}

static p2p_err exchange(mpi__comm *c, const mpi__piece *out, int dest, int sendtag, const mpi__piece *in, int source,
                        int recvtag, p2p_status *got)
{
    *got = (p2p_status){.source = P2P_ANY_SOURCE, .tag = P2P_ANY_TAG};
    if (dest == MPI_PROC_NULL && source == MPI_PROC_NULL) return P2P_OK;
    if (dest == MPI_PROC_NULL) return p2p_recv(c->p2p, in->at, in->bytes, mpi__source(source), mpi__tag(recvtag), got);
    if (source == MPI_PROC_NULL) return p2p_send(c->p2p, out->at, out->bytes, dest, sendtag);
    return p2p_sendrecv(c->p2p, out->at, out->bytes, dest, sendtag, in->at, in->bytes, mpi__source(source),
                        mpi__tag(recvtag), got);
}

static int sendrecv(const char *name, const mpi__envelope *out, const mpi__envelope *in, MPI_Status *status)
{
    mpi__comm *c;
    mpi__type *out_type, *in_type;
    mpi__piece sent, received;
    p2p_status got;
    mpi__acts();
    bool replace = out->buf == in->buf && out->datatype == in->datatype && name[sizeof "MPI_Sendrecv" - 1];
    const mpi__type *t = mpi__state == MPI__RUNNING ? mpi__type_of(out->datatype) : NULL;
    int code = mpi__begin(&c, out->comm,
                          &(p2p_layer_call){.name = name,
                                            .shape = P2P_CALL_SENDRECV,
                                            .peer = out->peer,
                                            .tag = out->tag,
                                            .bytes = t ? t->size * (size_t)out->count : 0,
                                            .from = mpi__source(in->peer),
                                            .from_tag = mpi__tag(in->tag),
                                            .kind = t ? t->signature->kind : 0});
    if (code) return code;
    code = mpi__check_data(c, out->buf, out->count, out->datatype, &out_type);
    if (!code) code = mpi__check_data(c, in->buf, in->count, in->datatype, &in_type);
    if (!code) code = mpi__check_peer(c, out->peer, out->tag, false);
    if (!code) code = mpi__check_peer(c, in->peer, in->tag, true);
    if (!code) code = mpi__piece_out(c, out_type, out->buf, (size_t)out->count, &sent);
    if (code) return mpi__end(c, code);
    if (replace && !sent.owned && sent.bytes) {
        sent.owned = malloc(sent.bytes);
        if (!sent.owned) return mpi__end(c, mpi__no_memory(c));
        p2p_layer_copy(sent.owned, sent.at, sent.bytes);
        sent.at = sent.owned;
    }
    code = mpi__piece_in(c, in_type, (void *)(uintptr_t)in->buf, (size_t)in->count, &received);
    if (!code && out->peer != MPI_PROC_NULL && in->peer != MPI_PROC_NULL && overlap(&sent, &received))
        code = mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict",
                            "the send buffer and the receive buffer overlap" MPI__TRY
                            "MPI_Sendrecv_replace, or two buffers");
    if (!code) {
        p2p_layer_expect_kind(c->p2p, in_type->signature->kind);
        p2p_err err = exchange(c, &sent, out->peer, out->tag, &received, in->peer, in->tag, &got);
        mpi__piece_in_done(in_type, (void *)(uintptr_t)in->buf, &received, err ? 0 : got.bytes);
        code = mpi__p2p(c, err);
    }
    free(sent.owned);
    if (code) return mpi__end(c, code);
    if (in->peer == MPI_PROC_NULL) {
        mpi__empty_status(status, MPI_PROC_NULL);
        return mpi__end(c, MPI_SUCCESS);
    }
    mpi__set_status(status, &got);
    if (in->peer == MPI_ANY_SOURCE) mpi__race_adapts(c, got.source);
    return mpi__end(c, mpi__check_received(c, in_type, &got, p2p_layer_kind(c->p2p)));
}

API(Sendrecv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
 MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    return sendrecv("MPI_Sendrecv", &(mpi__envelope){NULL, sendbuf, sendcount, sendtype, dest, sendtag, comm, false},
                    &(mpi__envelope){NULL, recvbuf, recvcount, recvtype, source, recvtag, comm, false}, status);
}

API(Sendrecv_replace)
(void *buf, int count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
 MPI_Status *status)
{
    return sendrecv("MPI_Sendrecv_replace", &(mpi__envelope){NULL, buf, count, datatype, dest, sendtag, comm, false},
                    &(mpi__envelope){NULL, buf, count, datatype, source, recvtag, comm, false}, status);
}
