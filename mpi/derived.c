/* SPDX-License-Identifier: MIT */
/*
 * Derived types. Every constructor makes a list of blocks: `length` elements of a type, one after the other from
 * `offset` on. What a type is follows from that list in one place:
 *
 *      segments      bytes side by side, in the order of the blocks; neighbours are one
 *      signature     the predefined types in that order (types.c)
 *      extent        from the lowest lb to the highest ub of an element; of a struct, rounded up to its alignment
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

typedef struct {
    ptrdiff_t offset;
    size_t length;
    mpi__type *type;
    size_t more; /* as many of the same behind it, `stride` bytes apart */
    ptrdiff_t stride;
} type_block;

/* ---- From blocks to a type ---- */

static bool add_segment(mpi__type *t, size_t *room, ptrdiff_t offset, size_t bytes)
{
    mpi__segment *last = t->segment_count ? &t->segments[t->segment_count - 1] : NULL;
    if (!bytes) return true;
    if (last && last->times == 1 && last->offset + (ptrdiff_t)last->bytes == offset) {
        last->bytes += bytes;
        return true;
    }
    if (last && last->bytes == bytes && offset > last->offset &&
        (last->times == 1 || last->offset + (ptrdiff_t)last->times * last->stride == offset)) {
        if (last->times++ == 1) last->stride = offset - last->offset;
        return true;
    }
    if (!t->segments || t->segment_count == *room) {
        mpi__segment *more = realloc(t->segments, (2 * *room + 4) * sizeof *more);
        if (!more) return false;
        t->segments = more;
        *room = 2 * *room + 4;
    }
    t->segments[t->segment_count++] = (mpi__segment){offset, bytes, 1, 0};
    return true;
}

/* A block of dense elements, and those behind it: one run, if they are apart and it is the first of them. */
static bool add_dense(mpi__type *t, size_t *room, const type_block *b)
{
    size_t bytes = b->length * b->type->size, before = t->segment_count;
    ptrdiff_t offset = b->offset + (b->type->segment_count ? b->type->segments[0].offset : 0);
    if (b->stride == (ptrdiff_t)bytes) return add_segment(t, room, offset, bytes * (b->more + 1));
    if (!add_segment(t, room, offset, bytes)) return false;
    if (b->more && t->segment_count > before && b->stride > (ptrdiff_t)bytes) {
        t->segments[before].times = b->more + 1;
        t->segments[before].stride = b->stride;
        return true;
    }
    bool done = true;
    for (size_t n = 1; n <= b->more && bytes && done; n++)
        done = add_segment(t, room, offset + (ptrdiff_t)n * b->stride, bytes);
    return done;
}

static bool add_segments(mpi__type *t, size_t *room, const type_block *b)
{
    if (b->type->dense && b->length) return add_dense(t, room, b);
    for (size_t n = 0; n <= b->more; n++)
        for (size_t i = 0; i < b->length; i++)
            for (size_t k = 0; k < b->type->segment_count; k++) {
                const mpi__segment s = b->type->segments[k];
                ptrdiff_t at = b->offset + (ptrdiff_t)n * b->stride + (ptrdiff_t)i * b->type->extent + s.offset;
                for (size_t m = 0; m < s.times; m++)
                    if (!add_segment(t, room, at + (ptrdiff_t)m * s.stride, s.bytes)) return false;
            }
    return true;
}

static void stretch(ptrdiff_t *low, ptrdiff_t *high, ptrdiff_t from, ptrdiff_t to, bool first)
{
    if (first || from < *low) *low = from;
    if (first || to > *high) *high = to;
}

