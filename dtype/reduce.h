/* SPDX-License-Identifier: MIT */
/*
 * reduce: wide registers, which do twice as much at a time where there are any; by the same operations, and so with the
 * same bits. The loops without them are for other machines, and for tests on any.
 */
#ifndef PAIRWISE_DTYPE_REDUCE_H
#define PAIRWISE_DTYPE_REDUCE_H

#include "dtype/dtype.h"

#if defined(__x86_64__)
#define HAS_WIDE __builtin_cpu_supports("avx2")
#define WIDE __attribute__((target("avx2")))
#else
#define HAS_WIDE false
#define WIDE
#endif

/* As dtype_combine, without them. */
void dtype__combine_narrow(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);

#endif
