/* SPDX-License-Identifier: MIT */
/*
 * elements: what each rank puts into an all-reduce, and what must come out: small whole numbers that depend on rank and
 * place, so that a missing, doubled, shifted or stale part is noticed, with a result known in closed form that every
 * type can hold exactly. Element i of rank r among n (j = i mod 1009, t = (r + j) mod n, each t at one rank):
 *
 *      sum, mean, min, max     j mod 17 + t                 n (j mod 17) + n(n-1)/2, that / n, j mod 17, j mod 17 + n-1
 *      prod                    2 + j mod 3 if t = 0, or 1   2 + j mod 3
 *
 * In u8 everything is modulo 256. The peers' programs (bench/peers) use the same.
 */
#ifndef PAIRWISE_BENCH_ELEMENTS_H
#define PAIRWISE_BENCH_ELEMENTS_H

#include <stddef.h>

#include "dtype/dtype.h"

enum { ELEMENTS_PERIOD = 1009 }; /* a prime: no chunk of a power of two bytes is a multiple of it */

typedef struct {
    size_t size;                                                          /* of one element */
    _Alignas(double) unsigned char in[ELEMENTS_PERIOD * sizeof(double)];  /* one period of what goes in */
    _Alignas(double) unsigned char out[ELEMENTS_PERIOD * sizeof(double)]; /* and of what comes out */
} elements;

/* Ready for elements_fill and elements_wrong on this rank. */
void elements_init(elements *e, enum dtype dtype, enum op op, int rank, int ranks);

/* What this rank puts in. */
void elements_fill(const elements *e, void *buf, size_t count);

/* How many elements are not, bit for bit, what must come out. */
size_t elements_wrong(const elements *e, const void *buf, size_t count);

#endif
