/* SPDX-License-Identifier: MIT */
/*
 * Collectives that return a request. What is sent is copied when they begin, into one piece; what is received comes into
 * one piece, and is put in place when the request ends. Everything between is one of collectives/.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/collective.h"

/* What is kept until the end. */
typedef struct {
    mpi__blocks out, in; /* counts NULL: not used */
    mpi__piece piece;    /* of a broadcast: what is sent, or received */
    mpi__type *type;     /* of what is placed; held */
    mpi__reduction r;
    bool reduces, unpacks, places;
    void *to;
    size_t first, own; /* of a reduction: the part that goes to `to` */
    void *block;       /* a copy of this rank's own block */
    uint16_t *kinds;   /* of blocks */
    mpi__watch watch;
} pending;

static void release(pending *p)
{
    mpi__watch_close(&p->watch);
    mpi__blocks_close(&p->out);
    mpi__blocks_close(&p->in);
    free(p->piece.owned);
    if (p->reduces) mpi__reduction_close(&p->r);
    if (p->type) mpi__type_drop(p->type);
    free(p->block);
    free(p->kinds);
    free(p);
}

static int finish(mpi__request *request, bool stores)
{
    pending *p = request->state;
    int code = stores ? mpi__watch_check(&p->watch, request) : MPI_SUCCESS;
    if (stores && p->places) mpi__piece_in_done(p->type, p->to, &p->piece, p->piece.bytes);
    if (stores && p->unpacks) mpi__blocks_unpack(&p->in);
    if (stores && p->reduces && p->to) mpi__reduction_store(&p->r, p->to, p->first, p->own);
    release(p);
    return code;
}