static void find_extent(mpi__type *t, const type_block *blocks, size_t count, bool rounds)
{
    ptrdiff_t low = 0, high = 0, true_low = 0, true_high = 0;
    bool any = false, any_data = false;
    for (size_t i = 0; i < count; i++) {
        const type_block *b = &blocks[i];
        if (!b->length) continue;
        ptrdiff_t last = (ptrdiff_t)(b->length - 1) * b->type->extent, at = b->type->lb, end = at + b->type->extent;
        ptrdiff_t behind = (ptrdiff_t)b->more * b->stride;
        stretch(&low, &high, b->offset + at, b->offset + end, !any);
        stretch(&low, &high, b->offset + last + at, b->offset + last + end, false);
        stretch(&low, &high, b->offset + behind + at, b->offset + behind + end, false);
        stretch(&low, &high, b->offset + behind + last + at, b->offset + behind + last + end, false);
        any = true;
        if (b->type->alignment > t->alignment) t->alignment = b->type->alignment;
        t->fixed = t->fixed || b->type->fixed;
        if (!b->type->size) continue;
        at = b->type->true_lb, end = at + b->type->true_extent;
        stretch(&true_low, &true_high, b->offset + at, b->offset + end, !any_data);
        stretch(&true_low, &true_high, b->offset + last + at, b->offset + last + end, false);
        stretch(&true_low, &true_high, b->offset + behind + at, b->offset + behind + end, false);
        stretch(&true_low, &true_high, b->offset + behind + last + at, b->offset + behind + last + end, false);
        any_data = true;
    }
    t->lb = low;
    t->extent = high - low;
    t->true_lb = true_low;
    t->true_extent = true_high - true_low;
    ptrdiff_t unit = (ptrdiff_t)t->alignment;
    if (rounds && !t->fixed && unit > 1) t->extent = (t->extent + unit - 1) / unit * unit;
}

/* All blocks of one signature have it as well; others are written out. */
static bool find_signature(mpi__type *t, const type_block *blocks, size_t count)
{
    static const unsigned char nothing[1];
    const mpi__signature *s = NULL;
    size_t units = 0, codes = 0, times, used = 0;
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        const mpi__type *type = blocks[i].type;
        if (!blocks[i].length || !type->units) continue;
        same = same && (!s || s == type->signature);
        s = type->signature;
        units += blocks[i].length * (blocks[i].more + 1) * type->units;
        codes += blocks[i].length * (blocks[i].more + 1) * type->units * s->length;
    }
    t->units = units;
    t->signature = s ? s : mpi__signature_of(nothing, 0, &times);
    if (same) return t->signature;
    if (codes > MPI__CODES_MOST) {
        const unsigned char anything = (uintptr_t)MPI_PACKED & 0xff;
        t->signature = mpi__signature_of(&anything, 1, &times);
        t->units = t->size;
        return t->signature;
    }
    unsigned char *all = malloc(codes + 1);
    if (!all) return false;
    for (size_t i = 0; i < count; i++) {
        const mpi__type *type = blocks[i].type;
        for (size_t k = 0; k < blocks[i].length * (blocks[i].more + 1) * type->units; k++) {
            memcpy(all + used, type->signature->codes, type->signature->length);
            used += type->signature->length;
        }
    }
    t->signature = mpi__signature_of(all, used, &t->units);
    free(all);
    return t->signature;
}

enum { COMPARED_MOST = 256 };

static ptrdiff_t end_of(const mpi__segment *s)
{
    return s->offset + (ptrdiff_t)(s->times - 1) * s->stride + (ptrdiff_t)s->bytes;
}

/* Has a run a piece that these bytes meet? */
static bool meets(const mpi__segment *s, ptrdiff_t at, size_t bytes)
{
    for (size_t n = 0; n < s->times; n++) {
        ptrdiff_t begin = s->offset + (ptrdiff_t)n * s->stride;
        if (begin < at + (ptrdiff_t)bytes && at < begin + (ptrdiff_t)s->bytes) return true;
    }
    return false;
}

static bool overlaps(const mpi__type *t)
{
    bool ascends = true;
    size_t pieces = 0;
    for (size_t i = 0; i < t->segment_count; i++) {
        const mpi__segment *s = &t->segments[i];
        if (s->times > 1 && s->stride < (ptrdiff_t)s->bytes) return true;
        ascends = ascends && (!i || s->offset >= end_of(s - 1));
        pieces += s->times;
    }
    if (ascends || pieces > COMPARED_MOST) return false;
    for (size_t i = 0; i < t->segment_count; i++)
        for (size_t k = 0; k < i; k++)
            for (size_t n = 0; n < t->segments[i].times; n++)
                if (meets(&t->segments[k], t->segments[i].offset + (ptrdiff_t)n * t->segments[i].stride,
                          t->segments[i].bytes))
                    return true;
    return false;
}

