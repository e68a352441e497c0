/* SPDX-License-Identifier: MIT */
/*
 * Two-shot all-reduce: every rank owns a slice, combines it straight out of all ranks' memory, and then takes the other
 * slices from their owners. No messages; only where ranks share memory. Three ranks, the buffer in slices 0, 1, 2:
 *
 *      rank                 0             1             2
 *      has                  a0 a1 a2      b0 b1 b2      c0 c1 c2
 *      (barrier)
 *      combines its own     a0+b0+c0      a1+b1+c1      a2+b2+c2        reading the others' where they lie
 *      (barrier)
 *      takes the others     0 1 2         0 1 2         0 1 2
 *
 * It does so in rounds, so short that what is read again is still in a cache. A rank whose buffer is not shared memory
 * (p2p_alloc) copies what others will combine into its scratch segment (p2p_layer_scratch) a round ahead; that copy in
 * a cache costs less than to have the system copy from another process (process_vm_readv took three to four times as
 * long where this was written). Results are passed on through the segments too, so no rank waits for the last reader of
 * its buffer:
 *
 *      round k      combine k;  copy k + 1 into the segment;  barrier;  take k from the owners' segments
 *
 * Where three or more ranks take turns on a core, a barrier costs each of them a turn, which takes longer than to combine a
 * short buffer. There who finds that all have come to the first barrier combines block after block, of any slice, until
 * none is left (p2p_layer_next_part); the others find the results when it is their turn. The sums are the same: only who
 * computes them is not. For this a rank copies its own slice as well, and the last to come leaves first: with two ranks on a
 * core, or long buffers, that costs more than the turn.
 *
 * A segment of three rounds ago may be written to again: a barrier lies between that and the last copy out of it.
 * Others' buffers are read only to combine, the last time before the last barrier or the end of the last part, so that no
 * buffer is still read when its owner has left.
 *
 * 2 steps, and one barrier a round. Every rank reads 2(n-1)/n S from others, as in reduce-scatter and all-gather:
 * counted as two messages from each rank to each. Combines (n-1)/n S. In rank order: ((x0 + x1) + x2) + ..., so all get
 * the same bits, those of the naive algorithm.
 */
#include "collectives/internal.h"
#include "ring/ring.h"

enum { BLOCK = 8 * 1024 }; /* bytes combined at a time: the sum so far stays in the nearest cache */
enum { LINE = 64 };        /* slices in a segment begin with a cache line, where there are not too many of them */
enum { ELEMENT_MOST = 8 }; /* bytes of an element of a built-in type */
/* Bytes of a slice in one round. What all ranks copy in a round, three rounds of it, stays in a cache that cores share: with
 * slices of 128 KiB it is 24 MiB with 8 ranks, and where the cache is of 32 MiB took twice as long as with these. */
enum { SLICE_MOST = 128 * 1024, SLICE_LEAST = 8 * 1024, COPIED_BY_ALL = 2 * 1024 * 1024 };

/* Combined by whoever comes: with so many ranks on a core or more, and up to so many bytes of a buffer for each of them. With
 * 5, 6, 8 and 16 ranks on two cores it took two thirds of the time up to there, and as long as by owners at twice that. */
enum { LEAST_TURNS = 3, MOST_A_TURN = 16 * 1024 };

/* A bit of the reach that travels with the call (p2p_export): others may combine this rank's slice. */
#define IN_PARTS (UINT64_C(1) << 63)

typedef struct {
    frame__call *call;
    bool is_shared;                      /* this rank's buffer, as far as this rank knows */
    bool may_be_in_parts, in_parts;      /* others may combine this rank's slice; any slice */
    const char *attached[P2P_MAX_RANKS]; /* every rank's buffer, where it can be read in place; else NULL */
    size_t slot, slice; /* of a slice: bytes in a segment (0: no round yet); elements at most in a round */
} two_shot;

/* Elements [first, first + count) of the buffer, and where they go. */
typedef struct {
    size_t first, count;
    bool is_last;
    p2p_scratch scratch;
} round;

static void slice_of(const two_shot *d, const round *r, int q, size_t *first, size_t *count)
{
    ring_chunk(r->count, d->call->size, q, first, count);
    *first += r->first;
}

/* Where slice q lies in a rank's segment. */
static char *in_segment(const two_shot *d, const round *r, int rank, int q)
{
    return (char *)r->scratch.first + (size_t)rank * r->scratch.stride + (size_t)q * d->slot;
}

/* A slot for the longest slice there may be, in the first round. */
static size_t slot_wanted(const two_shot *d)
{
    size_t n = (size_t)d->call->size, bytes = (d->call->count + n - 1) / n * d->call->element;
    size_t most = COPIED_BY_ALL / (n * n) / LINE * LINE;
    if (most > SLICE_MOST) most = SLICE_MOST;
    if (most < SLICE_LEAST) most = SLICE_LEAST;
    return bytes < most ? (bytes + LINE - 1) / LINE * LINE : most;
}

