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
#include "ring/ring.h"

void ring_chunk(size_t count, int n, int c, size_t *first, size_t *length)
{
    size_t ranks = (size_t)n, chunk = (size_t)c;
    size_t each = count / ranks, longer = count % ranks;
    *first = chunk * each + (chunk < longer ? chunk : longer);
    *length = each + (chunk < longer ? 1 : 0);
}