static int begin(const char *name, MPI_Comm comm, MPI_Request *request, mpi__comm **c, pending **p)
{
    int code = mpi__begin(c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    if (!request)
        return mpi__end(
            *c, mpi__wrong(*c, MPI_ERR_REQUEST, P2P_ARGUMENT_REQUEST, "request is NULL: nothing could wait for this"));
    *p = calloc(1, sizeof **p);
    mpi__stores = request;
    return *p ? MPI_SUCCESS : mpi__end(*c, mpi__no_memory(*c));
}

static int refuse(mpi__comm *c, pending *p, int code)
{
    release(p);
    return mpi__end(c, code);
}

/* What has come in one piece is put in place at the end. */
static void place_as(pending *p, mpi__type *type)
{
    p->places = true;
    mpi__type_keep(p->type = type);
}

/* What is received comes beside the buffer, which is watched meanwhile. */
static int receive_aside(mpi__comm *c, pending *p, mpi__type *t, const void *buf, size_t count)
{
    if (p->piece.bytes && p->piece.bytes <= MPI__WATCHED_MOST && !p->piece.owned) {
        p->piece.at = p->piece.owned = malloc(p->piece.bytes);
        if (!p->piece.owned) return mpi__no_memory(c);
    }
    mpi__watch_data(&p->watch, false, t, buf, count);
    return MPI_SUCCESS;
}

static mpi__request *go_on(mpi__comm *c, const char *name, const p2p_fingerprint *as)
{
    mpi__request *r = mpi__request_new(c);
    if (!r) return NULL;
    r->name = name;
    r->collective = r->active = true;
    mpi__go_on(c, as);
    return r;
}

static int begun(mpi__comm *c, pending *p, mpi__request *r, p2p_err err, MPI_Request *request)
{
    if (err) {
        release(p);
        mpi__object_free(r);
        mpi__comm_drop(c);
        return mpi__ended(c, err);
    }
    r->state = p;
    r->finish = finish;
    mpi__watch_open(&p->watch, r);
    *request = (MPI_Request)(void *)r;
    return MPI_SUCCESS;
}

/* ---- Barrier, broadcast ---- */

API(Ibarrier)(MPI_Comm comm, MPI_Request *request)
{
    static const p2p_fingerprint as = {.operation = "MPI_Ibarrier", .count = SIZE_MAX, .root = -1};
    mpi__comm *c;
    pending *p;
    int code = begin("MPI_Ibarrier", comm, request, &c, &p);
    if (code) return code;
    mpi__request *r = go_on(c, "MPI_Ibarrier", &as);
    return r ? begun(c, p, r, coll_ibarrier(c->p2p, &r->p2p), request) : refuse(c, p, mpi__no_memory(c));
}

API(Ibcast)(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    mpi__type *t;
    pending *p;
    int code = begin("MPI_Ibcast", comm, request, &c, &p);
    if (code) return code;
    code = mpi__check_data(c, buffer, count, datatype, &t);
    if (!code) code = mpi__check_root(c, root);
    if (!code)
        code = c->rank == root ? mpi__piece_out(c, t, buffer, (size_t)count, &p->piece)
                               : mpi__piece_in(c, t, buffer, (size_t)count, &p->piece);
    if (!code && c->rank == root) mpi__watch_data(&p->watch, true, t, buffer, (size_t)count);
    if (!code && c->rank != root) code = receive_aside(c, p, t, buffer, (size_t)count);
    if (code) return refuse(c, p, code);
    if (c->rank != root) place_as(p, t);
    p->to = buffer;
    const p2p_fingerprint as = mpi__shown("MPI_Ibcast", t, (size_t)count, root);
    mpi__request *r = go_on(c, "MPI_Ibcast", &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    return begun(c, p, r, coll_ibroadcast(c->p2p, p->piece.at, p->piece.bytes, DTYPE_U8, root, &r->p2p), request);
}

/* ---- Blocks ---- */

/* One side of a call: a block for every rank, or (all NULL) one of `count`. */
typedef struct {
    const void *buf;
    const int *counts, *displacements;
    int count;
    MPI_Datatype type;
    const MPI_Datatype *types;
    bool listed; /* counts and displacements were given; else every block has `count` */
} side;

/* The blocks of a side, all alike if they are not listed. */
static int open_blocks(mpi__comm *c, mpi__blocks *b, const side *s, bool receives)
{
    if (s->listed) return mpi__blocks_open(c, b, s->buf, s->counts, s->displacements, s->type, s->types, receives);
    return mpi__blocks_alike(c, b, s->buf, s->count, s->type, receives);
}

/* This rank's own data as one piece: what it sends in a gather. */
static int own_block(mpi__comm *c, pending *p, const side *s, mpi__type **type, size_t *bytes)
{
    int code = mpi__check_data(c, s->buf, s->count, s->type, type);
    if (code) return code;
    *bytes = (size_t)s->count * (*type)->size;
    p->block = malloc(*bytes + 1);
    if (!p->block) return mpi__no_memory(c);
    if (*bytes) mpi__pack(*type, s->buf, (size_t)s->count, p->block);
    return MPI_SUCCESS;
}

static int gather(const char *name, const side *out, const side *in, int root, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    mpi__type *st = NULL;
    pending *p;
    size_t bytes = 0;
    int code = begin(name, comm, request, &c, &p);
    if (code) return code;
    bool all = root == -1, at_root = all || c->rank == root, in_place = at_root && out->buf == MPI_IN_PLACE;
    if (!all) code = mpi__check_root(c, root);
    if (!code && !in_place) code = own_block(c, p, out, &st, &bytes);
    if (!code && at_root) code = open_blocks(c, &p->in, in, true);
    if (!code && in_place) {
        mpi__blocks_pack(&p->in);
        bytes = p->in.counts[c->rank];
        p->block = mpi__copy(p->in.packed + p->in.offsets[c->rank], bytes);
        if (!p->block) code = mpi__no_memory(c);
    }
    if (!code && at_root && st)
        code = mpi__check_same(c, st, (size_t)out->count, p->in.types[c->rank], p->in.elements[c->rank]);
    if (!code && at_root && st) code = mpi__check_apart(c, &p->in, st, out->buf, (size_t)out->count, "send");
    if (code) return refuse(c, p, code);
    p->unpacks = at_root;
    if (st) mpi__watch_data(&p->watch, true, st, out->buf, (size_t)out->count);
    if (at_root) mpi__watch_blocks(&p->watch, false, &p->in);
    p2p_fingerprint as = {.operation = name,
                          .count = SIZE_MAX,
                          .root = root,
                          .kind = mpi__shown_kind(in_place ? p->in.types[c->rank] : st)};
    if (!in->listed)
        as = at_root ? mpi__shown(name, p->in.types[0], (size_t)in->count, root)
                     : mpi__shown(name, st, (size_t)out->count, root);
    mpi__request *r = go_on(c, name, &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    p2p_err err = all ? coll_iall_gatherv(c->p2p, p->block, bytes, p->in.packed, p->in.counts, p->in.offsets, DTYPE_U8,
                                          &r->p2p)
                      : coll_igatherv(c->p2p, p->block, bytes, p->in.packed, p->in.counts, p->in.offsets, DTYPE_U8,
                                      root, &r->p2p);
    return begun(c, p, r, err, request);
}

API(Igather)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 int root, MPI_Comm comm, MPI_Request *request)
{
    return gather("MPI_Igather", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
                  &(side){.buf = recvbuf, .count = recvcount, .type = recvtype}, root < 0 ? -2 : root, comm, request);
}

API(Igatherv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return gather(
        "MPI_Igatherv", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
        &(side){.buf = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype, .listed = true},
        root < 0 ? -2 : root, comm, request);
}

API(Iallgather)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 MPI_Comm comm, MPI_Request *request)
{
    return gather("MPI_Iallgather", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
                  &(side){.buf = recvbuf, .count = recvcount, .type = recvtype}, -1, comm, request);
}

API(Iallgatherv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return gather(
        "MPI_Iallgatherv", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
        &(side){.buf = recvbuf, .counts = recvcounts, .displacements = displs, .type = recvtype, .listed = true}, -1,
        comm, request);
}

static int scatter(const char *name, const side *out, const side *in, int root, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    mpi__type *rt = NULL;
    pending *p;
    int code = begin(name, comm, request, &c, &p);
    if (code) return code;
    bool at_root = c->rank == root, in_place = at_root && in->buf == MPI_IN_PLACE;
    code = mpi__check_root(c, root);
    if (!code && at_root) code = open_blocks(c, &p->out, out, false);
    if (!code && !in_place) code = mpi__check_data(c, in->buf, in->count, in->type, &rt);
    if (!code && rt) code = mpi__piece_in(c, rt, (void *)(uintptr_t)in->buf, (size_t)in->count, &p->piece);
    if (!code && rt) code = receive_aside(c, p, rt, in->buf, (size_t)in->count);
    if (!code && in_place) {
        p->piece.bytes = p->out.counts[root];
        p->piece.at = p->piece.owned = malloc(p->piece.bytes + 1);
        if (!p->piece.owned) code = mpi__no_memory(c);
    }
    if (!code && at_root && rt)
        code = mpi__check_same(c, p->out.types[root], p->out.elements[root], rt, (size_t)in->count);
    if (!code && at_root && rt) code = mpi__check_apart(c, &p->out, rt, in->buf, (size_t)in->count, "receive");
    if (code) return refuse(c, p, code);
    if (at_root) mpi__blocks_pack(&p->out);
    if (at_root) mpi__watch_blocks(&p->watch, true, &p->out);
    if (rt) place_as(p, rt);
    p->to = (void *)(uintptr_t)in->buf;
    p2p_fingerprint as = {.operation = name,
                          .count = SIZE_MAX,
                          .root = root,
                          .kind = mpi__shown_kind(in_place ? p->out.types[root] : rt)};
    if (!out->listed)
        as = at_root ? mpi__shown(name, p->out.types[0], (size_t)out->count, root)
                     : mpi__shown(name, rt, (size_t)in->count, root);
    mpi__request *r = go_on(c, name, &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    p2p_err err = coll_iscatterv(c->p2p, p->out.packed, p->out.counts, p->out.offsets, p->piece.at, p->piece.bytes,
                                 DTYPE_U8, root, &r->p2p);
    return begun(c, p, r, err, request);
}

API(Iscatter)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter("MPI_Iscatter", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
                   &(side){.buf = recvbuf, .count = recvcount, .type = recvtype}, root, comm, request);
}

API(Iscatterv)
(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    return scatter(
        "MPI_Iscatterv",
        &(side){.buf = sendbuf, .counts = sendcounts, .displacements = displs, .type = sendtype, .listed = true},
        &(side){.buf = recvbuf, .count = recvcount, .type = recvtype}, root, comm, request);
}

static int all_to_all(const char *name, const side *out, const side *in, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    pending *p;
    int code = begin(name, comm, request, &c, &p);
    if (code) return code;
    bool in_place = out->buf == MPI_IN_PLACE;
    code = open_blocks(c, &p->in, in, true);
    if (!code) code = open_blocks(c, &p->out, in_place ? in : out, false);
    if (!code && !in_place)
        code = mpi__check_same(c, p->out.types[c->rank], p->out.elements[c->rank], p->in.types[c->rank],
                               p->in.elements[c->rank]);
    if (!code && !in_place) code = mpi__check_blocks_apart(c, &p->out, &p->in);
    if (!code && in->types && !(p->kinds = mpi__block_kinds(c, &p->out, &p->in))) code = mpi__no_memory(c);
    if (code) return refuse(c, p, code);
    mpi__blocks_pack(&p->out);
    mpi__watch_blocks(&p->watch, true, &p->out);
    if (!in_place) mpi__watch_blocks(&p->watch, false, &p->in);
    p->unpacks = true;
    p2p_fingerprint as = {.operation = name,
                          .count = SIZE_MAX,
                          .root = -1,
                          .kind = in->types ? 0 : mpi__shown_kind(p->in.types[0]),
                          .kinds = p->kinds};
    if (!in->listed) as = mpi__shown(name, p->in.types[0], (size_t)in->count, -1);
    mpi__request *r = go_on(c, name, &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    p2p_err err = coll_iall_to_allv(c->p2p, p->out.packed, p->out.counts, p->out.offsets, p->in.packed, p->in.counts,
                                    p->in.offsets, DTYPE_U8, &r->p2p);
    return begun(c, p, r, err, request);
}

API(Ialltoall)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 MPI_Comm comm, MPI_Request *request)
{
    return all_to_all("MPI_Ialltoall", &(side){.buf = sendbuf, .count = sendcount, .type = sendtype},
                      &(side){.buf = recvbuf, .count = recvcount, .type = recvtype}, comm, request);
}

API(Ialltoallv)
(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    return all_to_all("MPI_Ialltoallv", &(side){sendbuf, sendcounts, sdispls, 0, sendtype, NULL, true},
                      &(side){recvbuf, recvcounts, rdispls, 0, recvtype, NULL, true}, comm, request);
}

API(Ialltoallw)
(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
 const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Request *request)
{
    return all_to_all("MPI_Ialltoallw", &(side){sendbuf, sendcounts, sdispls, 0, NULL, sendtypes, true},
                      &(side){recvbuf, recvcounts, rdispls, 0, NULL, recvtypes, true}, comm, request);
}

/* ---- Reductions ---- */

/* The call is in order. `own`: so many elements of the result come to `to`. */
static void watch_reduction(pending *p, const void *from, void *to, size_t own)
{
    mpi__type *t = p->r.type;
    if (from != MPI_IN_PLACE) mpi__watch_data(&p->watch, true, t, from, p->r.count);
    if (to) mpi__reduction_aside(&p->r, MPI__WATCHED_MOST);
    if (to) mpi__watch_data(&p->watch, false, t, to, own);
    p->reduces = true;
    p->to = to;
    p->own = own;
}

API(Ireduce)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
 MPI_Request *request)
{
    mpi__comm *c;
    pending *p;
    int code = begin("MPI_Ireduce", comm, request, &c, &p);
    if (code) return code;
    bool at_root = c->rank == root;
    code = mpi__check_root(c, root);
    if (!code) code = mpi__reduction_open(c, &p->r, sendbuf, recvbuf, count, datatype, op, at_root, false);
    if (code) return refuse(c, p, code);
    watch_reduction(p, sendbuf, at_root ? recvbuf : NULL, p->r.count);
    const p2p_fingerprint as = mpi__reduction_shown("MPI_Ireduce", &p->r, p->r.count, root);
    mpi__request *r = go_on(c, "MPI_Ireduce", &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    p2p_err err = coll_ireduce(c->p2p, p->r.work, p->r.count, p->r.combiner.dtype, p->r.combiner.op, root, &r->p2p);
    return begun(c, p, r, err, request);
}

typedef p2p_err reduction(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request);

/* `ordered`: instead, if the operator does not commute; NULL: it need not. Rank 0 of an exclusive scan has no result, nor
 * anything to do with its receive buffer but to read it in place. */
static int reduce_all(const char *name, reduction *how, reduction *ordered, const void *sendbuf, void *recvbuf,
                      int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    pending *p;
    int code = begin(name, comm, request, &c, &p);
    if (code) return code;
    bool has_result = how != coll_iexscan || c->rank > 0;
    if (!has_result && sendbuf == MPI_IN_PLACE) sendbuf = recvbuf;
    code = mpi__reduction_open(c, &p->r, sendbuf, recvbuf, count, datatype, op, has_result, false);
    if (code) return refuse(c, p, code);
    watch_reduction(p, sendbuf, has_result ? recvbuf : NULL, p->r.count);
    const p2p_fingerprint as = mpi__reduction_shown(name, &p->r, p->r.count, -1);
    mpi__request *r = go_on(c, name, &as);
    if (!r) return refuse(c, p, mpi__no_memory(c));
    if (ordered && !op_commutes(p->r.combiner.op)) how = ordered;
    p2p_err err = how(c->p2p, p->r.work, p->r.count, p->r.combiner.dtype, p->r.combiner.op, &r->p2p);
    return begun(c, p, r, err, request);
}

API(Iallreduce)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_all("MPI_Iallreduce", coll_iall_reduce, coll_naive_iall_reduce, sendbuf, recvbuf, count, datatype, op,
                      comm, request);
}

