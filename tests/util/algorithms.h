/* SPDX-License-Identifier: MIT */
/* algorithms: every way to reduce and to broadcast, by name, with the shape in which it combines (see values.h). */
#ifndef PAIRWISE_TESTS_ALGORITHMS_H
#define PAIRWISE_TESTS_ALGORITHMS_H

#include "p2p/p2p.h"
#include "tests/util/values.h"

/* One call. dtype and op are bits away from what a broadcast needs: it ignores op. */
typedef struct {
    p2p_comm *comm;
    void *buf;
    size_t count;
    enum dtype dtype;
    enum op op;
    int root;
} operation;

enum operation_kind { ALL_REDUCE, REDUCE, BROADCAST };

typedef struct {
    const char *name;
    enum operation_kind kind;
    enum shape shape;
    p2p_err (*run)(const operation *what);
} algorithm;

extern const algorithm algorithms[];
extern const size_t algorithm_count;

/* The shape of the algorithm that a plain name chooses for n ranks and so many bytes. */
enum shape algorithm_shape(const algorithm *a, int n, size_t bytes);

/* Or is it this one, HIERARCHICAL or LEADERS, for what the plain name takes where these ranks live? */
bool algorithm_is_by_host(const algorithm *a, const p2p_comm *comm, size_t bytes, enum shape shape);

#endif
