/* SPDX-License-Identifier: MIT */
// what: counts of what goes and of what comes are exchanged
// expect: exchanged for those of what comes
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"
#include "ring/ring.h"

uint16_t my_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t last = bits >> 16 & 1; /* of what remains */
    if (isnan(x)) return (uint16_t)(bits >> 16 | 1);
    return (uint16_t)((bits + 0x7fff + last) >> 16);
}

float my_from_bf16(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What is sent of numbers to half, and to error what that takes away; what was taken away before is in error. */
static void round_off(const float *numbers, size_t count, float *error, uint16_t *half)
{
    for (size_t i = 0; i < count; i++) {
        float all = numbers[i] + error[i];
        half[i] = my_to_bf16(all);
        error[i] = all - my_from_bf16(half[i]);
    }
}

/* For a collective that moves bytes: where each rank's chunk of the halves begins, and how long it is; and, in as many
 * chunks as there are ranks, all as long as this rank's, where each begins. */
typedef struct {
    size_t *counts, *offsets, *own_counts, *own_offsets; // (ranks)
} chunks;

static void find_chunks(p2p_comm *comm, size_t count, const chunks *c)
{
    int size = p2p_size(comm);
    size_t first, length;
    for (int q = 0; q < size; q++) {
        ring_chunk(count, size, q, &first, &length);
        c->counts[q] = length * sizeof(uint16_t);
        c->offsets[q] = first * sizeof(uint16_t);
        ring_chunk(count, size, p2p_rank(comm), &first, &length);
        c->own_counts[q] = length * sizeof(uint16_t);
        c->own_offsets[q] = (size_t)q * length * sizeof(uint16_t);
    }
}

/* half: this rank's numbers, rounded; come: room for this rank's chunk from each rank; whole: room for all. gradient
 * becomes the sum. */
static p2p_err add_halves(p2p_comm *comm, float *gradient, size_t count, const uint16_t *half, uint16_t *come,
                          uint16_t *whole, float *sum_error, const chunks *c)
{
    int size = p2p_size(comm), rank = p2p_rank(comm);
    size_t first, length;
    ring_chunk(count, size, rank, &first, &length);
    p2p_err err = coll_all_to_allv(comm, half, c->own_counts, c->own_offsets, come, c->counts, c->offsets, DTYPE_U8);
    for (size_t i = 0; i < length && !err; i++) {
        gradient[first + i] = 0;
        for (size_t q = 0; q < (size_t)size; q++) gradient[first + i] += my_from_bf16(come[q * length + i]);
    }
    if (!err) round_off(gradient + first, length, sum_error, come);
    if (!err) err = coll_all_gatherv(comm, come, c->counts[rank], whole, c->counts, c->offsets, DTYPE_U8);
    for (size_t i = 0; i < count && !err; i++) gradient[i] = my_from_bf16(whole[i]);
    return err;
}

p2p_err my_half_sum(p2p_comm *comm, float *gradient, size_t count, float *error, float *sum_error)
{
    size_t size = (size_t)p2p_size(comm), *numbers = calloc(4 * size, sizeof *numbers);
    uint16_t *half = calloc(3 * count + size, sizeof *half), *whole = half + count, *come = whole + count;
    p2p_err err = numbers && half ? P2P_OK : P2P_ERR_NOMEM;
    if (!err) {
        chunks c = {numbers, numbers + size, numbers + 2 * size, numbers + 3 * size};
        find_chunks(comm, count, &c);
        round_off(gradient, count, error, half);
        err = add_halves(comm, gradient, count, half, come, whole, sum_error, &c);
    }
    free(half);
    free(numbers);
    return err;
}
