/* SPDX-License-Identifier: MIT */
/*
 * Reductions. Elements that lie side by side are combined in the receive buffer itself. Others (with gaps, or where there
 * is no receive buffer to work in) in memory beside it, in which an element takes its whole extent; only its data is
 * copied back.
 */
#include <stdlib.h>
#include <string.h>

#include "mpi/basic.h"
#include "mpi/collective.h"

/* From the first byte of the first element to the last byte of the last one. */
static size_t span(const mpi__type *t, size_t count)
{
    return count ? (count - 1) * (size_t)t->extent + (size_t)t->true_extent : 0;
}

static int check_op(mpi__comm *c, MPI_Op handle, const mpi__type *t, mpi__op **op)
{
    bool freed = false;
    *op = mpi__op_of(handle);
    if (!*op) {
        mpi__object_of(MPI__OP, handle, &freed);
        return mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "%s",
                          handle == MPI_OP_NULL ? "the operator is MPI_OP_NULL"
                          : freed               ? "the operator has been freed"
                                                : "this is no operator: was it ever set?");
    }
    const char *problem = mpi__op_problem(*op, t);
    if (!problem && t->extent < t->true_extent) problem = "elements of this type overlap";
    return problem ? mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "%s on %s: %s", (*op)->name, t->signature->name,
                                problem)
                   : MPI_SUCCESS;
}

/* Predefined operators and types that go together, and that dtype/ has loops for: those that were used last. */
typedef struct {
    MPI_Op op;
    MPI_Datatype datatype;
    mpi__type *type;
    mpi__combiner combiner;
    p2p_fingerprint shown; /* of one element */
} recent;

static recent *place_of(MPI_Op op, MPI_Datatype datatype)
{
    static recent all[16];
    return &all[((uintptr_t)op ^ (uintptr_t)datatype) % (sizeof all / sizeof *all)];
}

static recent *find_recent(MPI_Op op, MPI_Datatype datatype)
{
    recent *found = place_of(op, datatype);
    return found->type && found->op == op && found->datatype == datatype ? found : NULL;
}

static bool open_combiner(mpi__reduction *r, mpi__op *op, MPI_Op handle, MPI_Datatype datatype)
{
    const recent *found = find_recent(handle, datatype);
    if (found) {
        r->combiner = found->combiner;
        return true;
    }
    if (!mpi__combiner_open(&r->combiner, op, r->type)) return false;
    if (!r->combiner.made && r->type->predefined)
        *place_of(handle, datatype) = (recent){handle, datatype, r->type, r->combiner,
                                               mpi__reduction_shown(NULL, r, 1, -1)};
    return true;
}

/* The data of the elements at `from`, each at the place that it has there. */
static void take(mpi__reduction *r, const char *from)
{
    const mpi__type *t = r->type;
    for (size_t i = 0; i < r->count; i++)
        for (size_t k = 0; k < t->segment_count; k++) {
            const mpi__segment s = t->segments[k];
            for (size_t n = 0; n < s.times; n++) {
                ptrdiff_t place = (ptrdiff_t)i * t->extent + s.offset + (ptrdiff_t)n * s.stride;
                memcpy((char *)r->owned + place - t->true_lb, from + place, s.bytes);
            }
        }
}

int mpi__reduction_open(mpi__comm *c, mpi__reduction *r, const void *from, void *to, MPI_Count count,
                        MPI_Datatype datatype, MPI_Op handle, bool has_result, bool apart)
{
    mpi__op *op = NULL;
    mpi__type *t;
    bool in_place = from == MPI_IN_PLACE && has_result;
    *r = (mpi__reduction){.count = (size_t)count};
    int code = in_place ? MPI_SUCCESS : mpi__check_data(c, from, count, datatype, &t);
    if (!code && has_result) code = mpi__check_data(c, to, apart && !in_place ? 0 : count, datatype, &t);
    if (!code && !find_recent(handle, datatype)) code = check_op(c, handle, t, &op);
    if (code) return code;
    const char *source = in_place ? to : from;
    uintptr_t first = (uintptr_t)source + (uintptr_t)t->true_lb, second = (uintptr_t)to + (uintptr_t)t->true_lb;
    size_t bytes = t->size ? span(t, r->count) : 0, result = apart && bytes ? span(t, 1) : bytes; /* at least */
    if (!in_place && has_result && bytes && first < second + result && second < first + bytes)
        return mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict",
                            "the send buffer and the receive buffer overlap" MPI__TRY
                            "MPI_IN_PLACE as the send buffer");
    code = in_place ? MPI_SUCCESS : mpi__check_unused(c, t, from, r->count, false);
    if (!code && has_result) code = mpi__check_unused(c, t, to, apart && !in_place ? 0 : r->count, true);
    if (code) return code;
    r->type = t;
    if (!t->size) r->count = 0; /* the elements have no data */
    r->bytes = r->count * (size_t)t->extent;
    if (t->dense && (!has_result || apart)) { /* only read */
        r->work = mpi__data(t, source);
    } else if (t->dense) {
        r->work = mpi__data(t, to);
        if (!in_place && r->bytes) p2p_layer_copy(r->work, mpi__data(t, source), r->bytes);
    } else {
        r->work = r->owned = calloc(1, r->bytes + 1);
        if (!r->owned) return mpi__no_memory(c);
        take(r, source); /* without its gaps, which nobody may have written */
    }
    if (open_combiner(r, op, handle, datatype)) {
        mpi__type_keep(r->type);
        mpi__op_keep(r->combiner.from);
        return MPI_SUCCESS;
    }
    free(r->owned);
    r->owned = NULL;
    return mpi__no_memory(c);
}

