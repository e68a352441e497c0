/* SPDX-License-Identifier: MIT */
/* Collectives whose blocks have lengths of their own: copied into one piece, block after block, and out of it. */
#include <stdlib.h>
#include <string.h>

#include "mpi/collective.h"

static int allot(mpi__comm *c, mpi__blocks *b, const void *buf)
{
    size_t ranks = (size_t)c->size;
    *b = (mpi__blocks){.buf = (void *)(uintptr_t)buf, .ranks = c->size};
    b->counts = calloc(ranks, 2 * sizeof *b->counts + sizeof *b->places + sizeof *b->types + sizeof *b->elements);
    if (!b->counts) return mpi__no_memory(c);
    b->offsets = b->counts + ranks;
    b->elements = b->offsets + ranks;
    b->places = (ptrdiff_t *)(void *)(b->elements + ranks);
    b->types = (mpi__type **)(void *)(b->places + ranks);
    return MPI_SUCCESS;
}

/* The displacement is in elements, or in bytes. Alone, it can make an address: with MPI_BOTTOM. */
static int add_block(mpi__comm *c, mpi__blocks *b, int q, int count, ptrdiff_t displacement, bool in_bytes,
                     MPI_Datatype datatype, bool receives)
{
    mpi__type *t;
    int code = mpi__check_data(c, displacement && !b->buf ? (const void *)1024 : b->buf, count, datatype, &t);
    if (code) return code;
    mpi__type_keep(b->types[q] = t);
    b->elements[q] = (size_t)count;
    b->counts[q] = b->elements[q] * t->size;
    b->places[q] = in_bytes ? displacement : displacement * t->extent;
    b->offsets[q] = b->bytes;
    b->bytes += b->counts[q];
    return mpi__check_unused(c, t, b->buf + b->places[q], b->elements[q], receives);
}

/* All blocks are there, or there was an error: then nothing is left. */
static int complete(mpi__comm *c, mpi__blocks *b, int code)
{
    b->packed = code ? NULL : malloc(b->bytes + 1);
    if (b->packed) return MPI_SUCCESS;
    mpi__blocks_close(b);
    return code ? code : mpi__no_memory(c);
}

int mpi__blocks_open(mpi__comm *c, mpi__blocks *b, const void *buf, const int counts[], const int displacements[],
                     MPI_Datatype datatype, const MPI_Datatype datatypes[], bool receives)
{
    *b = (mpi__blocks){.counts = NULL};
    if (!counts || !displacements)
        return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "the counts or the displacements are NULL");
    int code = allot(c, b, buf);
    for (int q = 0; q < c->size && !code; q++) {
        code = add_block(c, b, q, counts[q], displacements[q], datatypes != NULL, datatypes ? datatypes[q] : datatype,
                         receives);
        if (!code && !datatypes && b->counts[q])
            code = mpi__check_displacement(c, buf, mpi__data(b->types[q], b->buf + b->places[q]), q, displacements[q]);
    }
    if (!code && receives) code = mpi__check_each_apart(c, b);
    return complete(c, b, code);
}

int mpi__blocks_alike(mpi__comm *c, mpi__blocks *b, const void *buf, int count, MPI_Datatype datatype, bool receives)
{
    int code = allot(c, b, buf);
    for (int q = 0; q < c->size && !code; q++)
        code = add_block(c, b, q, count, (ptrdiff_t)count * q, false, datatype, receives);
    return complete(c, b, code);
}

void mpi__blocks_pack(mpi__blocks *b)
{
    for (int q = 0; q < b->ranks; q++)
        if (b->counts[q])
            mpi__pack(b->types[q], (char *)b->buf + b->places[q], b->elements[q], b->packed + b->offsets[q]);
}

void mpi__blocks_unpack(mpi__blocks *b)
{
    for (int q = 0; q < b->ranks; q++)
        if (b->counts[q])
            mpi__unpack(b->types[q], (char *)b->buf + b->places[q], b->packed + b->offsets[q], b->counts[q]);
}

void mpi__blocks_close(mpi__blocks *b)
{
    for (int q = 0; b->counts && q < b->ranks; q++)
        if (b->types[q]) mpi__type_drop(b->types[q]);
    free(b->counts);
    free(b->packed);
    b->counts = NULL;
    b->packed = NULL;
}