API(Iscan)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_all("MPI_Iscan", coll_iscan, NULL, sendbuf, recvbuf, count, datatype, op, comm, request);
}

API(Iexscan)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    return reduce_all("MPI_Iexscan", coll_iexscan, NULL, sendbuf, recvbuf, count, datatype, op, comm, request);
}

/* This rank's part of what is dense is put together here. Else the whole is reduced, and each rank keeps its part. */
static int reduce_scatter(const char *name, const void *sendbuf, void *recvbuf, const int counts[], int each,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    mpi__comm *c;
    pending *p;
    mpi__type *t;
    mpi__parts parts;
    int code = begin(name, comm, request, &c, &p);
    if (code) return code;
    code = mpi__parts_open(c, &parts, counts, each);
    size_t own = code ? 0 : parts.counts[c->rank];
    if (!code && own) code = mpi__check_data(c, recvbuf, (MPI_Count)own, datatype, &t);
    if (!code && own) code = mpi__check_unused(c, t, recvbuf, own, true);
    if (!code) code = mpi__reduction_open(c, &p->r, sendbuf, recvbuf, (MPI_Count)parts.all, datatype, op, true, true);
    p->reduces = !code;
    if (!code) mpi__parts_fit(c, &parts, p->r.type);
    if (!code) own = parts.counts[c->rank];
    bool whole = !code && !p->r.type->dense;
    if (!code && !whole) {
        p->piece.bytes = own * p->r.type->size;
        p->piece.at = p->piece.owned = malloc(p->piece.bytes + 1);
        if (!p->piece.owned) code = mpi__no_memory(c);
    }
    p2p_fingerprint as; /* until the collective has begun */
    mpi__request *r = NULL;
    if (!code) {
        watch_reduction(p, sendbuf, whole ? recvbuf : NULL, whole ? own : 0);
        if (!whole) mpi__watch_data(&p->watch, false, p->r.type, recvbuf, own);
        p->to = recvbuf;
        as = mpi__reduction_shown(name, &p->r, p->r.count, -1);
        r = go_on(c, name, &as);
        if (!r) code = mpi__no_memory(c);
    }
    if (code) {
        free(parts.counts);
        return refuse(c, p, code);
    }
    p->first = parts.offsets[c->rank];
    if (!whole) place_as(p, p->r.type);
    reduction *how = op_commutes(p->r.combiner.op) ? coll_iall_reduce : coll_naive_iall_reduce;
    p2p_err err = whole ? how(c->p2p, p->r.work, p->r.count, p->r.combiner.dtype, p->r.combiner.op, &r->p2p)
                        : coll_ireduce_scatterv(c->p2p, p->r.work, parts.counts, parts.offsets, p->piece.at, own,
                                                p->r.combiner.dtype, p->r.combiner.op, &r->p2p);
    free(parts.counts);
    return begun(c, p, r, err, request);
}

API(Ireduce_scatter)
(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return reduce_scatter("MPI_Ireduce_scatter", sendbuf, recvbuf, recvcounts, 0, datatype, op, comm, request);
}

API(Ireduce_scatter_block)
(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return reduce_scatter("MPI_Ireduce_scatter_block", sendbuf, recvbuf, NULL, recvcount, datatype, op, comm, request);
}