void mpi__reduction_aside(mpi__reduction *r, size_t most)
{
    if (!r->owned && r->bytes && r->bytes <= most) {
        r->owned = mpi__copy(r->work, r->bytes);
        if (r->owned) r->work = r->owned;
    }
}

void mpi__reduction_store(mpi__reduction *r, void *to, size_t first, size_t count)
{
    const mpi__type *t = r->type;
    if (!r->owned) return;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < t->segment_count; k++) {
            const mpi__segment s = t->segments[k];
            for (size_t n = 0; n < s.times; n++) {
                ptrdiff_t place = s.offset + (ptrdiff_t)n * s.stride;
                memcpy((char *)to + (ptrdiff_t)i * t->extent + place,
                       (char *)r->owned + (ptrdiff_t)(first + i) * t->extent + place - t->true_lb, s.bytes);
            }
        }
}

void mpi__reduction_close(mpi__reduction *r)
{
    mpi__combiner_close(&r->combiner);
    mpi__op_drop(r->combiner.from);
    mpi__type_drop(r->type);
    free(r->owned);
    r->owned = NULL;
}

p2p_fingerprint mpi__reduction_shown(const char *name, const mpi__reduction *r, size_t count, int root)
{
    p2p_fingerprint shown = mpi__shown(name, r->type, count, root);
    const mpi__signature *s = r->type->signature;
    bool bytes = s->like->length == 1 && s->like->codes[0] == mpi__code(MPI_BYTE);
    if (shown.dtype && bytes) shown.dtype = s->name; /* operators tell bytes from numbers */
    shown.op = r->combiner.from->name;
    return shown;
}

API(Reduce)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__reduction r;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Reduce"});
    if (code) return code;
    bool at_root = c->rank == root;
    code = mpi__check_root(c, root);
    if (!code) code = mpi__reduction_open(c, &r, sendbuf, recvbuf, count, datatype, op, at_root, false);
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = mpi__reduction_shown("MPI_Reduce", &r, r.count, root);
    mpi__go_on(c, &as);
    p2p_err err = coll_reduce(c->p2p, r.work, r.count, r.combiner.dtype, r.combiner.op, root);
    if (!err && at_root) mpi__reduction_store(&r, recvbuf, 0, r.count);
    mpi__reduction_close(&r);
    return mpi__ended(c, err);
}

typedef p2p_err reduction(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

/* Buffers (one, or two that lie apart) that no operation has, and this operator has been used with this type: nothing else
 * is to be checked, and the data is put in place. NULL: look at everything. */
static recent *open_again(const mpi__comm *c, const void *from, void *to, int count, MPI_Datatype datatype, MPI_Op op)
{
    recent *found = find_recent(op, datatype);
    if (!found || count <= 0 || mpi__collectives_pending) return NULL;
    if (!from || !to || to == MPI_IN_PLACE) return NULL;
    size_t bytes = (size_t)count * found->type->size;
    if (p2p_layer_check_buffer(c->p2p, to, bytes, true)) return NULL;
    if (from == MPI_IN_PLACE) return found;
    uintptr_t first = (uintptr_t)from, second = (uintptr_t)to;
    if (first < second + bytes && second < first + bytes) return NULL;
    if (p2p_layer_check_buffer(c->p2p, from, bytes, false)) return NULL;
    p2p_layer_copy(to, from, bytes);
    return found;
}

/* Those whose result is as long as what goes in, on every rank, but that rank 0 of an exclusive scan has none, nor anything to
 * do with its receive buffer but to read it in place. */
static int reduce_all(const char *name, reduction *how, const void *sendbuf, void *recvbuf, int count,
                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    mpi__reduction r;
    mpi__comm *c = mpi__quick(comm);
    bool has_result = how != coll_exscan || !c || c->rank > 0;
    recent *again = c && has_result ? open_again(c, sendbuf, recvbuf, count, datatype, op) : NULL;
    if (again) {
        again->shown.operation = name;
        again->shown.count = (size_t)count * mpi__elements(again->type, 1);
        mpi__go_on_quick(c, &again->shown);
        return mpi__ended(c, how(c->p2p, recvbuf, (size_t)count, again->combiner.dtype, again->combiner.op));
    }
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    has_result = how != coll_exscan || c->rank > 0;
    if (!has_result && sendbuf == MPI_IN_PLACE) sendbuf = recvbuf;
    code = mpi__reduction_open(c, &r, sendbuf, recvbuf, count, datatype, op, has_result, false);
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = mpi__reduction_shown(name, &r, r.count, -1);
    mpi__go_on(c, &as);
    p2p_err err = how(c->p2p, r.work, r.count, r.combiner.dtype, r.combiner.op);
    if (!err && has_result) mpi__reduction_store(&r, recvbuf, 0, r.count);
    mpi__reduction_close(&r);
    return mpi__ended(c, err);
}

API(Allreduce)
(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_all("MPI_Allreduce", coll_all_reduce, sendbuf, recvbuf, count, datatype, op, comm);
}

API(Scan)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_all("MPI_Scan", coll_scan, sendbuf, recvbuf, count, datatype, op, comm);
}

