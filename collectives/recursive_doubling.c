/* SPDX-License-Identifier: MIT */
/*
 * Recursive doubling: in round k every rank exchanges all it has combined so far with the rank whose number differs in
 * bit k, and both combine. After each round twice as many ranks agree. Four ranks:
 *
 *      rank          0        1        2        3
 *      have          a        b        c        d
 *      round 0       ab <---> ab       cd <---> cd
 *      round 1       abcd <----------> abcd              and 1 <---> 3 alike: every rank has (a b)(c d)
 *
 * With n no power of two, the first 2 extra ranks fold into pairs before, and unfold after, so that 2^k take part;
 * extra = n - 2^k. Seven ranks: 2^k = 4, extra = 3:
 *
 *      rank          0        1        2        3        4        5        6
 *      fold          a -----> ab       c -----> cd       e -----> ef       g
 *      number        -        0        -        1        -        2        3
 *      rounds                 abcdefg           abcdefg           abcdefg  abcdefg
 *      unfold        * <----- *        * <----- *        * <----- *
 *
 * Numbers keep the order of the ranks, and who has combined what is a run of ranks: the lower run stands on the left,
 * so both sides of an exchange compute the same bits.
 *
 * log2 n rounds, and two more if n is no power of two. Messages: floor(log2 n) of all bytes a rank, one more for those
 * that unfold. Time: rounds (latency + bytes / bandwidth + combining). Thakur, Rabenseifner and Gropp 2005.
 */
#include "collectives/internal.h"

enum { OUT = -1 }; /* the number of a rank that has folded */

static int extra_of(int size)
{
    int power = 1;
    while (power * 2 <= size) power *= 2;
    return size - power;
}

static int number_of(int place, int extra)
{
    if (place >= 2 * extra) return place - extra;
    return place % 2 ? place / 2 : OUT;
}

static int place_of(int number, int extra)
{
    return number < extra ? 2 * number + 1 : number + extra;
}

/* Those in places 0, 2, 4, ... of the first 2 * extra give what they have to the next one. */
static p2p_err fold(frame__call *call, const coll__party *p, int extra, const void **so_far)
{
    if (p->own >= 2 * extra) return P2P_OK;
    if (p->own % 2 == 0)
        return p2p_layer_send(call->comm, *so_far, call->bytes, coll__rank_at(p, p->own + 1), FRAME_TAG);
    frame__combines_next(call);
    p2p_err err = p2p_layer_recv(call->comm, call->scratch, call->bytes, coll__rank_at(p, p->own - 1), FRAME_TAG,
                                 P2P_STATUS_IGNORE);
    if (err) return err;
    frame__combine(call, call->work, call->scratch, *so_far);
    *so_far = call->work;
    return P2P_OK;
}

static p2p_err exchange(frame__call *call, const coll__party *p, int partner, const void **so_far)
{
    frame__combines_next(call);
    p2p_err err = p2p_layer_sendrecv(call->comm, *so_far, call->bytes, coll__rank_at(p, partner), FRAME_TAG,
                                     call->scratch, call->bytes, coll__rank_at(p, partner), FRAME_TAG,
                                     P2P_STATUS_IGNORE);
    if (err) return err;
    bool partner_is_lower = partner < p->own;
    frame__combine(call, call->work, partner_is_lower ? call->scratch : *so_far,
                   partner_is_lower ? *so_far : call->scratch);
    *so_far = call->work;
    return P2P_OK;
}

static p2p_err double_up(frame__call *call, const coll__party *p, int extra, const void **so_far)
{
    int number = number_of(p->own, extra);
    p2p_err err = P2P_OK;
    if (number == OUT) return P2P_OK;
    for (int bit = 1; bit < p->size - extra && !err; bit *= 2)
        err = exchange(call, p, place_of(number ^ bit, extra), so_far);
    return err;
}

static p2p_err unfold(frame__call *call, const coll__party *p, int extra, const void **so_far)
{
    if (p->own >= 2 * extra) return P2P_OK;
    if (p->own % 2) return p2p_layer_send(call->comm, *so_far, call->bytes, coll__rank_at(p, p->own - 1), FRAME_TAG);
    *so_far = call->work;
    return p2p_layer_recv(call->comm, call->work, call->bytes, coll__rank_at(p, p->own + 1), FRAME_TAG,
                          P2P_STATUS_IGNORE);
}

p2p_err coll__recursive_doubling(frame__call *call, const coll__party *p, const void **so_far)
{
    int extra = extra_of(p->size);
    p2p_err err = fold(call, p, extra, so_far);
    if (!err) err = double_up(call, p, extra, so_far);
    return err ? err : unfold(call, p, extra, so_far);
}

p2p_err coll_recursive_doubling_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_recursive_doubling_all_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op};
    const void *so_far = buf;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    err = frame__memory(&call, call.bytes);
    const coll__party all = coll__all_from(&call, 0);
    if (!err) err = coll__recursive_doubling(&call, &all, &so_far);
    if (!err && call.size > 1) frame__finish_mean(&call, call.work, count);
    return frame__end(&call, err, so_far);
}
