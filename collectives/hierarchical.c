/* SPDX-License-Identifier: MIT */
/*
 * Hierarchical all-reduce: what leaves a host is as little as if each host were one rank. The buffer is cut into slices,
 * as many as the host with the fewest ranks has; on each host slice s belongs to the s-th rank there. Two hosts, of two
 * and of three ranks, slices 0 and 1:
 *
 *      host                     A                       B
 *      rank                  0       1          2       3       4
 *      has                  a0 a1   b0 b1      c0 c1   d0 d1   e0 e1
 *      within the host      ab0     ab1        cde0    cde1      -         reduce-scatter: slices to their owners
 *      across hosts          0       1          0       1        -         a ring of hosts for each slice (all_reduce.c)
 *      within the host      0 1     0 1        0 1     0 1     0 1         all-gather: slices from their owners
 *
 * For H hosts, R ranks on each and S bytes: the slices' rings send 2(H-1)/H of each slice to the next host, so
 * 2(H-1)/H S leave a host, wherever the ranks are, and R rings go on at the same time. A flat ring, numbered host by
 * host, sends 2(n-1)/n S over one pair of ranks; R times that if the ranks are dealt out. Within a host each rank sends
 * and receives 2(R-1)/R S.
 *
 * Where the ranks of a host share memory, what goes on within it needs no messages: hierarchical_shared.c, with the same parts in
 * the same order.
 *
 * 2 + 2(H-1) steps. Order: within a host in rank order; hosts round the ring, as ring_all_reduce does ranks: all get the
 * same bits. (The scheme of the MPI libraries and of NCCL: Jia et al. 2018, "Highly scalable deep learning training system".)
 */
#include <stdlib.h>

#include "collectives/hierarchical.h"

static coll__layout find_layout(const frame__call *call)
{
    coll__layout at = {.hosts = p2p_hosts(call->comm), .own = p2p_host(call->comm, call->rank), .slices = call->size};
    int count[P2P_MAX_RANKS] = {0}, before = (at.own + at.hosts - 1) % at.hosts, behind = (at.own + 1) % at.hosts;
    for (int rank = 0; rank < call->size; rank++) {
        int host = p2p_host(call->comm, rank);
        if (host == at.own && rank == call->rank) at.number = at.here;
        if (host == at.own) at.local[at.here++] = rank;
        count[host]++;
    }
    for (int host = 0; host < at.hosts; host++)
        if (count[host] < at.slices) at.slices = count[host];
    for (int host = 0; host < at.hosts; host++) count[host] = 0;
    for (int rank = 0; rank < call->size; rank++) {
        int host = p2p_host(call->comm, rank), number = count[host]++;
        if (host == before && number == at.number) at.left = rank;
        if (host == behind && number == at.number) at.right = rank;
    }
    return at;
}

static char *at(const frame__call *call, const void *base, coll__span s)
{
    return call->bytes ? (char *)(uintptr_t)base + s.first * call->element : NULL;
}

/* ---- Within the host ---- */

static p2p_err wait_all(p2p_request requests[], size_t count, p2p_err err)
{
    for (size_t i = 0; i < count; i++) {
        p2p_err other = p2p_wait(&requests[i], P2P_STATUS_IGNORE);
        if (!err) err = other;
    }
    return err;
}

/* Slice s of what each rank here has goes to the rank that owns it, which combines them in order of rank. */
static p2p_err reduce_scatter(const frame__call *call, const coll__layout *l, const void *own, p2p_request *requests)
{
    const coll__span whole = {0, call->count}, slice = coll__part_of(whole, l->slices, l->number);
    size_t half = call->scratch_bytes / 2, begun = 0;
    p2p_err err = P2P_OK;
    for (int s = 0; s < l->slices && !err; s++) {
        const coll__span theirs = coll__part_of(whole, l->slices, s);
        if (s == l->number) continue;
        err = p2p_layer_isend(call->comm, at(call, own, theirs), theirs.count * call->element, l->local[s], FRAME_TAG,
                              &requests[begun]);
        if (!err) begun++;
    }
    const char *so_far = NULL, *mine = at(call, own, slice);
    char *sum = at(call, call->work, slice);
    for (int q = 0; q < l->here && l->number < l->slices && !err; q++) {
        /* before this rank's turn the sum travels between the halves of the scratch memory: `mine` may be `sum` */
        char *arriving = call->scratch + (so_far == call->scratch ? half : 0);
        const char *next = q == l->number ? mine : arriving;
        if (q != l->number)
            err = p2p_layer_recv(call->comm, arriving, slice.count * call->element, l->local[q], FRAME_TAG,
                                 P2P_STATUS_IGNORE);
        if (err) break;
        char *into = q < l->number ? arriving : sum;
        if (so_far)
            frame__combine_some(call, into, so_far, next, slice.count);
        else if (next != into)
            p2p_layer_copy(into, next, slice.count * call->element);
        so_far = into;
    }
    return wait_all(requests, begun, err);
}