API(Exscan)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_all("MPI_Exscan", coll_exscan, sendbuf, recvbuf, count, datatype, op, comm);
}

int mpi__parts_open(mpi__comm *c, mpi__parts *p, const int counts[], int each)
{
    *p = (mpi__parts){.counts = malloc(2 * (size_t)c->size * sizeof *p->counts)};
    if (!p->counts) return mpi__no_memory(c);
    p->offsets = p->counts + c->size;
    for (int q = 0; q < c->size; q++) {
        int count = counts ? counts[q] : each;
        if (count < 0) return mpi__wrong(c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %d is negative", count);
        p->offsets[q] = p->all;
        p->counts[q] = (size_t)count;
        p->all += (size_t)count;
    }
    return MPI_SUCCESS;
}

void mpi__parts_fit(const mpi__comm *c, mpi__parts *p, const mpi__type *type)
{
    if (!type->size) memset(p->counts, 0, 2 * (size_t)c->size * sizeof *p->counts);
}

/*
 * Of dense data, with an operator of MPI's own (they commute), each part goes round to the rank that keeps it. Else the
 * whole is reduced on every rank, each of which keeps its part.
 */
static int reduce_scatter(const char *name, const void *sendbuf, void *recvbuf, const int counts[], int each,
                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__reduction r;
    mpi__type *t;
    mpi__parts p;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    code = mpi__parts_open(c, &p, counts, each);
    size_t own = code ? 0 : p.counts[c->rank];
    if (!code && own) code = mpi__check_data(c, recvbuf, (MPI_Count)own, datatype, &t);
    if (!code && own) code = mpi__check_unused(c, t, recvbuf, own, true);
    if (!code) code = mpi__reduction_open(c, &r, sendbuf, recvbuf, (MPI_Count)p.all, datatype, op, true, true);
    if (code) {
        free(p.counts);
        return mpi__end(c, code);
    }
    mpi__parts_fit(c, &p, r.type);
    own = p.counts[c->rank];
    bool travels = r.type->dense && !r.combiner.from->function && !r.combiner.from->large;
    void *aside = travels ? malloc(own * r.type->size + 1) : NULL; /* the buffer may be what is reduced as well */
    if (!travels) mpi__reduction_aside(&r, SIZE_MAX);
    if (travels ? !aside : !r.owned && r.bytes) {
        mpi__reduction_close(&r);
        free(p.counts);
        return mpi__end(c, mpi__no_memory(c));
    }
    const p2p_fingerprint as = mpi__reduction_shown(name, &r, r.count, -1);
    mpi__go_on(c, &as);
    p2p_err err = travels ? coll_reduce_scatterv(c->p2p, r.work, p.counts, p.offsets, aside, own, r.combiner.dtype,
                                                 r.combiner.op)
                          : coll_all_reduce(c->p2p, r.work, r.count, r.combiner.dtype, r.combiner.op);
    if (!err && travels && own) memcpy(mpi__data(r.type, recvbuf), aside, own * r.type->size);
    if (!err && !travels) mpi__reduction_store(&r, recvbuf, p.offsets[c->rank], own);
    mpi__reduction_close(&r);
    free(aside);
    free(p.counts);
    return mpi__ended(c, err);
}

API(Reduce_scatter)
(const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter("MPI_Reduce_scatter", sendbuf, recvbuf, recvcounts, 0, datatype, op, comm);
}

API(Reduce_scatter_block)
(const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_scatter("MPI_Reduce_scatter_block", sendbuf, recvbuf, NULL, recvcount, datatype, op, comm);
}
