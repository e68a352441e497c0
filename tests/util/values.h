/* SPDX-License-Identifier: MIT */
/*
 * values: what ranks combine, and what must come out of it, computed in the plainest way, one element at a time, as
 * bits. The order in which an algorithm combines is simulated by its shape.
 */
#ifndef PAIRWISE_TESTS_VALUES_H
#define PAIRWISE_TESTS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype/dtype.h"

/* TAME values give the same result in any order: small integers, powers of two. WILD ones do not: every rounding shows,
 * and among them are NaNs of many kinds, infinities, both zeros and subnormals. */
enum values { TAME, WILD };

/* How the ranks' parts are put together. `at` is a root (TREE) or a chunk (RING). */
enum shape { IN_RANK_ORDER, TREE, DOUBLING, RING, HIERARCHICAL, LEADERS };

/* The bits of element i of this rank's buffer. seed tells one call from another. */
uint64_t value_of(enum values kind, enum dtype dtype, enum op op, int rank, size_t i, int seed);

void values_fill(void *buf, size_t count, enum values kind, enum dtype dtype, enum op op, int rank, int seed);

/* The bits of element i of a buffer. */
uint64_t value_at(const void *buf, enum dtype dtype, size_t i);

/* What 16 bits mean, and the bits of the nearest number, of two the even one: computed by the exponent. */
double value_of_half(enum dtype dtype, uint64_t half);
uint64_t half_of_value(enum dtype dtype, double x);

/* left OP right, and the whole reduction of element i over n ranks, a mean's division included. */
uint64_t value_combine(enum dtype dtype, enum op op, uint64_t left, uint64_t right);
uint64_t value_expected(enum shape shape, int at, int n, enum values kind, enum dtype dtype, enum op op, size_t i,
                        int seed);

/* HIERARCHICAL: host[q] is the host of rank q; the ring of hosts for this chunk ends at host `chunk`. */
uint64_t value_on_hosts(const int host[], int hosts, int chunk, int n, enum values kind, enum dtype dtype, enum op op,
                        size_t i, int seed);

/* LEADERS: a tree on each host, and those double. */
uint64_t value_of_leaders(const int host[], int hosts, int n, enum values kind, enum dtype dtype, enum op op, size_t i,
                          int seed);

/* The first element of [first, first + count) that is not what value_expected says; first + count if all are. */
size_t values_wrong(const void *buf, size_t first, size_t count, enum shape shape, int at, int n, enum values kind,
                    enum dtype dtype, enum op op, int seed);

/* The first element that is not what values_fill wrote for this rank; count if all are. */
size_t values_changed(const void *buf, size_t count, enum values kind, enum dtype dtype, enum op op, int rank,
                      int seed);

#endif
