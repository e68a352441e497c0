/* SPDX-License-Identifier: MIT */
/*
 * The loops for machines without wide registers, whatever machine this is: for tests that hold them against the others.
 */
#ifndef PAIRWISE_DTYPE_REDUCE_H
#define PAIRWISE_DTYPE_REDUCE_H

#include "dtype/dtype.h"

/* As dtype_combine. */
void dtype__combine_narrow(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);

#endif
