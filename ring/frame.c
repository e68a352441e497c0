/* SPDX-License-Identifier: MIT */
/* The frame of every collective: arguments, agreement, memory, end; see frame.h. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ring/frame.h"

/* ---- Begin ---- */

static p2p_err __attribute__((format(printf, 6, 7)))
refuse(const frame__call *call, const p2p_fingerprint *what, p2p_err err, p2p_argument argument, const char *advice,
       const char *format, ...)
{
    char text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p2p_layer_advise(call->comm, advice);
    return p2p_layer_refuse_argument(call->comm, what, err, argument, text);
}

static p2p_err check_span(const frame__call *call, const p2p_fingerprint *what, const char *name, frame__span span,
                          size_t *bytes)
{
    if (!dtype_bytes(span.elements, call->dtype, bytes))
        return refuse(call, what, P2P_ERR_ARG, P2P_ARGUMENT_COUNT, "was a negative count passed?",
                      "a %s of %zu elements of %s is impossible: no buffer has so many", name, span.elements,
                      what->dtype);
    if (!span.start && *bytes)
        return refuse(call, what, P2P_ERR_ARG, P2P_ARGUMENT_BUFFER, NULL, "the %s is NULL, but its size is %zu bytes",
                      name, *bytes);
    return P2P_OK;
}

static bool overlap(frame__span a, size_t a_bytes, frame__span b, size_t b_bytes)
{
    uintptr_t a_start = (uintptr_t)a.start, b_start = (uintptr_t)b.start;
    return a_bytes && b_bytes && a_start < b_start + b_bytes && b_start < a_start + a_bytes;
}

static p2p_err check(frame__call *call, const p2p_fingerprint *what, frame__span reads, frame__span writes)
{
    bool is_type = dtype_size(call->dtype) > 0;
    enum op op = call->has_op ? call->op : OP_SUM;
    const char *unfit = call->has_op || !is_type ? dtype_problem(call->dtype, op) : NULL;
    size_t read_bytes = 0;
    if (call->has_root && (call->root < 0 || call->root >= call->size))
        return refuse(call, what, P2P_ERR_RANK, P2P_ARGUMENT_ROOT, "ranks of a communicator are 0 to p2p_size - 1",
                      "root %d is not a rank: not in [0,%d)", call->root, call->size);
    if (unfit)
        return refuse(call, what, P2P_ERR_ARG, is_type ? P2P_ARGUMENT_OPERATOR : P2P_ARGUMENT_TYPE,
                      dtype_advice(call->dtype, op), "%s", unfit);
    if (call->reorders && !op_commutes(call->op))
        return refuse(call, what, P2P_ERR_ARG, P2P_ARGUMENT_OPERATOR,
                      "coll_all_reduce, coll_reduce or coll_scan, which keep the order of the ranks",
                      "the operator does not commute, and this algorithm combines in another order than that of the "
                      "ranks");
    if (call->returns_request && !call->request)
        return refuse(call, what, P2P_ERR_ARG, P2P_ARGUMENT_REQUEST, NULL,
                      "request is NULL: nothing could wait for this");
    if (call->wrong)
        return refuse(call, what, P2P_ERR_ARG, call->wrong_argument ? call->wrong_argument : P2P_ARGUMENT_OTHER,
                      call->advice, "%s", call->wrong);
    p2p_err err = P2P_OK;
    if (reads.elements) err = check_span(call, what, "send buffer", reads, &read_bytes);
    if (!err) err = check_span(call, what, reads.start ? "receive buffer" : "buffer", writes, &call->user_bytes);
    if (!err && overlap(reads, read_bytes, writes, call->user_bytes))
        err = refuse(call, what, P2P_ERR_ARG, P2P_ARGUMENT_OVERLAP, "a separate buffer to receive into",
                     "the send buffer and the receive buffer overlap");
    return err;
}

bool frame__has_inline(const p2p_comm *comm)
{
    return p2p_layer_has_inline(comm) && !p2p_layer_is_inside(comm);
}

void frame__needs_shared_memory(frame__call *call)
{
    if (p2p_size(call->comm) == 1) return;
    if (!p2p_layer_has_shared_memory(call->comm)) {
        call->wrong = "this algorithm needs ranks that share memory";
        call->advice = "PAIRWISE_WORLD=shm, and no virtual network";
    } else if (p2p_layer_is_inside(call->comm)) {
        call->wrong = "this algorithm cannot be part of another collective";
        call->advice = "coll_all_reduce, which then takes another";
    }
}

p2p_err frame__begin(frame__call *call, frame__span reads, frame__span writes)
{
    const p2p_fingerprint what = {.operation = call->operation,
                                  .algorithm = call->algorithm,
                                  .count = call->count,
                                  .dtype = dtype_name(call->dtype),
                                  .op = call->has_op ? op_name(call->op) : NULL,
                                  .root = call->has_root ? call->root : -1,
                                  .late = true,
                                  .returns = call->returns_request,
                                  .barriers = call->barriers,
                                  .parts = call->parts,
                                  .inline_payload = call->inline_payload,
                                  .inline_bytes = call->inline_bytes};
    call->rank = p2p_rank(call->comm);
    call->size = p2p_size(call->comm);
    if (!call->size) return p2p_layer_begin(call->comm, &what); /* no usable communicator: the layer says why */
    p2p_err err = check(call, &what, reads, writes);
    if (err) return err;
    call->left = (call->rank ? call->rank : call->size) - 1;
    call->right = call->rank + 1 < call->size ? call->rank + 1 : 0;
    call->source = reads.start;
    call->user = (char *)(uintptr_t)writes.start;
    call->element = dtype_size(call->dtype);
    call->bytes = call->count == FRAME_ANY ? 0 : call->count * call->element;
    call->is_short = call->user_bytes <= FRAME_SHORT;
    call->traced = p2p_layer_is_traced(call->comm);
    bool explained = p2p_layer_is_explained(call->comm);
    size_t own = reads.elements > writes.elements ? reads.elements : writes.elements;
    if (explained) frame__measure(call->comm);
    if (explained && call->count == FRAME_ANY) p2p_layer_block(call->comm, own * call->element);
    err = p2p_layer_begin(call->comm, &what);
    if (!err && explained) frame__explain(call);
    return err;
}

/* ---- Memory and end ---- */

p2p_err frame__memory(frame__call *call, size_t scratch_bytes)
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
    call->scratch_bytes = scratch_bytes;
    return P2P_OK;
}

p2p_err frame__end(frame__call *call, p2p_err err, const void *result)
{
    if (err == P2P_ERR_TRUNCATE) { /* of another collective's message: the mismatch says more */
        p2p_err disagreement = p2p_layer_agree(call->comm);
        if (disagreement) err = disagreement;
    }
    if (!err && result && result != call->user) {
        err = p2p_layer_agree(call->comm);
        if (!err) p2p_layer_copy(call->user, result, call->user_bytes);
    }
    free(call->memory);
    return p2p_layer_end(call->comm, err);
}

/* ---- Combining ---- */

void frame__combine_some(const frame__call *call, void *out, const void *left, const void *right, size_t count)
{
    dtype_combine(out, left, right, count, call->dtype, call->op);
    p2p_layer_compute(call->comm, count * call->element);
}

void frame__combine(const frame__call *call, void *out, const void *left, const void *right)
{
    frame__combine_some(call, out, left, right, call->count);
}

void frame__finish_mean(const frame__call *call, void *sum, size_t count)
{
    if (call->op == OP_MEAN) dtype_scale(sum, count, call->dtype, call->size);
}
