/* SPDX-License-Identifier: MIT */
/*
 * 16 bits for each gradient instead of 32 (--wire f16, --wire bf16): half the bytes.
 *
 *      gradient + error  --round-->  half  --all-reduce, 16 bits in every message-->  half  -->  gradient
 *              '-- what rounding took away: the error of the next step
 *
 * The all-reduce adds as f32 and rounds again after each addition (dtype/dtype.h). The error has what this rank rounded
 * off, not what the additions did. f16 has 3 more bits of fraction than bf16, and the range 2^-24 to 65504; bf16 has
 * the range of f32. What is above the range becomes infinite, which ends the run as any gradient that is not finite.
 */
#include "trainer/compress.h"

enum { BLOCK = 1024 }; /* elements at a time, in the nearest cache */

void train__wire_pack(train__compressor *c, const float *gradients, size_t first, size_t count)
{
    enum dtype wire = c->options->compress.wire;
    float sent[BLOCK];
    for (size_t at = first, part; at < first + count; at += part) {
        float *error = c->error + at;
        part = first + count - at < BLOCK ? first + count - at : BLOCK;
        for (size_t i = 0; i < part; i++) error[i] += gradients[at - first + i];
        dtype_from_f32(c->halves + at, error, part, wire);
        dtype_to_f32(sent, c->halves + at, part, wire);
        for (size_t i = 0; i < part; i++) error[i] -= sent[i];
    }
}

void train__wire_unpack(const train__compressor *c, float *gradients, size_t first, size_t count)
{
    dtype_to_f32(gradients + first, c->halves + first, count, c->options->compress.wire);
}

p2p_err train__wire_reduce(train__compressor *c, float *gradients, size_t first, size_t count)
{
    train__wire_pack(c, gradients + first, first, count);
    p2p_err err = train__add_up(c->options, c->comm, c->halves + first, count, c->options->compress.wire);
    if (!err) train__wire_unpack(c, gradients, first, count);
    return err;
}