size_t coll__two_shot_slot(size_t segment, int n)
{
    size_t bytes = segment / (size_t)n, unit = bytes < LINE ? ELEMENT_MOST : LINE;
    return bytes / unit * unit;
}

bool coll__two_shot_has_room(const p2p_comm *comm, size_t element)
{
    return element <= BLOCK && element <= coll__two_shot_slot(p2p_layer_scratch_most(comm), p2p_size(comm));
}

static p2p_err begin_round(two_shot *d, size_t first, round *r)
{
    size_t n = (size_t)d->call->size, left = d->call->count - first;
    p2p_err err = p2p_layer_scratch(d->call->comm, n * (d->slot ? d->slot : slot_wanted(d)), &r->scratch);
    if (err) return err;
    d->slot = coll__two_shot_slot(r->scratch.bytes, d->call->size);
    d->slice = d->slot / d->call->element;
    r->first = first;
    r->count = left < d->slice * n ? left : d->slice * n;
    r->is_last = r->count == left;
    return P2P_OK;
}

/* What the others will combine: also this rank's own slice, if it may be another that does. */
static void copy_in(const two_shot *d, const round *r)
{
    const frame__call *call = d->call;
    for (int i = r->is_last && d->may_be_in_parts ? 0 : 1; i < call->size && !d->is_shared; i++) {
        int q = (call->rank + i) % call->size;
        size_t first, count;
        slice_of(d, r, q, &first, &count);
        p2p_layer_copy(in_segment(d, r, call->rank, q), call->user + first * call->element, count * call->element);
    }
}

/* Elements [at, at + count) of rank q's part of a slice, which begins at `first`. */
static const char *part_of(const two_shot *d, const round *r, int q, int slice, size_t first, size_t at)
{
    const frame__call *call = d->call;
    if (q == call->rank) return call->user + (first + at) * call->element;
    if (d->attached[q]) return d->attached[q] + (first + at) * call->element;
    return in_segment(d, r, q, slice) + at * call->element;
}

static size_t block_most(const two_shot *d)
{
    return BLOCK / d->call->element;
}

/* The elements of a slice from one on, a block at most, into its owner's segment. An owner that combines its own slice puts them into
 * its buffer too; else its part of them lies where the sum will. */
static void combine(const two_shot *d, const round *r, int slice, size_t at, bool by_owner)
{
    const frame__call *call = d->call;
    _Alignas(LINE) char block[BLOCK];
    size_t first, count, part = block_most(d);
    slice_of(d, r, slice, &first, &count);
    if (at >= count) return;
    if (part > count - at) part = count - at;
    char *own = call->user + (first + at) * call->element;
    char *shown = in_segment(d, r, slice, slice) + at * call->element, *sum = by_owner ? shown : block;
    const char *left = part_of(d, r, 0, slice, first, at), *right = part_of(d, r, 1, slice, first, at);
    dtype_combine(sum, left, right, part, call->dtype, call->op);
    for (int q = 2; q < call->size; q++)
        dtype_combine(sum, sum, part_of(d, r, q, slice, first, at), part, call->dtype, call->op);
    if (call->op == OP_MEAN) dtype_scale(sum, part, call->dtype, call->size);
    p2p_layer_copy(by_owner ? own : shown, sum, part * call->element);
}

static void combine_own(const two_shot *d, const round *r)
{
    for (size_t at = 0; at < d->slice; at += block_most(d)) combine(d, r, d->call->rank, at, true);
}

/* From a slice on, counted from this rank's own. */
static void copy_out(const two_shot *d, const round *r, int from)
{
    const frame__call *call = d->call;
    for (int i = from; i < call->size; i++) {
        int q = (call->rank + i) % call->size;
        size_t first, count;
        slice_of(d, r, q, &first, &count);
        p2p_layer_copy(call->user + first * call->element, in_segment(d, r, q, q), count * call->element);
    }
}

/* ---- The whole ---- */

static p2p_export export_of(const two_shot *d, int q)
{
    return *(const p2p_export *)p2p_layer_inline(d->call->comm, q);
}

/* How far every rank sees; and may others combine any slice? */
static uint64_t common_reach(const two_shot *d, bool *in_parts)
{
    uint64_t common = UINT64_MAX;
    *in_parts = true;
    for (int q = 0; q < d->call->size; q++) {
        uint64_t reach = export_of(d, q).reach;
        *in_parts = *in_parts && (reach & IN_PARTS);
        reach &= ~IN_PARTS;
        if (reach < common) common = reach;
    }
    return common;
}

/* After the first barrier: where every rank's buffer can be read. All ranks come to the same conclusion: a buffer that
 * some rank cannot see is one that its owner has to copy, and has not yet. */
