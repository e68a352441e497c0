/* SPDX-License-Identifier: MIT */
/* own: what names.c and reduce.c ask of the operators that a program has made (own.c). */
#ifndef PAIRWISE_DTYPE_OWN_H
#define PAIRWISE_DTYPE_OWN_H

#include "dtype/dtype.h"

/* Its name; NULL if the program has made no such operator. */
const char *dtype__own_name(enum op op);

/* Name and size of an element type that it has made; NULL if there is none. */
const char *dtype__own_type(enum dtype dtype, size_t *bytes);

/* dtype_combine with one that it has made. */
void dtype__own_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);

#endif