/* Its elements lie side by side: they have one piece each, and no gap. */
static bool is_dense(const mpi__type *t)
{
    bool one = t->segment_count == 0 || (t->segment_count == 1 && t->segments->times == 1);
    return one && (ptrdiff_t)t->size == t->extent;
}

static mpi__type *make(const type_block *blocks, size_t count, bool rounds)
{
    size_t room = 0;
    mpi__type *t = mpi__object_new(MPI__TYPE, sizeof *t);
    if (!t) return NULL;
    t->handle = (MPI_Datatype)(void *)t;
    t->handles = 1;
    bool done = true;
    for (size_t i = 0; i < count && done; i++) {
        t->size += blocks[i].length * (blocks[i].more + 1) * blocks[i].type->size;
        done = add_segments(t, &room, &blocks[i]);
    }
    find_extent(t, blocks, count, rounds);
    if (done && find_signature(t, blocks, count)) {
        t->dense = is_dense(t);
        t->overlaps = overlaps(t);
        return t;
    }
    mpi__type_drop(t);
    return NULL;
}

/* ---- Calls ---- */

/* What a constructor was given, for MPI_Type_get_contents. */
typedef struct {
    const char *name;
    int combiner;
    int ints;
    const int *int_values;
    int int_lists; /* so many lists of int_list values each follow int_values */
    const int *lists[3];
    int list_length;
    int aints;
    const MPI_Aint *aint_values;
    int types;
    const MPI_Datatype *type_values;
} given;

static bool keep_given(mpi__type *t, const given *g)
{
    t->combiner = g->combiner;
    t->int_count = g->ints + g->int_lists * g->list_length;
    t->aint_count = g->aints;
    t->ints = malloc(((size_t)t->int_count + 1) * sizeof *t->ints);
    t->aints = malloc(((size_t)t->aint_count + 1) * sizeof *t->aints);
    t->types = malloc(((size_t)g->types + 1) * sizeof *t->types);
    if (!t->ints || !t->aints || !t->types) return false;
    int used = 0;
    for (int i = 0; i < g->ints; i++) t->ints[used++] = g->int_values[i];
    for (int l = 0; l < g->int_lists; l++)
        for (int i = 0; i < g->list_length; i++) t->ints[used++] = g->lists[l][i];
    for (int i = 0; i < g->aints; i++) t->aints[i] = g->aint_values[i];
    for (int i = 0; i < g->types; i++) {
        t->types[i] = mpi__type_of(g->type_values[i]);
        mpi__type_keep(t->types[i]);
    }
    t->type_count = g->types;
    return true;
}

/* The end of every constructor. `blocks` is the caller's; NULL: there was no memory for it. */
static int give(mpi__comm *c, mpi__type *t, const given *g, MPI_Datatype *newtype)
{
    if (!t) return mpi__end(c, mpi__no_memory(c));
    if (!keep_given(t, g)) {
        mpi__type_drop(t);
        return mpi__end(c, mpi__no_memory(c));
    }
    p2p_layer_made(c->p2p, "type", &t->object.thing);
    *newtype = t->handle;
    return mpi__end(c, MPI_SUCCESS);
}

static int begin(const char *name, int count, MPI_Datatype oldtype, MPI_Datatype *newtype, mpi__comm **c,
                 mpi__type **old)
{
    int code = mpi__begin_local(c, name);
    if (code) return code;
    if (count < 0) code = mpi__wrong(*c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %d is negative", count);
    if (!code) code = mpi__check_pointer(*c, newtype, "newtype");
    if (!code) code = mpi__check_type(*c, oldtype, old);
    return code ? mpi__end(*c, code) : MPI_SUCCESS;
}

static int negative_length(mpi__comm *c, int length)
{
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "a block length of %d is negative", length);
}