static p2p_err attach_all(two_shot *d, bool *to_copy)
{
    const frame__call *call = d->call;
    uint64_t reach = common_reach(d, &d->in_parts);
    *to_copy = false;
    for (int q = 0; q < call->size; q++) {
        p2p_export e = export_of(d, q);
        bool is_seen = e.place && e.place <= reach && call->bytes <= reach - e.place;
        if (is_seen) d->attached[q] = p2p_layer_attach(call->comm, e, call->bytes);
        if (is_seen && !d->attached[q])
            return p2p_layer_error(call->comm, P2P_ERR_PROTO, "rank %d has no memory where it says its buffer is", q);
        if (e.place && !is_seen) *to_copy = true;
        if (q == call->rank) d->is_shared = is_seen;
    }
    return P2P_OK;
}

/* The first barrier, and a second one if a rank had to copy what another one cannot see. */
static p2p_err begin_all(two_shot *d, const round *first, unsigned *step)
{
    bool to_copy = false;
    copy_in(d, first);
    p2p_err err = p2p_layer_barrier(d->call->comm, (*step)++);
    if (!err) err = attach_all(d, &to_copy);
    if (err || !to_copy) return err;
    copy_in(d, first);
    return p2p_layer_barrier(d->call->comm, (*step)++);
}

static p2p_err last_in_parts(const two_shot *d, const round *r, unsigned step)
{
    const frame__call *call = d->call;
    size_t longest = (r->count + (size_t)call->size - 1) / (size_t)call->size;
    int blocks = (int)((longest + block_most(d) - 1) / block_most(d)), parts = blocks * call->size;
    for (int part; (part = p2p_layer_next_part(call->comm, parts)) >= 0; p2p_layer_part_done(call->comm))
        combine(d, r, part / blocks, (size_t)(part % blocks) * block_most(d), false);
    p2p_err err = p2p_layer_parts_barrier(call->comm, step, parts);
    if (!err) copy_out(d, r, 0);
    return err;
}

/* When all have combined theirs. */
static p2p_err take_others(const two_shot *d, const round *r, unsigned step)
{
    p2p_err err = p2p_layer_barrier(d->call->comm, step);
    if (!err) copy_out(d, r, 1);
    return err;
}

static p2p_err run_rounds(two_shot *d)
{
    round now, next;
    unsigned step = 1;
    p2p_err err = begin_round(d, 0, &now);
    if (err) return err;
    err = begin_all(d, &now, &step);
    while (!err && !now.is_last) {
        combine_own(d, &now);
        err = begin_round(d, now.first + now.count, &next);
        if (err) return err;
        copy_in(d, &next);
        err = take_others(d, &now, step++);
        now = next;
    }
    if (err) return err;
    if (d->in_parts) return last_in_parts(d, &now, step);
    combine_own(d, &now);
    return take_others(d, &now, step);
}

/* Elements of the buffer that a rank owns, in all rounds. */
static size_t owned_by(const two_shot *d, int q)
{
    size_t n = (size_t)d->call->size, a_round = d->slice * n, rest = d->call->count % a_round;
    return d->call->count / a_round * d->slice + rest / n + ((size_t)q < rest % n);
}

/* What a rank owns has come to it from every rank, and gone back. */
static void count_traffic(const two_shot *d)
{
    const frame__call *call = d->call;
    size_t own = owned_by(d, call->rank) * call->element;
    for (int q = 0; q < call->size; q++) {
        size_t theirs = owned_by(d, q) * call->element;
        if (q == call->rank) continue;
        p2p_layer_count(call->comm, q, theirs, own);
        p2p_layer_count(call->comm, q, own, theirs);
    }
}

p2p_err coll__two_shot_all_reduce(frame__call *call, void *buf)
{
    two_shot d = {.call = call};
    frame__needs_shared_memory(call);
    coll__needs_room(call, coll__two_shot_has_room);
    size_t bytes;
    if (p2p_layer_has_shared_memory(call->comm) && dtype_bytes(call->count, call->dtype, &bytes)) {
        int turns = p2p_layer_turns(call->comm);
        d.may_be_in_parts = turns >= LEAST_TURNS && bytes <= (size_t)turns * MOST_A_TURN;
        call->exported = p2p_layer_export(call->comm, buf, bytes);
    }
    d.is_shared = call->exported.place;
    if (d.may_be_in_parts) call->exported.reach |= IN_PARTS;
    call->barriers = true;
    call->parts = d.may_be_in_parts;
    call->inline_payload = &call->exported;
    call->inline_bytes = sizeof call->exported;
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    if (err) return err;
    if (call->size == 1 || !call->bytes) return frame__end(call, P2P_OK, NULL);
    err = run_rounds(&d);
    if (!err) count_traffic(&d);
    return frame__end(call, err, NULL);
}

p2p_err coll_two_shot_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_two_shot_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op};
    return coll__two_shot_all_reduce(&call, buf);
}
