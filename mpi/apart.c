/* SPDX-License-Identifier: MIT */
/* Do the buffers of a collective lie apart: the blocks that it receives from each other, and what it sends from what it receives? */
#include "mpi/collective.h"

static bool blocks_meet(const mpi__blocks *b, int p, int q)
{
    const char *x = mpi__data(b->types[p], b->buf + b->places[p]), *y = mpi__data(b->types[q], b->buf + b->places[q]);
    if (!b->counts[p] || !b->counts[q]) return false;
    return b->types[p]->dense && b->types[q]->dense && x < y + b->counts[q] && y < x + b->counts[p];
}

int mpi__check_each_apart(mpi__comm *c, const mpi__blocks *b)
{
    int last = -1; /* that is not empty */
    bool ascends = true;
    for (int q = 0; q < b->ranks && ascends; q++) {
        if (!b->counts[q]) continue;
        ascends = last < 0 || b->places[q] >= b->places[last] + (ptrdiff_t)b->counts[last];
        last = q;
    }
    for (int p = 0; !ascends && p < b->ranks; p++)
        for (int q = 0; q < p; q++)
            if (blocks_meet(b, p, q))
                return mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict",
                                    "the blocks of ranks %d and %d overlap in the receive buffer" MPI__TRY
                                    "displacements that are at least a block apart",
                                    q, p);
    return MPI_SUCCESS;
}

/* Of two with gaps nothing is known. */
static bool meets(const mpi__blocks *b, int q, const mpi__type *type, const char *buf, size_t count)
{
    const mpi__type *t = b->types[q];
    const char *block = b->buf + b->places[q];
    if (!b->counts[q]) return false;
    if (mpi__is_one_piece(type, count))
        return mpi__have(t, block, b->elements[q], (uintptr_t)mpi__data(type, buf), count * type->size);
    return mpi__is_one_piece(t, b->elements[q]) &&
           mpi__have(type, buf, count, (uintptr_t)mpi__data(t, block), b->counts[q]);
}

int mpi__check_apart(mpi__comm *c, const mpi__blocks *b, const mpi__type *type, const void *buf, size_t count,
                     const char *instead)
{
    for (int q = 0; q < b->ranks && count && type->size; q++)
        if (meets(b, q, type, buf, count))
            return mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict",
                                "the send buffer and the receive buffer overlap, at the block of rank %d" MPI__TRY
                                "MPI_IN_PLACE as the %s buffer",
                                q, instead);
    return MPI_SUCCESS;
}

/* Where its blocks lie, with the gaps between them. */
static void span_of(const mpi__blocks *b, uintptr_t *begin, uintptr_t *end)
{
    *begin = UINTPTR_MAX;
    *end = 0;
    for (int q = 0; q < b->ranks; q++) {
        const mpi__type *t = b->types[q];
        if (!b->counts[q]) continue;
        ptrdiff_t last = (ptrdiff_t)(b->elements[q] - 1) * t->extent, low = last < 0 ? last : 0;
        uintptr_t from = (uintptr_t)(b->buf + b->places[q] + t->true_lb + low);
        uintptr_t to = from + (uintptr_t)(last < 0 ? -last : last) + (uintptr_t)t->true_extent;
        *begin = from < *begin ? from : *begin;
        *end = to > *end ? to : *end;
    }
}

int mpi__check_blocks_apart(mpi__comm *c, const mpi__blocks *out, const mpi__blocks *in)
{
    uintptr_t begin, end, from, to;
    int code = MPI_SUCCESS;
    span_of(out, &begin, &end);
    span_of(in, &from, &to);
    bool near = begin < to && from < end;
    for (int p = 0; near && p < out->ranks && !code; p++)
        code = mpi__check_apart(c, in, out->types[p], out->buf + out->places[p], out->elements[p], "send");
    return code;
}
