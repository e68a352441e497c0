/* SPDX-License-Identifier: MIT */
/*
 * Chunks: the buffer in n parts that differ by at most one element, the longer ones first. Ten elements, four ranks:
 *
 *      chunk      0         1         2       3
 *      element    0 1 2     3 4 5     6 7     8 9          10 = 4 * 2 + 2: the first 2 chunks have 2 + 1 elements
 *
 * A chunk begins where the ones before it end (prefix sums): c * (count / n), and one more for each longer one before
 * it. With fewer elements than ranks the last chunks are empty; their messages are sent all the same.
 */
#include "ring/internal.h"

void ring_chunk(size_t count, int n, int c, size_t *first, size_t *length)
{
    size_t ranks = (size_t)n, chunk = (size_t)c;
    size_t each = count / ranks, longer = count % ranks;
    *first = chunk * each + (chunk < longer ? chunk : longer);
    *length = each + (chunk < longer ? 1 : 0);
}

void ring__parts(const ring_call *ring, int out, int in, bool combined)
{
    size_t first, length;
    int n = ring->size;
    if (!p2p_layer_is_traced(ring->comm)) return;
    p2p_part parts[] = {{.chunk = (out % n + n) % n}, {.chunk = (in % n + n) % n, .combined = combined}};
    for (int i = 0; i < 2; i++) {
        ring_chunk(ring->count, n, parts[i].chunk, &first, &length);
        parts[i].offset = first * ring->element;
    }
    p2p_layer_parts(ring->comm, &parts[0], &parts[1]);
}

ring_piece ring__chunk(const ring_call *ring, int c)
{
    size_t first, length;
    ring_chunk(ring->count, ring->size, (c % ring->size + ring->size) % ring->size, &first, &length);
    if (!length) return (ring_piece){NULL, 0};
    return (ring_piece){ring->buf + first * ring->element, length * ring->element};
}
