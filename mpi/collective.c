/* SPDX-License-Identifier: MIT */
/*
 * Collectives that move data. Each checks its arguments inside a call of its own, and is then one of collectives/ on
 * bytes, under MPI's name: what the ranks compare is the number of predefined elements and their type, so that ranks may
 * describe the same data in different ways, as the standard allows.
 */
#include "mpi/collective.h"
#include "mpi/lines.h"

#include <stdlib.h>
#include <string.h>

/* ---- What all of them do ---- */

void mpi__go_on(mpi__comm *c, const p2p_fingerprint *as)
{
    const char *file;
    int line;
    p2p_layer_line(c->p2p, &file, &line);
    p2p_layer_call_end(c->p2p, P2P_OK);
    p2p__here(file, line);
    mpi__acts();
    p2p_layer_alias(c->p2p, as);
}

mpi__comm *mpi__quick(MPI_Comm comm)
{
    mpi__comm *c = mpi__state == MPI__RUNNING ? mpi__comm_of(comm) : NULL;
    mpi__stores = NULL;
    return c && !p2p_layer_is_inside(c->p2p) ? c : NULL;
}

void mpi__go_on_quick(mpi__comm *c, const p2p_fingerprint *as)
{
    if (!p2p_layer_line_is_noted()) mpi__note_line();
    mpi__acts();
    p2p_layer_alias(c->p2p, as);
}

int mpi__check_root(mpi__comm *c, int root)
{
    if (root >= 0 && root < c->size) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ROOT, P2P_ARGUMENT_ROOT,
                      "root %d is not a rank: not in [0,%d)" MPI__TRY "ranks of this communicator are 0 to %d", root,
                      c->size, c->size - 1);
}

size_t mpi__elements(const mpi__type *type, size_t count)
{
    return count * type->units * type->signature->length;
}

p2p_fingerprint mpi__shown(const char *name, const mpi__type *type, size_t count, int root)
{
    size_t elements = mpi__elements(type, count);
    return (p2p_fingerprint){
        .operation = name, .count = elements, .dtype = elements ? type->signature->like->name : NULL, .root = root};
}

/* Both sides of one rank's own block must be the same. */
int mpi__check_same(mpi__comm *c, const mpi__type *sent, size_t send_count, const mpi__type *received,
                    size_t recv_count)
{
    size_t out = mpi__elements(sent, send_count), in = mpi__elements(received, recv_count);
    if (out && in && sent->signature->like != received->signature->like && sent->signature->kind &&
        received->signature->kind)
        return mpi__mistake(c, MPI_ERR_TYPE, "type_mismatch", "this rank sends %s to itself, and receives %s",
                            sent->signature->name, received->signature->name);
    if (out != in)
        return mpi__mistake(c, MPI_ERR_COUNT, "count_mismatch",
                            "this rank sends %zu elements to itself, and receives %zu" MPI__TRY
                            "the same amount on both sides",
                            out, in);
    return MPI_SUCCESS;
}

void *mpi__copy(const void *from, size_t bytes)
{
    void *copy = malloc(bytes ? bytes : 1);
    if (copy) p2p_layer_copy(copy, from, bytes);
    return copy;
}

/* ---- Barrier, broadcast ---- */

API(Barrier)(MPI_Comm comm)
{
    static const p2p_fingerprint as = {.operation = "MPI_Barrier", .count = SIZE_MAX, .root = -1};
    mpi__comm *c = mpi__quick(comm);
    if (c) {
        mpi__go_on_quick(c, &as);
        return mpi__ended(c, coll_barrier(c->p2p));
    }
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Barrier"});
    if (code) return code;
    mpi__go_on(c, &as);
    return mpi__ended(c, coll_barrier(c->p2p));
}

static int check_broadcast(mpi__comm *c, void *buffer, int count, MPI_Datatype datatype, int root, mpi__type **t,
                           mpi__piece *piece)
{
    int code = mpi__check_data(c, buffer, count, datatype, t);
    if (!code) code = mpi__check_root(c, root);
    if (code) return code;
    return c->rank == root ? mpi__piece_out(c, *t, buffer, (size_t)count, piece)
                           : mpi__piece_in(c, *t, buffer, (size_t)count, piece);
}

API(Bcast)(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    mpi__type *t;
    mpi__piece piece;
    mpi__comm *c = mpi__quick(comm);
    bool quick = c && !check_broadcast(c, buffer, count, datatype, root, &t, &piece);
    if (!quick) {
        int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Bcast"});
        if (code) return code;
        code = check_broadcast(c, buffer, count, datatype, root, &t, &piece);
        if (code) return mpi__end(c, code);
    }
    const p2p_fingerprint as = mpi__shown("MPI_Bcast", t, (size_t)count, root);
    (quick ? mpi__go_on_quick : mpi__go_on)(c, &as);
    p2p_err err = coll_broadcast(c->p2p, piece.at, piece.bytes, DTYPE_U8, root);
    if (c->rank == root)
        free(piece.owned);
    else
        mpi__piece_in_done(t, buffer, &piece, err ? 0 : piece.bytes);
    return mpi__ended(c, err);
}

/* ---- Blocks of one length ---- */

