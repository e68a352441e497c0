/* SPDX-License-Identifier: MIT */
/*
 * half: f16 and bf16, as reduce.c needs them: in blocks of f32.
 */
#ifndef PAIRWISE_DTYPE_HALF_H
#define PAIRWISE_DTYPE_HALF_H

#include "dtype/dtype.h"

/* Bits of the canonical NaNs. */
#define F16_NAN UINT16_C(0x7e00)
#define BF16_NAN UINT16_C(0x7fc0)

static inline bool dtype__is_half(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

/* As dtype_to_f32 and dtype_from_f32, by the plain loops if not `wide`. */
void dtype__to_f32(float *out, const void *in, size_t count, enum dtype dtype, bool wide);
void dtype__from_f32(void *out, const float *in, size_t count, enum dtype dtype, bool wide);

#endif
