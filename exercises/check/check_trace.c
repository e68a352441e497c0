/* SPDX-License-Identifier: MIT */
/* What a trace of a case shows: the case as a phase, its first buffer, and what is combined in it. */
#include <stdio.h>

#include "exercises/check/check_internal.h"
#include "p2p/p2p_layer.h"

static struct {
    p2p_comm *comm;
    char name[100];
} traced;

/* "my_broadcast, root 2" */
void check_trace_begin(p2p_comm *comm, const check_case *c)
{
    const char *call = c->call ? c->call : check_the_exercise.call;
    traced.comm = comm;
    if (c->shows & CHECK_SHOW_ROOT)
        snprintf(traced.name, sizeof traced.name, "%s, root %d", call, c->root);
    else
        snprintf(traced.name, sizeof traced.name, "%s", call);
    p2p_layer_phase_begin(comm, traced.name);
}

void check_trace_buffer(const void *buf, size_t bytes)
{
    p2p_layer_watch(traced.comm, buf, bytes);
}

void check_trace_end(void)
{
    p2p_layer_watch(traced.comm, NULL, 0);
    p2p_layer_phase_end(traced.comm, traced.name);
}

/* ---- Combining: the linker puts these in the place of dtype's ---- */

void __real_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);
void __wrap_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);
void __real_dtype_reduce(void *into, const void *from, size_t count, enum dtype dtype, enum op op);
void __wrap_dtype_reduce(void *into, const void *from, size_t count, enum dtype dtype, enum op op);
void __real_dtype_reduce_left(void *into, const void *from, size_t count, enum dtype dtype, enum op op);
void __wrap_dtype_reduce_left(void *into, const void *from, size_t count, enum dtype dtype, enum op op);

void __wrap_dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    if (traced.comm) p2p_layer_combined(traced.comm, left, right, count * dtype_size(dtype));
    __real_dtype_combine(out, left, right, count, dtype, op);
}

void __wrap_dtype_reduce(void *into, const void *from, size_t count, enum dtype dtype, enum op op)
{
    if (traced.comm) p2p_layer_combined(traced.comm, into, from, count * dtype_size(dtype));
    __real_dtype_reduce(into, from, count, dtype, op);
}

void __wrap_dtype_reduce_left(void *into, const void *from, size_t count, enum dtype dtype, enum op op)
{
    if (traced.comm) p2p_layer_combined(traced.comm, into, from, count * dtype_size(dtype));
    __real_dtype_reduce_left(into, from, count, dtype, op);
}
