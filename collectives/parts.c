/* SPDX-License-Identifier: MIT */
/* For traces: which part of the buffer the next message carries. A message that is not told of carries the whole. */
#include "collectives/internal.h"

static p2p_part part_of(const coll__call *call, const coll__blocks *blocks, int q)
{
    size_t first = blocks->listed ? blocks->offsets[q] : (size_t)q * blocks->each;
    return (p2p_part){.chunk = q, .offset = first * call->element};
}

void coll__sends_block(const coll__call *call, const coll__blocks *blocks, int q)
{
    if (!p2p_layer_is_traced(call->comm)) return;
    p2p_part part = part_of(call, blocks, q);
    p2p_layer_parts(call->comm, &part, NULL);
}

void coll__receives_block(const coll__call *call, const coll__blocks *blocks, int q, bool combined)
{
    if (!p2p_layer_is_traced(call->comm)) return;
    p2p_part part = part_of(call, blocks, q);
    part.combined = combined;
    p2p_layer_parts(call->comm, NULL, &part);
}

void coll__combines_next(const coll__call *call)
{
    p2p_layer_parts(call->comm, NULL, &(p2p_part){.chunk = -1, .combined = true});
}
