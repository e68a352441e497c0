/* SPDX-License-Identifier: MIT */
/* The frame of every collective: checks, agreement, memory; see internal.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/internal.h"

size_t coll__times(size_t count, int n)
{
    return count > SIZE_MAX / (size_t)n ? SIZE_MAX : count * (size_t)n;
}

void coll__copy(void *to, const void *from, size_t bytes)
{
    if (bytes && to != from) memcpy(to, from, bytes);
}

/* ---- Checks: everything that one rank can see alone ---- */

typedef struct {
    p2p_err err;
    p2p_argument argument;
    char text[300];
} problem;

#define PROBLEM(found, code, which, ...)                              \
    ((found)->err = (code), (found)->argument = P2P_ARGUMENT_##which, \
     (void)snprintf((found)->text, sizeof(found)->text, __VA_ARGS__))

static void check_root(const coll__call *call, problem *found)
{
    if (!call->has_root || (call->root >= 0 && call->root < call->size)) return;
    PROBLEM(found, P2P_ERR_RANK, ROOT,
            "root %d is not a rank: not in [0,%d)\n  try: ranks of this communicator are 0 to %d", call->root,
            call->size, call->size - 1);
}

static void check_span(const coll__call *call, const char *which, coll__span span, size_t *bytes, problem *found)
{
    if (!dtype_bytes(span.elements, call->dtype, bytes))
        PROBLEM(found, P2P_ERR_ARG, COUNT,
                "a %s of %zu elements of %s is impossible\n  try: was a negative count passed?", which, span.elements,
                dtype_name(call->dtype));
    else if (!span.start && *bytes)
        PROBLEM(found, P2P_ERR_ARG, BUFFER, "the %s is NULL, but its size is %zu bytes", which, *bytes);
}

static bool overlap(coll__span a, size_t a_bytes, coll__span b, size_t b_bytes)
{
    uintptr_t a_start = (uintptr_t)a.start, b_start = (uintptr_t)b.start;
    return a_bytes && b_bytes && a_start < b_start + b_bytes && b_start < a_start + a_bytes;
}

static void check(coll__call *call, coll__span reads, coll__span writes, problem *found)
{
    const char *unfit = dtype_problem(call->dtype, call->has_op ? call->op : OP_SUM);
    size_t read_bytes = 0;
    check_root(call, found);
    if (!found->err && unfit) PROBLEM(found, P2P_ERR_ARG, OPERATOR, "%s", unfit);
    if (unfit && found->argument == P2P_ARGUMENT_OPERATOR && dtype_problem(call->dtype, OP_SUM))
        found->argument = P2P_ARGUMENT_TYPE;
    if (!found->err && call->wrong) {
        PROBLEM(found, P2P_ERR_ARG, OTHER, "%s", call->wrong);
        if (call->wrong_argument) found->argument = call->wrong_argument;
    }
    if (!found->err) check_span(call, "send buffer", reads, &read_bytes, found);
    if (!found->err) check_span(call, reads.start ? "receive buffer" : "buffer", writes, &call->user_bytes, found);
    if (!found->err && overlap(reads, read_bytes, writes, call->user_bytes))
        PROBLEM(found, P2P_ERR_ARG, OVERLAP,
                "the send buffer and the receive buffer overlap\n  try: a separate buffer to receive into");
}

void coll__needs_shared_memory(coll__call *call)
{
    if (p2p_size(call->comm) > 1 && !p2p_layer_has_shared_memory(call->comm))
        call->wrong = "this algorithm needs ranks that share memory\n  try: PAIRWISE_WORLD=shm, and no virtual network";
}

void coll__needs_commuting(coll__call *call)
{
    if (op_commutes(call->op)) return;
    call->wrong = "the operator does not commute, and this algorithm combines in another order than that of the ranks\n"
                  "  try: coll_all_reduce, coll_reduce or coll_scan, which keep it";
    call->wrong_argument = P2P_ARGUMENT_OPERATOR;
}

/* ---- Begin and end ---- */

static p2p_fingerprint fingerprint_of(const coll__call *call)
{
    return (p2p_fingerprint){.operation = call->operation,
                             .algorithm = call->algorithm,
                             .count = call->count,
                             .dtype = dtype_name(call->dtype),
                             .op = call->has_op ? op_name(call->op) : NULL,
                             .root = call->has_root ? call->root : -1,
                             .barriers = call->barriers,
                             .inline_payload = call->inline_payload,
                             .inline_bytes = call->inline_bytes};
}

p2p_err coll__begin(coll__call *call, coll__span reads, coll__span writes)
{
    problem found = {P2P_OK, P2P_ARGUMENT_NONE, ""};
    p2p_fingerprint what = fingerprint_of(call);
    call->rank = p2p_rank(call->comm);
    call->size = p2p_size(call->comm);
    if (!call->size) return p2p_layer_begin(call->comm, &what); /* no usable communicator: the layer says why */
    check(call, reads, writes, &found);
    if (found.err) return p2p_layer_refuse_argument(call->comm, &what, found.err, found.argument, found.text);
    call->user = (char *)(uintptr_t)writes.start;
    call->element = dtype_size(call->dtype);
    call->bytes = call->count == COLL_ANY ? 0 : call->count * call->element;
    call->is_short = call->user_bytes <= COLL_SHORT;
    what.late = true;
    return p2p_layer_begin(call->comm, &what);
}

p2p_err coll__memory(coll__call *call, size_t scratch_bytes)
{
    size_t work_bytes = call->is_short && !call->only_reads ? (call->user_bytes + 63) / 64 * 64 : 0;
    call->work = call->user;
    if (!call->is_short && !call->only_reads) {
        p2p_err err = p2p_layer_agree(call->comm);
        if (err) return err;
    }
    if (!work_bytes && !scratch_bytes) return P2P_OK;
    call->memory = malloc(work_bytes + scratch_bytes);
    if (!call->memory)
        return p2p_layer_error(call->comm, P2P_ERR_NOMEM, "no memory for %zu bytes beside the buffer", scratch_bytes);
    if (work_bytes) call->work = call->memory;
    call->scratch = (char *)call->memory + work_bytes;
    return P2P_OK;
}

p2p_err coll__end(coll__call *call, p2p_err err, const void *result)
{
    if (err == P2P_ERR_TRUNCATE) { /* of another collective's message: the mismatch says more */
        p2p_err disagreement = p2p_layer_agree(call->comm);
        if (disagreement) err = disagreement;
    }
    if (!err && result && result != call->user) {
        err = p2p_layer_agree(call->comm);
        if (!err) coll__copy(call->user, result, call->user_bytes);
    }
    free(call->memory);
    return p2p_layer_end(call->comm, err);
}

/* ---- Combining ---- */

void coll__combine_some(const coll__call *call, void *out, const void *left, const void *right, size_t count)
{
    dtype_combine(out, left, right, count, call->dtype, call->op);
    p2p_layer_compute(call->comm, count * call->element);
}

void coll__combine(const coll__call *call, void *out, const void *left, const void *right)
{
    coll__combine_some(call, out, left, right, call->count);
}

void coll__finish_mean(const coll__call *call, void *sum)
{
    if (call->op == OP_MEAN) dtype_scale(sum, call->count, call->dtype, call->size);
}