API(Type_contiguous)(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_contiguous", count, oldtype, newtype, &c, &old);
    if (code) return code;
    const given g = {"", MPI_COMBINER_CONTIGUOUS, 1, &count, 0, {NULL}, 0, 0, NULL, 1, &oldtype};
    return give(c, make(&(type_block){0, (size_t)count, old, 0, 0}, 1, false), &g, newtype);
}

/* stride in bytes */
static mpi__type *strided(int count, int blocklength, ptrdiff_t stride, mpi__type *old)
{
    const type_block block = {0, (size_t)blocklength, old, count > 0 ? (size_t)count - 1 : 0, stride};
    return make(&block, count > 0, false);
}

API(Type_vector)(int count, int blocklength, int stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_vector", count, oldtype, newtype, &c, &old);
    if (code) return code;
    if (blocklength < 0) return mpi__end(c, negative_length(c, blocklength));
    const int ints[] = {count, blocklength, stride};
    const given g = {"", MPI_COMBINER_VECTOR, 3, ints, 0, {NULL}, 0, 0, NULL, 1, &oldtype};
    return give(c, strided(count, blocklength, stride * old->extent, old), &g, newtype);
}

API(Type_create_hvector)(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_hvector", count, oldtype, newtype, &c, &old);
    if (code) return code;
    if (blocklength < 0) return mpi__end(c, negative_length(c, blocklength));
    const int ints[] = {count, blocklength};
    const given g = {"", MPI_COMBINER_HVECTOR, 2, ints, 0, {NULL}, 0, 1, &stride, 1, &oldtype};
    return give(c, strided(count, blocklength, stride, old), &g, newtype);
}

static int no_list(mpi__comm *c)
{
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "a list of lengths, displacements or types is NULL");
}

/* Blocks at displacements: in bytes (bytes), or in elements of old (elements); lengths may be one for all. */
static mpi__type *listed(mpi__comm *c, int *code, int count, const int lengths[], int length, const MPI_Aint bytes[],
                         const int elements[], mpi__type *old)
{
    if (count && ((!bytes && !elements) || (!lengths && length < 0))) *code = no_list(c);
    type_block *blocks = malloc(((size_t)count + 1) * sizeof *blocks);
    for (int i = 0; blocks && i < count && !*code; i++) {
        int own = lengths ? lengths[i] : length;
        if (own < 0) *code = negative_length(c, own);
        blocks[i] = (type_block){bytes ? bytes[i] : elements ? elements[i] * old->extent : 0, (size_t)own, old, 0, 0};
    }
    mpi__type *t = blocks && !*code ? make(blocks, (size_t)count, false) : NULL;
    free(blocks);
    return t;
}

API(Type_indexed)
(int count, const int lengths[], const int displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_indexed", count, oldtype, newtype, &c, &old);
    if (code) return code;
    mpi__type *t = listed(c, &code, count, lengths, -1, NULL, displacements, old);
    if (code) return mpi__end(c, code);
    const given g = {"", MPI_COMBINER_INDEXED, 1, &count, 2, {lengths, displacements}, count, 0, NULL, 1, &oldtype};
    return give(c, t, &g, newtype);
}

API(Type_create_hindexed)
(int count, const int lengths[], const MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_hindexed", count, oldtype, newtype, &c, &old);
    if (code) return code;
    mpi__type *t = listed(c, &code, count, lengths, -1, displacements, NULL, old);
    if (code) return mpi__end(c, code);
    const given g = {"", MPI_COMBINER_HINDEXED, 1, &count, 1, {lengths}, count, count, displacements, 1, &oldtype};
    return give(c, t, &g, newtype);
}

