/* SPDX-License-Identifier: MIT */
/*
 * Gradient sync. The backward pass completes the gradients from the last layer to the first; the flat buffer is cut
 * into buckets in that order, and a bucket may go as soon as all its tensors are complete:
 *
 *      gradients    | conv1  bn1  layer1.0 ... | ...  layer4.1 | layer4.2 ...   fc |
 *      bucket                   2              |       1       |         0         |
 *
 *      device        forward ....... backward: 0 ready     1 ready        2 ready
 *      --overlap 0                                                        [ 0 ][ 1 ][ 2 ] update
 *      --overlap 1                             [ . . 0 . . ][ . . 1 . . . ][ 2 ] update
 *                                                                         '---' still waited for
 *
 * Few large buckets cost few latencies; many small ones can begin earlier. With a core for each rank and no more, the
 * work of sending moves into the backward pass, and little is gained; on a network it is hidden there.
 *
 * In the background a bucket is sent in pieces, a few at a time: what arrives, its sum, and the sum that is sent on are
 * then still in a cache when they are needed next; a whole bucket would be read from main memory each time.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "p2p/p2p_layer.h"
#include "ring/ring.h"
#include "trainer/compress.h"
#include "trainer/network.h"

enum { PIECE = 1 << 18, AT_A_TIME = 4 }; /* elements: 1 MiB */

typedef struct {
    size_t first, count; /* of the flat buffer */
    size_t operation;    /* whose backward pass completes it */
    kernel_event *ready; /* the host may read it; NULL before it is queued */
    size_t pieces;       /* how many there are up to the end of this bucket */
} bucket;

/* Only in the background. */
typedef struct {
    size_t first, count;
    size_t bucket;
    p2p_request on_its_way;
} piece;

struct train_sync {
    train_network *network;
    p2p_comm *comm;
    train_sync_options options;
    bool background;               /* ring_iall_reduce, or the reducer's, in pieces */
    bool opened;                   /* the reducer */
    train__compressor *compressor; /* NULL: gradients travel as they are */
    size_t count;
    bucket *buckets;
    piece *pieces;
    size_t ready, begun, ended; /* pieces of this step: up to where they may begin, have begun, have ended */
    kernel_err failed;          /* in train_sync_ready, which cannot return an error */
    double waited;
};

/* ---- Buckets ---- */

static size_t owner_of(const train_model *m, int tensor)
{
    for (size_t i = 0; i < m->operation_count; i++) {
        const train_operation *o = &m->operations[i];
        if (o->weight == tensor || o->bias == tensor || o->gamma == tensor || o->beta == tensor) return i;
    }
    return 0;
}

/* From the last tensor to the first: each joins the bucket at hand, or begins the next one. */
static void cut(train_sync *sync)
{
    const train_model *m = sync->network->model;
    bucket *b = NULL;
    for (size_t i = m->tensor_count; i-- > 0;) {
        const train_tensor *t = &m->tensors[i];
        if (t->kind != TRAIN_PARAMETER) continue;
        size_t owner = owner_of(m, (int)i);
        if (!b || b->count * sizeof(float) >= sync->options.bucket_bytes) {
            b = &sync->buckets[sync->count++];
            b->operation = owner;
        }
        b->first = t->offset;
        b->count += t->count;
        if (owner < b->operation) b->operation = owner;
    }
}

static bool cut_pieces(train_sync *sync)
{
    size_t most = sync->count + sync->network->model->parameters / PIECE, made = 0;
    sync->pieces = calloc(most, sizeof *sync->pieces);
    for (size_t i = 0; i < sync->count && sync->pieces; i++) {
        bucket *b = &sync->buckets[i];
        for (size_t at = 0; at < b->count; at += PIECE) {
            size_t left = b->count - at;
            sync->pieces[made++] = (piece){.first = b->first + at, .count = left < PIECE ? left : PIECE, .bucket = i};
        }
        b->pieces = made;
    }
    return sync->pieces;
}

static p2p_err open_reducer(train_sync *sync, train_error *error)
{
    const train_reducer *reducer = sync->options.reducer;
    p2p_err err = reducer && reducer->open ? reducer->open(reducer->arg, sync->comm) : P2P_OK;
    sync->opened = reducer && !err;
    return train__comm(sync->comm, error, err);
}

static bool goes_on_by_itself(const train_sync_options *o)
{
    bool can = o->reducer ? o->reducer->iall_reduce != NULL : o->all_reduce == ring_all_reduce;
    return o->overlap && can && !o->compress.method;
}

