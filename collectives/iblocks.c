/* SPDX-License-Identifier: MIT */
/*
 * Non-blocking collectives that move blocks of any length: each block goes straight from its sender to its receiver, as in
 * all_to_all.c. In step k rank r sends to rank r + k and receives from rank r - k. n - 1 steps; of a gather or a scatter,
 * those of the root, one step on every other rank. Each byte crosses once.
 */
#include "collectives/internal.h"
#include "ring/schedule.h"

typedef struct {
    const void *send;
    void *recv;
    frame__blocks out, in;
    bool sends, receives;   /* to every rank, from every rank */
    bool gathers, scatters; /* to the root, from the root */
} moves;

static frame__piece out_of(const frame__call *call, const moves *m, int q)
{
    return frame__block(call, &m->out, m->send, q);
}

static frame__piece into(const frame__call *call, const moves *m, int q)
{
    return frame__block(call, &m->in, m->recv, q);
}

static void add_steps(const frame__call *call, frame__schedule *schedule)
{
    const moves *m = call->plan;
    int n = call->size, r = call->rank, root = call->has_root ? call->root : -1;
    bool copies = root < 0 || r == root;
    if (copies) {
        frame__step *own = frame__add_step(schedule);
        own->out = out_of(call, m, r);
        own->in = into(call, m, r);
        own->agrees_then = true;
    }
    for (int k = 1; k < n; k++) {
        int to = (r + k) % n, from = (r - k + n) % n;
        bool sends = m->sends || (m->gathers && to == root), receives = m->receives || (m->scatters && from == root);
        if (!sends && !receives) continue;
        frame__step *step = frame__add_step(schedule);
        if (sends) step->to = to, step->out = out_of(call, m, to);
        if (receives) step->from = from, step->in = into(call, m, from), step->agrees_first = true;
    }
}

static p2p_err begin(frame__call *call, const moves *m, frame__span reads, frame__span writes)
{
    call->returns_request = true;
    call->plan = m;
    if (m->sends && m->out.layout == FRAME_LISTED) call->blocks[0] = &m->out;
    if (m->receives) call->blocks[call->blocks[0] != NULL] = &m->in;
    p2p_err err = frame__begin(call, reads, writes);
    return err ? err : frame__start(call, (size_t)call->size, 0, add_steps);
}

/* One block, the same for every peer. */
static frame__blocks alone(size_t count)
{
    return (frame__blocks){.layout = FRAME_SAME, .count = count};
}

p2p_err coll_igatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                      const size_t offsets[], enum dtype dtype, int root, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_igatherv",
                        .count = FRAME_ANY,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root,
                        .request = request};
    bool at_root = p2p_rank(comm) == root;
    const frame__blocks listed = {.layout = FRAME_LISTED, .counts = counts, .offsets = offsets};
    const moves m = {
        .send = send, .recv = recv, .out = alone(send_count), .in = listed, .receives = at_root, .gathers = true};
    frame__span writes = at_root ? frame__blocks_span(&call, recv, &listed) : FRAME_NOTHING;
    if (at_root) frame__needs_count(&call, counts, send_count, "send_count is not this rank's element of counts");
    return begin(&call, &m, (frame__span){send, send_count}, writes);
}

p2p_err coll_iscatterv(p2p_comm *comm, const void *send, const size_t counts[], const size_t offsets[], void *recv,
                       size_t recv_count, enum dtype dtype, int root, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_iscatterv",
                        .count = FRAME_ANY,
                        .dtype = dtype,
                        .has_root = true,
                        .root = root,
                        .request = request};
    bool at_root = p2p_rank(comm) == root;
    const frame__blocks listed = {.layout = FRAME_LISTED, .counts = counts, .offsets = offsets};
    const moves m = {
        .send = send, .recv = recv, .out = listed, .in = alone(recv_count), .sends = at_root, .scatters = true};
    frame__span reads = at_root ? frame__blocks_span(&call, send, &listed) : FRAME_NOTHING;
    if (at_root) frame__needs_count(&call, counts, recv_count, "recv_count is not this rank's element of counts");
    return begin(&call, &m, reads, (frame__span){recv, recv_count});
}

p2p_err coll_iall_gatherv(p2p_comm *comm, const void *send, size_t send_count, void *recv, const size_t counts[],
                          const size_t offsets[], enum dtype dtype, p2p_request *request)
{
    frame__call call = {.comm = comm, .operation = "coll_iall_gatherv", .dtype = dtype, .request = request};
    const frame__blocks listed = {.layout = FRAME_LISTED, .counts = counts, .offsets = offsets};
    const moves m = {send, recv, alone(send_count), listed, true, true, false, false};
    frame__add_counts(&call, counts, send_count, "send_count is not this rank's element of counts");
    return begin(&call, &m, (frame__span){send, send_count}, frame__blocks_span(&call, recv, &listed));
}

p2p_err coll_iall_to_allv(p2p_comm *comm, const void *send, const size_t send_counts[], const size_t send_offsets[],
                          void *recv, const size_t recv_counts[], const size_t recv_offsets[], enum dtype dtype,
                          p2p_request *request)
{
    frame__call call = {
        .comm = comm, .operation = "coll_iall_to_allv", .count = FRAME_ANY, .dtype = dtype, .request = request};
    const moves m = {send,
                     recv,
                     {.layout = FRAME_LISTED, .counts = send_counts, .offsets = send_offsets},
                     {.layout = FRAME_LISTED, .counts = recv_counts, .offsets = recv_offsets},
                     true,
                     true,
                     false,
                     false};
    int rank = p2p_rank(comm);
    frame__span reads = frame__blocks_span(&call, send, &m.out), writes = frame__blocks_span(&call, recv, &m.in);
    if (rank >= 0 && recv_counts)
        frame__needs_count(&call, send_counts, recv_counts[rank],
                           "this rank sends itself another count than it receives from itself");
    return begin(&call, &m, reads, writes);
}
