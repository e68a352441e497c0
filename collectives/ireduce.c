/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking reductions strictly in rank order, for any operator:
 *
 *      reduce              every rank sends its buffer to the root, which combines them: ((x0 + x1) + x2) + ...
 *      all-reduce          the same at rank 0, which sends the result to every rank
 *      reduce-scatter      every rank sends block q to rank q, which combines what it has received
 *
 * The bits of naive_reduce.c. n - 1 messages of the whole buffer into the root; of a block into every rank.
 */
#include "collectives/internal.h"
#include "ring/schedule.h"

static void combine(frame__step *step, void *sum, const void *left, const void *right, size_t count)
{
    step->sum = sum;
    step->left = left;
    step->right = right;
    step->count = count;
}

/* At the root: the result is in the first half of the scratch memory. */
static void add_root_steps(const frame__call *call, frame__schedule *schedule, int root)
{
    char *sum = call->scratch, *next = sum + call->bytes;
    frame__step *step = frame__add_step(schedule);
    step->in = (frame__piece){sum, call->bytes};
    step->out = (frame__piece){call->user, call->bytes};
    if (root != 0) step->from = 0;
    for (int q = 1; q < call->size; q++) {
        step = frame__add_step(schedule);
        if (q != root) {
            step->from = q;
            step->in = (frame__piece){next, call->bytes};
        }
        combine(step, sum, sum, q == root ? call->user : next, call->count);
        step->ends_mean = q == call->size - 1;
    }
}

static frame__step *send_step(const frame__call *call, frame__schedule *schedule, const void *from, int to)
{
    frame__step *step = frame__add_step(schedule);
    step->to = to;
    step->out = (frame__piece){(char *)(uintptr_t)from, call->bytes};
    return step;
}

static void store(const frame__call *call, frame__schedule *schedule)
{
    frame__step *step = frame__add_step(schedule);
    step->out = (frame__piece){call->scratch, call->bytes};
    step->in = (frame__piece){call->user, call->bytes};
    step->agrees_then = true;
}

static void add_reduce(const frame__call *call, frame__schedule *schedule)
{
    if (call->rank != call->root) {
        send_step(call, schedule, call->user, call->root);
        return;
    }
    add_root_steps(call, schedule, call->root);
    store(call, schedule);
}

static void add_all_reduce(const frame__call *call, frame__schedule *schedule)
{
    if (call->rank) {
        send_step(call, schedule, call->user, 0);
        frame__step *step = frame__add_step(schedule);
        step->from = 0;
        step->in = (frame__piece){call->user, call->bytes};
        step->agrees_first = true;
        return;
    }
    add_root_steps(call, schedule, 0);
    for (int q = 1; q < call->size; q++) send_step(call, schedule, call->scratch, q);
    store(call, schedule);
}

p2p_err coll_ireduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root,
                     p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_ireduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .has_root = true,
                        .root = root,
                        .returns_request = true,
                        .request = request};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    size_t scratch = call.rank == root ? 2 * call.bytes : 0;
    return err ? err : frame__start(&call, (size_t)call.size + 2, scratch, add_reduce);
}

p2p_err coll_naive_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op,
                               p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_naive_iall_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .returns_request = true,
                        .request = request};
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    return err ? err : frame__start(&call, 2 * (size_t)call.size + 2, call.rank ? 0 : 2 * call.bytes, add_all_reduce);
}

/* ---- Reduce-scatter ---- */

typedef struct {
    const void *send;
    frame__blocks blocks;
} parts;

/* What rank q has of this rank's part: received, or its own. */
static const char *part_of(const frame__call *call, const parts *p, int q)
{
    if (q == call->rank) return frame__block(call, &p->blocks, p->send, q).at;
    return call->scratch + (size_t)q * call->user_bytes;
}

static void add_reduce_scatter(const frame__call *call, frame__schedule *schedule)
{
    const parts *p = call->plan;
    int n = call->size, r = call->rank;
    size_t bytes = call->user_bytes, count = bytes / call->element;
    for (int k = 1; k < n; k++) {
        frame__step *step = frame__add_step(schedule);
        step->to = (r + k) % n;
        step->from = (r - k + n) % n;
        step->out = frame__block(call, &p->blocks, p->send, step->to);
        step->in = (frame__piece){call->scratch + (size_t)step->from * bytes, bytes};
    }
    char *sum = call->scratch + (size_t)n * bytes;
    for (int q = 1; q < n && count; q++) {
        frame__step *step = frame__add_step(schedule);
        combine(step, sum, q == 1 ? part_of(call, p, 0) : sum, part_of(call, p, q), count);
        step->ends_mean = q == n - 1;
    }
    frame__step *last = frame__add_step(schedule);
    last->out = (frame__piece){n > 1 ? sum : (char *)(uintptr_t)part_of(call, p, 0), bytes};
    last->in = (frame__piece){call->user, bytes};
    last->agrees_then = true;
}

p2p_err coll_ireduce_scatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[],
                              void *recv, size_t recv_count, enum dtype dtype, enum op op, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_ireduce_scatterv",
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .returns_request = true,
                        .request = request};
    const parts p = {send, {.layout = FRAME_LISTED, .counts = counts, .offsets = offsets}};
    call.plan = &p;
    call.blocks[0] = &p.blocks;
    frame__add_counts(&call, counts, recv_count, "recv_count is not this rank's element of counts");
    frame__span reads = frame__blocks_span(&call, send, &p.blocks);
    p2p_err err = frame__begin(&call, reads, (frame__span){recv, recv_count});
    size_t scratch = ((size_t)call.size + 1) * call.user_bytes;
    return err ? err : frame__start(&call, 2 * (size_t)call.size, scratch, add_reduce_scatter);
}
