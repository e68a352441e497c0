/* SPDX-License-Identifier: MIT */
/* Buffers that operations have until they end: which bytes belong to one. */
#include "mpi/collective.h"

uintptr_t mpi__regions_begin = UINTPTR_MAX, mpi__regions_end;

bool mpi__looks;
bool (*mpi__block_of)(uintptr_t at, uintptr_t *begin, uintptr_t *end);
const MPI_Request *mpi__stores;
int mpi__collectives_pending;
static mpi__region *regions;

/* The bytes from the first of these elements to the last; of a type that goes down, those of one. */
static size_t span(const mpi__type *t, size_t count)
{
    ptrdiff_t across = (ptrdiff_t)(count - 1) * t->extent;
    return (size_t)((across > 0 ? across : 0) + t->true_extent);
}

/* The same, wherever they lie. */
static void bounds(mpi__region *region, const mpi__type *t, const char *buf, size_t count)
{
    if (!count || !t->size) return;
    ptrdiff_t across = (ptrdiff_t)(count - 1) * t->extent, low = across < 0 ? across : 0,
              high = across > 0 ? across : 0;
    uintptr_t first = (uintptr_t)(buf + t->true_lb);
    uintptr_t begin = first + (uintptr_t)low, end = first + (uintptr_t)(high + t->true_extent);
    if (begin < region->begin) region->begin = begin;
    if (end > region->end) region->end = end;
}

static void insert(mpi__region *region)
{
    region->next = regions;
    region->link = &regions;
    if (regions) regions->link = &region->next;
    regions = region;
    if (region->begin < mpi__regions_begin) mpi__regions_begin = region->begin;
    if (region->end > mpi__regions_end) mpi__regions_end = region->end;
}

void mpi__region_open(mpi__region *region, const mpi__request *request)
{
    const mpi__blocks *b = region->blocks;
    if (!mpi__looks && !request->collective) return;
    region->begin = UINTPTR_MAX;
    region->end = 0;
    if (region->type) bounds(region, region->type, region->buf, region->count);
    for (int q = 0; b && q < b->ranks; q++)
        if (b->elements[q]) bounds(region, b->types[q], b->buf + b->places[q], b->elements[q]);
    if (region->begin >= region->end) return;
    region->comm = request->comm;
    region->collective = request->collective;
    mpi__collectives_pending += region->collective;
    region->name = request->name;
    region->file = request->file;
    region->line = request->line;
    insert(region);
}

void mpi__region_of_status(mpi__region *region, const MPI_Status *status)
{
    *region = (mpi__region){.begin = (uintptr_t)&status->MPI_SOURCE,
                            .end = (uintptr_t)(&status->MPI_TAG + 1),
                            .received = true,
                            .is_status = true};
    insert(region);
}

void mpi__region_close(mpi__region *region)
{
    if (!region->link) return;
    mpi__collectives_pending -= region->collective;
    *region->link = region->next;
    if (region->next) region->next->link = region->link;
    region->link = NULL;
    if (regions) return;
    mpi__regions_begin = UINTPTR_MAX;
    mpi__regions_end = 0;
}

static bool meet(uintptr_t a, size_t bytes, uintptr_t b, size_t more)
{
    return a < b + more && b < a + bytes;
}

/* The first piece that ends behind `at` is the only one that counts. */
static bool run_meets(const mpi__segment *s, uintptr_t begin, uintptr_t at, size_t bytes)
{
    size_t n = 0;
    if (s->times > 1 && at >= begin + s->bytes) n = (at - begin - s->bytes) / (size_t)s->stride + 1;
    return n < s->times && meet(begin + n * (size_t)s->stride, s->bytes, at, bytes);
}