API(Type_create_indexed_block)
(int count, int blocklength, const int displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_indexed_block", count, oldtype, newtype, &c, &old);
    if (code) return code;
    if (blocklength < 0) return mpi__end(c, negative_length(c, blocklength));
    mpi__type *t = listed(c, &code, count, NULL, blocklength, NULL, displacements, old);
    if (code) return mpi__end(c, code);
    const int ints[] = {count, blocklength};
    const given g = {"", MPI_COMBINER_INDEXED_BLOCK, 2, ints, 1, {displacements}, count, 0, NULL, 1, &oldtype};
    return give(c, t, &g, newtype);
}

API(Type_create_hindexed_block)
(int count, int blocklength, const MPI_Aint displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_hindexed_block", count, oldtype, newtype, &c, &old);
    if (code) return code;
    if (blocklength < 0) return mpi__end(c, negative_length(c, blocklength));
    mpi__type *t = listed(c, &code, count, NULL, blocklength, displacements, NULL, old);
    if (code) return mpi__end(c, code);
    const int ints[] = {count, blocklength};
    const given g = {"", MPI_COMBINER_HINDEXED_BLOCK, 2, ints, 0, {NULL}, 0, count, displacements, 1, &oldtype};
    return give(c, t, &g, newtype);
}

API(Type_create_struct)
(int count, const int lengths[], const MPI_Aint displacements[], const MPI_Datatype types[], MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_struct", count, count > 0 && types ? types[0] : MPI_BYTE, newtype, &c, &old);
    if (code) return code;
    if (count && !(lengths && displacements && types)) code = no_list(c);
    type_block *blocks = malloc(((size_t)count + 1) * sizeof *blocks);
    for (int i = 0; blocks && i < count && !code; i++) {
        code = mpi__check_type(c, types[i], &old);
        if (!code && lengths[i] < 0) code = negative_length(c, lengths[i]);
        if (!code) blocks[i] = (type_block){displacements[i], (size_t)lengths[i], old, 0, 0};
    }
    mpi__type *t = blocks && !code ? make(blocks, (size_t)count, true) : NULL;
    free(blocks);
    if (code) return mpi__end(c, code);
    const given g = {"", MPI_COMBINER_STRUCT, 1, &count, 1, {lengths}, count, count, displacements, count, types};
    return give(c, t, &g, newtype);
}

API(Type_create_resized)(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_resized", 0, oldtype, newtype, &c, &old);
    if (code) return code;
    mpi__type *t = make(&(type_block){0, 1, old, 0, 0}, 1, false);
    if (t) {
        t->lb = lb;
        t->extent = extent;
        t->fixed = true;
        t->dense = is_dense(t);
    }
    const MPI_Aint aints[] = {lb, extent};
    const given g = {"", MPI_COMBINER_RESIZED, 0, NULL, 0, {NULL}, 0, 2, aints, 1, &oldtype};
    return give(c, t, &g, newtype);
}

/* Row by row of the part, in the order in which memory lies; `low` is the dimension that runs fastest. */
static mpi__type *part_of_array(int dims, const int sizes[], const int parts[], const int starts[], bool c_order,
                                mpi__type *old)
{
    size_t rows = 1, all = 1;
    int at[32] = {0}, fastest = c_order ? dims - 1 : 0;
    for (int i = 0; i < dims; i++) {
        all *= (size_t)sizes[i];
        if (i != fastest) rows *= (size_t)parts[i];
    }
    type_block *blocks = malloc((rows + 1) * sizeof *blocks);
    if (!blocks) return NULL;
    for (size_t r = 0; r < rows; r++) {
        size_t offset = 0;
        for (int k = 0; k < dims; k++) {
            int i = c_order ? k : dims - 1 - k;
            offset = offset * (size_t)sizes[i] + (size_t)(starts[i] + (i == fastest ? 0 : at[i]));
        }
        blocks[r] = (type_block){(ptrdiff_t)offset * old->extent, (size_t)parts[fastest], old, 0, 0};
        for (int k = 1; k < dims; k++) { /* the next row: the dimension beside the fastest counts first */
            int i = c_order ? dims - 1 - k : k;
            if (++at[i] < parts[i]) break;
            at[i] = 0;
        }
    }
    mpi__type *t = make(blocks, rows, false);
    free(blocks);
    if (!t) return NULL;
    t->lb = 0;
    t->extent = (ptrdiff_t)all * old->extent;
    t->fixed = true;
    t->dense = is_dense(t);
    return t;
}