API(Gatherv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL;
    mpi__piece out = {NULL, NULL, 0};
    mpi__blocks in = {.counts = NULL};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Gatherv"});
    if (code) return code;
    bool at_root = c->rank == root, in_place = at_root && sendbuf == MPI_IN_PLACE;
    code = mpi__check_root(c, root);
    if (!code && !in_place) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code && at_root) code = mpi__blocks_open(c, &in, recvbuf, recvcounts, displs, recvtype, NULL, true);
    if (!code && at_root && !in_place)
        code = mpi__check_same(c, st, (size_t)sendcount, in.types[root], in.elements[root]);
    if (!code && at_root && !in_place) code = mpi__check_apart(c, &in, st, sendbuf, (size_t)sendcount, "send");
    if (!code && !in_place) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount, &out);
    if (!code && in_place) {
        mpi__blocks_pack(&in);
        out.bytes = in.counts[root];
        out.at = out.owned = mpi__copy(in.packed + in.offsets[root], out.bytes);
    }
    if (code) {
        mpi__blocks_close(&in);
        return mpi__end(c, code);
    }
    const p2p_fingerprint as = {.operation = "MPI_Gatherv",
                                .count = SIZE_MAX,
                                .root = root,
                                .kind = mpi__shown_kind(in_place ? in.types[root] : st)};
    mpi__go_on(c, &as);
    p2p_err err = coll_gatherv(c->p2p, out.at, out.bytes, in.packed, in.counts, in.offsets, DTYPE_U8, root);
    free(out.owned);
    if (at_root && !err) mpi__blocks_unpack(&in);
    mpi__blocks_close(&in);
    return mpi__ended(c, err);
}

API(Scatterv)
(const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *rt = NULL;
    mpi__piece in = {NULL, NULL, 0};
    mpi__blocks out = {.counts = NULL};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Scatterv"});
    if (code) return code;
    bool at_root = c->rank == root, in_place = at_root && recvbuf == MPI_IN_PLACE;
    code = mpi__check_root(c, root);
    if (!code && !in_place) code = mpi__check_data(c, recvbuf, recvcount, recvtype, &rt);
    if (!code && at_root) code = mpi__blocks_open(c, &out, sendbuf, sendcounts, displs, sendtype, NULL, false);
    if (!code && at_root && !in_place)
        code = mpi__check_same(c, out.types[root], out.elements[root], rt, (size_t)recvcount);
    if (!code && at_root && !in_place) code = mpi__check_apart(c, &out, rt, recvbuf, (size_t)recvcount, "receive");
    if (!code && at_root) mpi__blocks_pack(&out);
    if (!code && !in_place) code = mpi__piece_in(c, rt, recvbuf, (size_t)recvcount, &in);
    if (!code && in_place) {
        in.bytes = out.counts[root];
        in.at = in.owned = malloc(in.bytes + 1);
        if (!in.owned) code = mpi__no_memory(c);
    }
    if (code) {
        mpi__blocks_close(&out);
        return mpi__end(c, code);
    }
    const p2p_fingerprint as = {.operation = "MPI_Scatterv",
                                .count = SIZE_MAX,
                                .root = root,
                                .kind = mpi__shown_kind(in_place ? out.types[root] : rt)};
    mpi__go_on(c, &as);
    p2p_err err = coll_scatterv(c->p2p, out.packed, out.counts, out.offsets, in.at, in.bytes, DTYPE_U8, root);
    if (!in_place)
        mpi__piece_in_done(rt, recvbuf, &in, err ? 0 : in.bytes);
    else
        free(in.owned);
    mpi__blocks_close(&out);
    return mpi__ended(c, err);
}