bool mpi__have(const mpi__type *t, const char *buf, size_t count, uintptr_t at, size_t bytes)
{
    if (t->dense) return meet((uintptr_t)mpi__data(t, buf), count * t->size, at, bytes);
    ptrdiff_t from = (ptrdiff_t)(at - (uintptr_t)buf) - t->true_lb; /* the first element's first byte is 0 */
    size_t i = 0;
    if (t->extent > 0 && from > t->true_extent) i = (size_t)((from - t->true_extent) / t->extent);
    for (; i < count; i++) {
        ptrdiff_t place = (ptrdiff_t)i * t->extent;
        if (t->extent > 0 && place >= from + (ptrdiff_t)bytes) return false;
        for (size_t k = 0; k < t->segment_count; k++)
            if (run_meets(&t->segments[k], (uintptr_t)(buf + place + t->segments[k].offset), at, bytes)) return true;
    }
    return false;
}

/* The region has one of these bytes, and they may not be accessed so. */
static bool conflicts(const mpi__region *r, uintptr_t at, size_t bytes, bool writes)
{
    if (!meet(r->begin, r->end - r->begin, at, bytes) || (!writes && !r->received)) return false;
    if (r->is_status || (r->type && mpi__have(r->type, r->buf, r->count, at, bytes))) return true;
    for (int q = 0; r->blocks && q < r->blocks->ranks; q++)
        if (mpi__have(r->blocks->types[q], r->blocks->buf + r->blocks->places[q], r->blocks->elements[q], at, bytes))
            return true;
    return false;
}

mpi__region *mpi__region_at(uintptr_t at, size_t bytes, bool writes)
{
    for (mpi__region *r = regions; r; r = r->next)
        if (conflicts(r, at, bytes, writes)) return r;
    return NULL;
}

/* The same call as before is about to put its request over that of the operation that has the buffer: not the buffer is the
 * mistake, but that nothing has waited. */
static const mpi__request *overwritten(mpi__comm *c)
{
    bool freed;
    const char *file;
    int line;
    const mpi__request *r = mpi__stores ? mpi__request_of(*mpi__stores, &freed) : NULL;
    p2p_layer_line(c->p2p, &file, &line);
    return r && r->active && !r->persistent && !r->orphan && r->line == line ? r : NULL;
}

static int lost(mpi__comm *c, const mpi__request *r)
{
    int code = mpi__mistake(
        c, MPI_ERR_REQUEST, "request_leak",
        "its request takes the place of that of the %s before, from the same line, which still has the "
        "buffer and was never waited for" MPI__TRY "MPI_Wait before the next one, or a request and a buffer for each",
        r->name);
    p2p_layer_other_line(c->p2p, r->name, r->file, r->line);
    return code;
}

/* p2p knows the buffers of messages that lie in one piece; those of collectives are here. */
static int check_bytes(mpi__comm *c, const void *buf, size_t bytes, bool writes)
{
    p2p_err err = p2p_layer_check_buffer(c->p2p, buf, bytes, writes);
    const mpi__request *before = err ? overwritten(c) : NULL;
    if (before) return lost(c, before);
    if (err) return mpi__p2p(c, err);
    for (const mpi__region *r = mpi__collectives_pending ? regions : NULL; r; r = r->next) {
        if (!r->collective || !conflicts(r, (uintptr_t)buf, bytes, writes)) continue;
        before = overwritten(c);
        if (before) return lost(c, before);
        int code = mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict",
                                "this buffer overlaps one that %s on line %d %s, and has not ended" MPI__TRY
                                "MPI_Wait for its request first, or another buffer",
                                r->name, r->line, r->received ? "receives into" : "sends");
        p2p_layer_other_line(c->p2p, r->name, r->file, r->line);
        return code;
    }
    return MPI_SUCCESS;
}

enum { LOOKED_AT = 4096 /* pieces of a buffer with gaps */ };

/* ---- The heap: is the memory there that the call is going to access? ---- */

/* The block that was found last: most pieces of a buffer lie in one. */
typedef struct {
    uintptr_t begin, end;
} block;

/* Of a byte that lies in no block nothing is known. */
static bool is_too_long(block *b, const void *at, size_t bytes)
{
    uintptr_t first = (uintptr_t)at;
    bool known = first >= b->begin && first < b->end;
    return (known || mpi__block_of(first, &b->begin, &b->end)) && bytes > b->end - first;
}