API(Type_create_subarray)
(int ndims, const int sizes[], const int subsizes[], const int starts[], int order, MPI_Datatype oldtype,
 MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_create_subarray", ndims, oldtype, newtype, &c, &old);
    if (code) return code;
    if (ndims < 1 || ndims > 32)
        code = mpi__wrong(c, MPI_ERR_DIMS, P2P_ARGUMENT_OTHER, "an array of %d dimensions is impossible here", ndims);
    if (!code && order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "the order is neither MPI_ORDER_C nor MPI_ORDER_FORTRAN");
    for (int i = 0; i < ndims && !code; i++)
        if (sizes[i] < 1 || subsizes[i] < 1 || starts[i] < 0 || starts[i] > sizes[i] - subsizes[i])
            code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER,
                              "in dimension %d: %d elements from %d on are not in %d", i, subsizes[i], starts[i],
                              sizes[i]);
    if (code) return mpi__end(c, code);
    int numbers[32 * 3 + 2] = {ndims};
    for (int i = 0; i < ndims; i++) {
        numbers[1 + i] = sizes[i];
        numbers[1 + ndims + i] = subsizes[i];
        numbers[1 + 2 * ndims + i] = starts[i];
    }
    numbers[1 + 3 * ndims] = order;
    const given g = {"", MPI_COMBINER_SUBARRAY, 2 + 3 * ndims, numbers, 0, {NULL}, 0, 0, NULL, 1, &oldtype};
    return give(c, part_of_array(ndims, sizes, subsizes, starts, order == MPI_ORDER_C, old), &g, newtype);
}

API(Type_dup)(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    mpi__comm *c;
    mpi__type *old;
    int code = begin("MPI_Type_dup", 0, oldtype, newtype, &c, &old);
    if (code) return code;
    mpi__type *t = make(&(type_block){0, 1, old, 0, 0}, 1, false);
    if (t) {
        t->lb = old->lb;
        t->extent = old->extent;
        t->fixed = old->fixed;
        t->dense = old->dense;
        t->committed = old->committed;
        code = mpi__attributes_copy(&t->attributes, &old->attributes, (uintptr_t)oldtype, true);
    }
    if (code) {
        mpi__attributes_free(&t->attributes, (uintptr_t)t->handle, true);
        mpi__type_drop(t);
        return mpi__end(c, mpi__attribute_failed(c, code, "copies"));
    }
    const given g = {"", MPI_COMBINER_DUP, 0, NULL, 0, {NULL}, 0, 0, NULL, 1, &oldtype};
    return give(c, t, &g, newtype);
}

API(Type_commit)(MPI_Datatype *datatype)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin_local(&c, "MPI_Type_commit");
    if (code) return code;
    code = mpi__check_pointer(c, datatype, "datatype");
    if (!code) code = mpi__check_type(c, *datatype, &t);
    if (!code) t->committed = true;
    return mpi__end(c, code);
}

API(Type_free)(MPI_Datatype *datatype)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin_local(&c, "MPI_Type_free");
    if (code) return code;
    code = mpi__check_pointer(c, datatype, "datatype");
    if (!code) code = mpi__check_type(c, *datatype, &t);
    if (!code && t->like)
        code = mpi__wrong(c, MPI_ERR_TYPE, P2P_ARGUMENT_TYPE, "%s is predefined, and cannot be freed", t->name);
    if (code) return mpi__end(c, code);
    if (t->handles == 1) code = mpi__attributes_free(&t->attributes, (uintptr_t)*datatype, true);
    if (code) return mpi__end(c, mpi__attribute_failed(c, code, "deletes"));
    *datatype = MPI_DATATYPE_NULL;
    if (--t->handles == 0) p2p_layer_given_back(&t->object.thing);
    mpi__type_drop(t);
    return mpi__end(c, MPI_SUCCESS);
}
