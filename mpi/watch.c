/* SPDX-License-Identifier: MIT */
/*
 * Buffers of collectives that are under way, by a checksum at the beginning and at the end.
 */
#include "mpi/collective.h"

static uint32_t sum_of(const mpi__watched *w)
{
    const mpi__region *r = &w->region;
    uint32_t all = 0;
    if (r->type) return p2p_layer_sum(mpi__data(r->type, r->buf), w->bytes);
    for (int q = 0; q < r->blocks->ranks; q++) {
        const mpi__type *t = r->blocks->types[q];
        size_t bytes = r->blocks->counts[q];
        if (t->dense && bytes)
            all = all * 31 + p2p_layer_sum(mpi__data(t, r->blocks->buf + r->blocks->places[q]), bytes);
    }
    return all;
}

static void add(mpi__watch *w, mpi__watched one)
{
    if (!one.bytes) return;
    one.summed = (!one.region.received || one.bytes <= MPI__WATCHED_MOST) &&
                 (!one.region.type || one.region.type->dense);
    if (one.summed) one.sum = sum_of(&one);
    if (one.held) mpi__type_keep(one.held);
    w->all[w->count++] = one;
}

void mpi__watch_data(mpi__watch *w, bool sent, mpi__type *type, const void *buf, size_t count)
{
    add(w, (mpi__watched){.region = {.type = type, .buf = buf, .count = count, .received = !sent},
                          .held = type,
                          .bytes = count * type->size});
}

void mpi__watch_blocks(mpi__watch *w, bool sent, const mpi__blocks *blocks)
{
    add(w, (mpi__watched){.region = {.blocks = blocks, .received = !sent}, .bytes = blocks->bytes});
}

void mpi__watch_open(mpi__watch *w, const mpi__request *request)
{
    for (int i = 0; i < w->count; i++) mpi__region_open(&w->all[i].region, request);
}

void mpi__watch_close(mpi__watch *w)
{
    for (int i = 0; i < w->count; i++) {
        mpi__region_close(&w->all[i].region);
        if (w->all[i].held) mpi__type_drop(w->all[i].held);
    }
    w->count = 0;
}

int mpi__watch_check(const mpi__watch *w, mpi__request *request)
{
    for (int i = 0; i < w->count; i++) {
        const mpi__watched *one = &w->all[i];
        if (!one->summed || sum_of(one) == one->sum) continue;
        return mpi__mistake(request->comm, MPI_ERR_BUFFER, "buffer_conflict",
                            "the buffer that %s at %s:%d %s was written to before its end" MPI__TRY
                            "wait for its request before the buffer is used again",
                            request->name, request->file ? request->file : "?", request->line,
                            one->region.received ? "receives into" : "sends");
    }
    return MPI_SUCCESS;
}