/* `bytes` bytes from `at` on do not lie in the block. Where its elements begin there as well, all of them are told. */
static int too_short(mpi__comm *c, const block *b, const void *at, size_t bytes, const mpi__type *t, const char *buf,
                     size_t count, bool writes)
{
    uintptr_t first = (uintptr_t)(buf + t->true_lb), from = (uintptr_t)at;
    if (first >= b->begin && first <= from) {
        bytes += from - first;
        from = first;
    }
    return mpi__wrong(
        c, MPI_ERR_BUFFER, P2P_ARGUMENT_BUFFER,
        "%zu bytes are %s this buffer (%zu x %s), but the memory that was allocated has %zu from there on" MPI__TRY
        "count is in elements of the type, malloc's size in bytes; rows that were allocated one by one are "
        "not one buffer",
        bytes, writes ? "received into" : "sent from", count, t->name[0] ? t->name : t->signature->name,
        (size_t)(b->end - from));
}

int mpi__check_displacement(mpi__comm *c, const void *buf, const void *at, int q, int displacement)
{
    uintptr_t begin, end;
    if (!mpi__looks || !mpi__block_of || !mpi__block_of((uintptr_t)buf, &begin, &end)) return MPI_SUCCESS;
    if ((uintptr_t)at >= begin && (uintptr_t)at < end) return MPI_SUCCESS;
    return mpi__wrong(
        c, MPI_ERR_ARG, P2P_ARGUMENT_BUFFER,
        "the block of rank %d, at displacement %d, begins outside of the memory that was allocated" MPI__TRY
        "displacements count elements from the buffer on; did an index overflow an int?",
        q, displacement);
}

static int check_room(mpi__comm *c, const mpi__type *t, const char *buf, size_t count, bool writes)
{
    block b = {0, 0};
    size_t looked_at = 0;
    if (mpi__is_one_piece(t, count)) {
        const void *at = mpi__data(t, buf);
        return is_too_long(&b, at, count * t->size) ? too_short(c, &b, at, count * t->size, t, buf, count, writes)
                                                    : MPI_SUCCESS;
    }
    for (size_t i = count; i-- > 0;) /* the last is that which a short buffer lacks */
        for (size_t k = t->segment_count; k-- > 0;) {
            const mpi__segment s = t->segments[k];
            for (size_t n = s.times; n-- > 0;) {
                if (looked_at++ == LOOKED_AT) return MPI_SUCCESS;
                const char *at = buf + (ptrdiff_t)i * t->extent + s.offset + (ptrdiff_t)n * s.stride;
                if (is_too_long(&b, at, s.bytes)) return too_short(c, &b, at, s.bytes, t, buf, count, writes);
            }
        }
    return MPI_SUCCESS;
}

int mpi__check_unused(mpi__comm *c, const mpi__type *t, const void *buf, size_t count, bool writes)
{
    size_t looked_at = 0;
    if (!count || !t->size) return MPI_SUCCESS;
    p2p_layer_buffer(c->p2p, (const char *)buf + t->true_lb, span(t, count), writes);
    int short_of = mpi__looks && mpi__block_of ? check_room(c, t, buf, count, writes) : MPI_SUCCESS;
    if (short_of) return short_of;
    if (mpi__is_one_piece(t, count)) return check_bytes(c, mpi__data(t, buf), count * t->size, writes);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < t->segment_count; k++) {
            const mpi__segment s = t->segments[k];
            for (size_t n = 0; n < s.times; n++) {
                if (looked_at++ == LOOKED_AT) return MPI_SUCCESS;
                const char *at = (const char *)buf + (ptrdiff_t)i * t->extent + s.offset + (ptrdiff_t)n * s.stride;
                int code = check_bytes(c, at, s.bytes, writes);
                if (code) return code;
            }
        }
    return MPI_SUCCESS;
}