p2p_err train_sync_open(train_network *network, p2p_comm *comm, const train_sync_options *options, train_sync **sync,
                        train_error *error)
{
    if (options->reducer && options->all_reduce)
        return train__fail(error, P2P_ERR_ARG, "all_reduce and reducer: gradients are added up by one or the other");
    if (options->reducer && !options->reducer->all_reduce)
        return train__fail(error, P2P_ERR_ARG, "a reducer without all_reduce: it is needed where nothing overlaps");
    train_sync *s = calloc(1, sizeof *s);
    if (!s) return train__fail(error, P2P_ERR_NOMEM, "no memory for gradient sync");
    *s = (train_sync){.network = network, .comm = comm, .options = *options, .background = goes_on_by_itself(options)};
    s->buckets = calloc(network->model->tensor_count, sizeof *s->buckets);
    if (s->buckets) cut(s);
    p2p_err err = s->buckets && cut_pieces(s) ? P2P_OK : train__fail(error, P2P_ERR_NOMEM, "no memory for buckets");
    if (!err) err = train__compressor_open(network->model, comm, &s->options, &s->compressor, error);
    if (!err) err = open_reducer(s, error);
    if (err)
        train_sync_close(s);
    else
        *sync = s;
    return err;
}

/* After an error pieces may be on their way, and the gradients that they arrive in must not be freed before that. The
 * other ranks have begun them too, or will: they do not know of the error yet. */
static void settle(train_sync *sync)
{
    for (size_t i = sync->ended; i < sync->begun; i++) p2p_wait(&sync->pieces[i].on_its_way, P2P_STATUS_IGNORE);
}

void train_sync_close(train_sync *sync)
{
    if (!sync) return;
    settle(sync);
    if (sync->opened && sync->options.reducer->close)
        sync->options.reducer->close(sync->options.reducer->arg, sync->comm);
    for (size_t i = 0; i < sync->count; i++) kernel_event_free(sync->buckets[i].ready);
    train__compressor_close(sync->compressor);
    free(sync->buckets);
    free(sync->pieces);
    free(sync);
}

static kernel_slice slice_of(const train_sync *sync, const bucket *b)
{
    return kernel_at(sync->network->gradients.on, b->first);
}

static float *host_at(const train_sync *sync, size_t first)
{
    return (float *)sync->network->gradients.host + first;
}

void train_sync_ready(void *arg, size_t operation)
{
    train_sync *sync = arg;
    for (size_t i = 0; i < sync->count; i++) {
        bucket *b = &sync->buckets[i];
        if (b->operation != operation || sync->failed) continue;
        kernel_event_free(b->ready);
        b->ready = NULL;
        sync->failed = kernel_fetch(sync->network->device, slice_of(sync, b), b->count, &b->ready);
    }
}

/* ---- Are all gradients finite? A NaN or an infinity on one rank is one in the sum, so all ranks find the same.
 * ---- */

static bool finite_block(const float *at, size_t count)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &at[i], sizeof bits);
        bad |= (bits & 0x7f800000u) == 0x7f800000u;
    }
    return !bad;
}

bool train__all_finite(const float *at, size_t count)
{
    enum { BLOCK = 4096 }; /* a constant, for the compiler to make vectors of */
    bool fine = true;
    for (; count >= BLOCK && fine; at += BLOCK, count -= BLOCK) fine = finite_block(at, BLOCK);
    return fine && finite_block(at, count);
}

static p2p_err give_back(train_sync *sync, bucket *b, train_error *error)
{
    kernel_err err = kernel_push(sync->network->device, slice_of(sync, b), b->count);
    return err ? train__device_fail(sync->network, err, error) : P2P_OK;
}

/* ---- Plainly: one bucket after the other ---- */

static p2p_err wait_ready(train_sync *sync, bucket *b, train_error *error)
{
    kernel_err err = sync->failed ? sync->failed : kernel_event_wait(b->ready);
    return err ? train__device_fail(sync->network, err, error) : P2P_OK;
}

static p2p_err call_all_reduce(const train_sync *sync, const bucket *b)
{
    train__compressor *c = sync->compressor;
    if (c) return c->reduce(c, sync->network->gradients.host, b->first, b->count);
    return train__add_up(&sync->options, sync->comm, host_at(sync, b->first), b->count, DTYPE_F32);
}

static p2p_err reduce_bucket(train_sync *sync, bucket *b, bool *finite, train_error *error)
{
    p2p_err err = train__comm(sync->comm, error, call_all_reduce(sync, b));
    if (err) return err;
    *finite = *finite && train__all_finite(host_at(sync, b->first), b->count);
    return give_back(sync, b, error);
}

/* For traces: what follows is not hidden behind the backward pass. train_sync_wait ends the phase. */
static double backward_ended(const train_sync *sync)
{
    p2p_layer_phase_end(sync->comm, "backward");
    p2p_layer_phase_begin(sync->comm, "sync");
    return p2p_time(sync->comm);
}