/* Each rank gets the slices of the others from their owners. */
static p2p_err all_gather(const frame__call *call, const coll__layout *l, p2p_request *requests)
{
    const coll__span whole = {0, call->count}, slice = coll__part_of(whole, l->slices, l->number);
    size_t begun = 0;
    p2p_err err = P2P_OK;
    for (int q = 0; q < l->here && l->number < l->slices && !err; q++) {
        if (q == l->number) continue;
        err = p2p_layer_isend(call->comm, at(call, call->work, slice), slice.count * call->element, l->local[q],
                              FRAME_TAG, &requests[begun]);
        if (!err) begun++;
    }
    for (int s = 0; s < l->slices && !err; s++) {
        const coll__span theirs = coll__part_of(whole, l->slices, s);
        if (s == l->number) continue;
        err = p2p_layer_recv(call->comm, at(call, call->work, theirs), theirs.count * call->element, l->local[s],
                             FRAME_TAG, P2P_STATUS_IGNORE);
    }
    return wait_all(requests, begun, err);
}

/* ---- Across hosts: the ring of ring/all_reduce.c, for one slice ---- */

static p2p_err pass(const frame__call *call, const coll__layout *l, frame__piece out, void *in, size_t bytes)
{
    return p2p_layer_sendrecv(call->comm, out.at, out.bytes, l->right, FRAME_TAG, in, bytes, l->left, FRAME_TAG,
                              P2P_STATUS_IGNORE);
}

static frame__piece round_the_ring(const frame__piece parts[], const coll__layout *l, int number)
{
    return parts[(number % l->hosts + l->hosts) % l->hosts];
}

p2p_err coll__ring_of_hosts(const frame__call *call, const coll__layout *l, const frame__piece parts[], void *arrived)
{
    p2p_err err = P2P_OK;
    for (int s = 0; s < l->hosts - 1 && !err; s++) {
        const frame__piece in = round_the_ring(parts, l, l->own - s - 2);
        err = pass(call, l, round_the_ring(parts, l, l->own - s - 1), arrived, in.bytes);
        if (!err) frame__combine_some(call, in.at, arrived, in.at, in.bytes / call->element);
    }
    const frame__piece complete = parts[l->own];
    if (!err && call->size > 1) frame__finish_mean(call, complete.at, complete.bytes / call->element);
    for (int s = 0; s < l->hosts - 1 && !err; s++) {
        const frame__piece in = round_the_ring(parts, l, l->own - s - 1);
        err = pass(call, l, round_the_ring(parts, l, l->own - s), in.at, in.bytes);
    }
    return err;
}

/* ---- The whole ---- */

static p2p_err ring_of_slice(const frame__call *call, const coll__layout *l)
{
    const coll__span slice = coll__part_of((coll__span){0, call->count}, l->slices, l->number);
    frame__piece parts[P2P_MAX_RANKS];
    for (int p = 0; p < l->hosts; p++) {
        const coll__span part = coll__part_of(slice, l->hosts, p);
        parts[p] = (frame__piece){at(call, call->work, part), part.count * call->element};
    }
    return coll__ring_of_hosts(call, l, parts, call->scratch);
}

static p2p_err by_messages(frame__call *call, const coll__layout *l, const void *buf)
{
    size_t slice = (call->count / (size_t)l->slices + 1) * call->element; /* at least that of any */
    p2p_request *requests = calloc((size_t)l->here + 1, sizeof(p2p_request));
    p2p_err err = requests ? frame__memory(call, 2 * ((slice + 63) / 64 * 64))
                           : p2p_layer_error(call->comm, P2P_ERR_NOMEM, "no memory for %d requests", l->here);
    if (!err) err = reduce_scatter(call, l, buf, requests);
    if (!err && l->number < l->slices) err = ring_of_slice(call, l);
    if (!err) err = all_gather(call, l, requests);
    free(requests);
    return err;
}

p2p_err coll__hierarchical_all_reduce(frame__call *call, void *buf)
{
    call->reorders = true;
    call->barriers = frame__has_inline(call->comm);
    p2p_err err = frame__begin(call, FRAME_NOTHING, (frame__span){buf, call->count});
    if (err) return err;
    const coll__layout l = find_layout(call);
    size_t round = coll__hierarchical_round(call, &l);
    err = round ? coll__hierarchical_shared(call, &l, round) : by_messages(call, &l, buf);
    return frame__end(call, err, call->work);
}

p2p_err coll_hierarchical_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_hierarchical_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op};
    return coll__hierarchical_all_reduce(&call, buf);
}