API(Allgatherv)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
 MPI_Datatype recvtype, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL;
    mpi__piece out = {NULL, NULL, 0};
    mpi__blocks in = {.counts = NULL};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Allgatherv"});
    if (code) return code;
    if (sendbuf != MPI_IN_PLACE) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code) code = mpi__blocks_open(c, &in, recvbuf, recvcounts, displs, recvtype, NULL, true);
    if (!code && st) code = mpi__check_same(c, st, (size_t)sendcount, in.types[c->rank], in.elements[c->rank]);
    if (!code && st) code = mpi__check_apart(c, &in, st, sendbuf, (size_t)sendcount, "send");
    if (!code && st) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount, &out);
    if (!code && !st) {
        mpi__blocks_pack(&in);
        out.bytes = in.counts[c->rank];
        out.at = out.owned = mpi__copy(in.packed + in.offsets[c->rank], out.bytes);
    }
    if (code) {
        mpi__blocks_close(&in);
        return mpi__end(c, code);
    }
    size_t all = 0;
    for (int q = 0; q < c->size; q++) all += in.elements[q];
    const p2p_fingerprint as = mpi__shown("MPI_Allgatherv", in.types[0], all, -1);
    mpi__go_on(c, &as);
    p2p_err err = coll_all_gatherv(c->p2p, out.at, out.bytes, in.packed, in.counts, in.offsets, DTYPE_U8);
    free(out.owned);
    if (!err) mpi__blocks_unpack(&in);
    mpi__blocks_close(&in);
    return mpi__ended(c, err);
}

uint16_t *mpi__block_kinds(const mpi__comm *c, const mpi__blocks *out, const mpi__blocks *in)
{
    uint16_t *kinds = malloc(2 * (size_t)c->size * sizeof *kinds);
    for (int q = 0; kinds && q < c->size; q++) {
        kinds[q] = out->counts[q] ? mpi__shown_kind(out->types[q]) : 0;
        kinds[c->size + q] = in->counts[q] ? mpi__shown_kind(in->types[q]) : 0;
    }
    return kinds;
}

/* In place, what is sent is what lies in the receive buffer. */
static int all_to_all(const char *name, const void *sendbuf, const int sendcounts[], const int sdispls[],
                      MPI_Datatype sendtype, const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                      const int rdispls[], MPI_Datatype recvtype, const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    mpi__comm *c;
    mpi__blocks out = {.counts = NULL}, in = {.counts = NULL};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    bool in_place = sendbuf == MPI_IN_PLACE;
    code = mpi__blocks_open(c, &in, recvbuf, recvcounts, rdispls, recvtype, recvtypes, true);
    if (!code)
        code = in_place ? mpi__blocks_open(c, &out, recvbuf, recvcounts, rdispls, recvtype, recvtypes, false)
                        : mpi__blocks_open(c, &out, sendbuf, sendcounts, sdispls, sendtype, sendtypes, false);
    if (!code && !in_place)
        code = mpi__check_same(c, out.types[c->rank], out.elements[c->rank], in.types[c->rank], in.elements[c->rank]);
    if (!code && !in_place) code = mpi__check_blocks_apart(c, &out, &in);
    uint16_t *kinds = !code && recvtypes ? mpi__block_kinds(c, &out, &in) : NULL;
    if (!code && recvtypes && !kinds) code = mpi__no_memory(c);
    if (code) {
        mpi__blocks_close(&in);
        mpi__blocks_close(&out);
        return mpi__end(c, code);
    }
    mpi__blocks_pack(&out);
    const p2p_fingerprint as = {.operation = name,
                                .count = SIZE_MAX,
                                .root = -1,
                                .kind = recvtypes ? 0 : mpi__shown_kind(in.types[0]),
                                .kinds = kinds};
    mpi__go_on(c, &as);
    p2p_err err = coll_all_to_allv(c->p2p, out.packed, out.counts, out.offsets, in.packed, in.counts, in.offsets,
                                   DTYPE_U8);
    if (!err) mpi__blocks_unpack(&in);
    free(kinds);
    mpi__blocks_close(&out);
    mpi__blocks_close(&in);
    return mpi__ended(c, err);
}

API(Alltoallv)
(const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const int recvcounts[], const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    return all_to_all("MPI_Alltoallv", sendbuf, sendcounts, sdispls, sendtype, NULL, recvbuf, recvcounts, rdispls,
                      recvtype, NULL, comm);
}

API(Alltoallw)
(const void *sendbuf, const int sendcounts[], const int sdispls[], const MPI_Datatype sendtypes[], void *recvbuf,
 const int recvcounts[], const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    return all_to_all("MPI_Alltoallw", sendbuf, sendcounts, sdispls, NULL, sendtypes, recvbuf, recvcounts, rdispls,
                      NULL, recvtypes, comm);
}