API(Gather)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 int root, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL, *rt = NULL;
    mpi__piece out = {NULL, NULL, 0}, in = {NULL, NULL, 0};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Gather"});
    if (code) return code;
    bool at_root = c->rank == root, in_place = at_root && sendbuf == MPI_IN_PLACE;
    code = mpi__check_root(c, root);
    if (!code && !in_place) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code && at_root) code = mpi__check_data(c, recvbuf, recvcount, recvtype, &rt);
    if (!code && at_root && !in_place) code = mpi__check_same(c, st, (size_t)sendcount, rt, (size_t)recvcount);
    if (!code && !in_place) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount, &out);
    if (!code && at_root) code = mpi__piece_in(c, rt, recvbuf, (size_t)recvcount * (size_t)c->size, &in);
    if (!code && in_place) {
        out.bytes = (size_t)recvcount * rt->size;
        out.at = out.owned = malloc(out.bytes + 1);
        if (!out.owned) code = mpi__no_memory(c);
        if (!code)
            mpi__pack(rt, (char *)recvbuf + (ptrdiff_t)recvcount * rt->extent * root, (size_t)recvcount, out.owned);
    }
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = at_root ? mpi__shown("MPI_Gather", rt, (size_t)recvcount, root)
                                       : mpi__shown("MPI_Gather", st, (size_t)sendcount, root);
    mpi__go_on(c, &as);
    p2p_err err = coll_gather(c->p2p, out.at, in.at, out.bytes, DTYPE_U8, root);
    free(out.owned);
    if (at_root) mpi__piece_in_done(rt, recvbuf, &in, err ? 0 : in.bytes);
    return mpi__ended(c, err);
}

API(Scatter)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 int root, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL, *rt = NULL;
    mpi__piece out = {NULL, NULL, 0}, in = {NULL, NULL, 0};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Scatter"});
    if (code) return code;
    bool at_root = c->rank == root, in_place = at_root && recvbuf == MPI_IN_PLACE;
    code = mpi__check_root(c, root);
    if (!code && at_root) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code && !in_place) code = mpi__check_data(c, recvbuf, recvcount, recvtype, &rt);
    if (!code && at_root && !in_place) code = mpi__check_same(c, st, (size_t)sendcount, rt, (size_t)recvcount);
    if (!code && at_root) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount * (size_t)c->size, &out);
    if (!code && !in_place) code = mpi__piece_in(c, rt, recvbuf, (size_t)recvcount, &in);
    if (!code && in_place) {
        in.bytes = (size_t)sendcount * st->size;
        in.at = in.owned = malloc(in.bytes + 1);
        if (!in.owned) code = mpi__no_memory(c);
    }
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = at_root ? mpi__shown("MPI_Scatter", st, (size_t)sendcount, root)
                                       : mpi__shown("MPI_Scatter", rt, (size_t)recvcount, root);
    mpi__go_on(c, &as);
    p2p_err err = coll_scatter(c->p2p, out.at, in.at, in.bytes, DTYPE_U8, root);
    free(out.owned);
    if (!in_place)
        mpi__piece_in_done(rt, recvbuf, &in, err ? 0 : in.bytes);
    else
        free(in.owned);
    return mpi__ended(c, err);
}

API(Allgather)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL, *rt = NULL;
    mpi__piece out = {NULL, NULL, 0}, in = {NULL, NULL, 0};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Allgather"});
    if (code) return code;
    if (sendbuf != MPI_IN_PLACE) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code) code = mpi__check_data(c, recvbuf, recvcount, recvtype, &rt);
    if (!code && st) code = mpi__check_same(c, st, (size_t)sendcount, rt, (size_t)recvcount);
    if (!code && st) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount, &out);
    if (!code) code = mpi__piece_in(c, rt, recvbuf, (size_t)recvcount * (size_t)c->size, &in);
    if (!code && !st) {
        out.bytes = (size_t)recvcount * rt->size;
        out.at = out.owned = malloc(out.bytes + 1);
        if (!out.owned) code = mpi__no_memory(c);
        if (!code)
            mpi__pack(rt, (char *)recvbuf + (ptrdiff_t)recvcount * rt->extent * c->rank, (size_t)recvcount, out.owned);
    }
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = mpi__shown("MPI_Allgather", rt, (size_t)recvcount, -1);
    mpi__go_on(c, &as);
    p2p_err err = coll_all_gather(c->p2p, out.at, in.at, out.bytes, DTYPE_U8);
    free(out.owned);
    mpi__piece_in_done(rt, recvbuf, &in, err ? 0 : in.bytes);
    return mpi__ended(c, err);
}

API(Alltoall)
(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
 MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *st = NULL, *rt = NULL;
    mpi__piece out = {NULL, NULL, 0}, in = {NULL, NULL, 0};
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Alltoall"});
    if (code) return code;
    size_t ranks = (size_t)c->size;
    if (sendbuf != MPI_IN_PLACE) code = mpi__check_data(c, sendbuf, sendcount, sendtype, &st);
    if (!code) code = mpi__check_data(c, recvbuf, recvcount, recvtype, &rt);
    if (!code && st) code = mpi__check_same(c, st, (size_t)sendcount, rt, (size_t)recvcount);
    if (!code && st) code = mpi__piece_out(c, st, sendbuf, (size_t)sendcount * ranks, &out);
    if (!code) code = mpi__piece_in(c, rt, recvbuf, (size_t)recvcount * ranks, &in);
    if (!code && !st) {
        out.bytes = (size_t)recvcount * rt->size * ranks;
        out.at = out.owned = malloc(out.bytes + 1);
        if (!out.owned) code = mpi__no_memory(c);
        if (!code) mpi__pack(rt, recvbuf, (size_t)recvcount * ranks, out.owned);
    }
    if (code) return mpi__end(c, code);
    const p2p_fingerprint as = mpi__shown("MPI_Alltoall", rt, (size_t)recvcount, -1);
    mpi__go_on(c, &as);
    p2p_err err = coll_all_to_all(c->p2p, out.at, in.at, (size_t)recvcount * rt->size, DTYPE_U8);
    free(out.owned);
    mpi__piece_in_done(rt, recvbuf, &in, err ? 0 : in.bytes);
    return mpi__ended(c, err);
}