/* With `overlap` a bucket does not wait for those after it. */
static p2p_err reduce_plainly(train_sync *sync, bool *finite, double *since, train_error *error)
{
    bool overlap = sync->options.overlap;
    p2p_err err = P2P_OK;
    for (size_t i = 0; i < sync->count && !err && !overlap; i++) err = wait_ready(sync, &sync->buckets[i], error);
    if (!overlap) *since = backward_ended(sync);
    for (size_t i = 0; i < sync->count && !err; i++) {
        if (overlap) err = wait_ready(sync, &sync->buckets[i], error);
        if (overlap && i + 1 == sync->count) *since = backward_ended(sync);
        if (!err) err = reduce_bucket(sync, &sync->buckets[i], finite, error);
    }
    return err;
}

/* ---- In the background: buckets that are ready are begun, and make progress until the next is ready ---- */

static void nap(void)
{
    nanosleep(&(struct timespec){0, 200000}, NULL);
}

static p2p_err begin(train_sync *sync, piece *p)
{
    train__compressor *c = sync->compressor;
    if (c) train__wire_pack(c, host_at(sync, p->first), p->first, p->count);
    void *at = c ? (void *)(c->halves + p->first) : host_at(sync, p->first);
    enum dtype wire = sync->options.compress.wire;
    const train_reducer *own = sync->options.reducer;
    return own ? own->iall_reduce(own->arg, sync->comm, at, p->count, wire, OP_SUM, &p->on_its_way)
               : ring_iall_reduce(sync->comm, at, p->count, wire, OP_SUM, &p->on_its_way);
}

static p2p_err finish(train_sync *sync, const piece *p, bool *finite, train_error *error)
{
    bucket *b = &sync->buckets[p->bucket];
    if (sync->compressor) train__wire_unpack(sync->compressor, sync->network->gradients.host, p->first, p->count);
    *finite = *finite && train__all_finite(host_at(sync, p->first), p->count);
    sync->ended++;
    return sync->ended == b->pieces ? give_back(sync, b, error) : P2P_OK;
}

/* Pieces of what is ready begin and end in their order, until all have ended, or, without `wait`, until one has not. */
static p2p_err move(train_sync *sync, bool wait, bool *finite, train_error *error)
{
    p2p_err err = P2P_OK;
    bool done = true;
    while (done && !err && sync->ended < sync->ready) {
        piece *oldest = &sync->pieces[sync->ended];
        while (!err && sync->begun < sync->ready && sync->begun < sync->ended + AT_A_TIME)
            err = begin(sync, &sync->pieces[sync->begun++]);
        if (!err && wait) err = p2p_wait(&oldest->on_its_way, P2P_STATUS_IGNORE);
        if (!err && !wait) err = p2p_test(&oldest->on_its_way, &done, P2P_STATUS_IGNORE);
        err = train__comm(sync->comm, error, err);
        if (!err && done) err = finish(sync, oldest, finite, error);
    }
    return err;
}

/* Wait until the device has finished this bucket. With nothing on its way, block; otherwise poll and sleep in turn. */
static p2p_err await_bucket(train_sync *sync, bucket *b, bool *finite, train_error *error)
{
    bool done = false;
    kernel_err failed = sync->failed;
    while (!failed && !done && sync->ended < sync->ready) {
        failed = kernel_event_done(b->ready, &done);
        if (failed || done) break;
        p2p_err err = move(sync, false, finite, error);
        if (err) return err;
        if (sync->ended < sync->ready) nap();
    }
    if (!failed && !done) failed = kernel_event_wait(b->ready);
    return failed ? train__device_fail(sync->network, failed, error) : P2P_OK;
}

static p2p_err reduce_meanwhile(train_sync *sync, bool *finite, double *since, train_error *error)
{
    p2p_err err = P2P_OK;
    sync->ready = sync->begun = sync->ended = 0;
    for (size_t i = 0; i < sync->count && !err; i++) {
        bucket *b = &sync->buckets[i];
        err = await_bucket(sync, b, finite, error);
        sync->ready = b->pieces;
        if (!err) err = move(sync, false, finite, error);
    }
    *since = backward_ended(sync);
    return err ? err : move(sync, true, finite, error);
}

p2p_err train_sync_wait(train_sync *sync, bool *finite, train_error *error)
{
    double since = p2p_time(sync->comm);
    bool fine = true;
    p2p_err err = sync->background ? reduce_meanwhile(sync, &fine, &since, error)
                                   : reduce_plainly(sync, &fine, &since, error);
    sync->waited = p2p_time(sync->comm) - since;
    p2p_layer_phase_end(sync->comm, "sync");
    if (!err) *finite = fine;
    return err;
}

double train_sync_waited(const train_sync *sync)
{
    return sync->waited;
}

train__compressor *train__sync_compressor(const train_sync *sync)
{
    return sync->compressor;
}

bool train__sync_piece(const train_sync *sync, size_t i, size_t *first, size_t *count)
{
    if (!sync->count || i >= sync->buckets[sync->count - 1].pieces) return false;
    *first = sync->pieces[i].first;
    *count = sync->pieces[i].count;
    return true;
}

size_t train_sync_buckets(const train_sync *sync)
{
    return sync->count;
}
