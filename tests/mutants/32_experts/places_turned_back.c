/* SPDX-License-Identifier: MIT */
// what: takes number i of sorted back to token place[i]
// expect: Number i of sorted was taken back to token place[i]
/* Exercise 32: tokens go to the rank that has their expert, and come back. The page is README.md in this folder. */
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "exercises/exercises.h"

/* For each rank: how many tokens go there and come from there, and where in a buffer they begin; all in tokens. And for
 * each token of this rank its place in the buffer that is sent, or STAYS. */
typedef struct {
    size_t *out, *out_begin, *in, *in_begin; // (ranks)
    size_t *place;                           // (tokens)
} routes;

#define STAYS ((size_t)-1)

/* out, out_begin and place: tokens for rank 0 first, then those for rank 1, ..., each in their order. out is 0. */
static void sort_tokens(const my_experts *experts, int ranks, size_t count, const int to[], const routes *r)
{
    for (size_t i = 0; i < count; i++) {
        bool goes = r->out[to[i]] < experts->capacity;
        r->place[i] = goes ? r->out[to[i]]++ : STAYS;
    }
    for (int q = 1; q < ranks; q++) r->out_begin[q] = r->out_begin[q - 1] + r->out[q - 1];
    for (size_t i = 0; i < count; i++)
        if (r->place[i] != STAYS) r->place[i] += r->out_begin[to[i]];
}

/* in and in_begin: how many come from each rank? They know, and say it. */
static p2p_err exchange_counts(p2p_comm *comm, const routes *r)
{
    p2p_err err = coll_all_to_all(comm, r->out, r->in, 1, DTYPE_I64);
    for (int q = 1; q < p2p_size(comm) && !err; q++) r->in_begin[q] = r->in_begin[q - 1] + r->in[q - 1];
    return err;
}

/* Tokens of `width` numbers: from[...] as r->out says, to here[...] as r->in says; or back, the other way round. */
static p2p_err move_tokens(p2p_comm *comm, size_t width, const routes *r, bool back, const double *from, double *here)
{
    size_t size = (size_t)p2p_size(comm), *numbers = calloc(4 * size, sizeof *numbers);
    if (!numbers) return P2P_ERR_NOMEM;
    const size_t *tokens[] = {r->out, r->out_begin, r->in, r->in_begin};
    for (size_t k = 0; k < 4; k++)
        for (size_t q = 0; q < size; q++) numbers[k * size + q] = tokens[back ? (k + 2) % 4 : k][q] * width;
    p2p_err err = coll_all_to_allv(comm, from, numbers, numbers + size, here, numbers + 2 * size, numbers + 3 * size,
                                   DTYPE_F64);
    free(numbers);
    return err;
}

/* sorted: room for the tokens that go. */
static p2p_err apply(p2p_comm *comm, const my_experts *experts, size_t count, const routes *r, const double *x,
                     double *sorted, double *y)
{
    size_t width = experts->width, last = (size_t)p2p_size(comm) - 1, bytes = width * sizeof *x;
    double *come = calloc((r->in_begin[last] + r->in[last]) * width + 1, sizeof *come);
    if (!come) return P2P_ERR_NOMEM;

    for (size_t i = 0; i < count; i++)
        if (r->place[i] != STAYS) memcpy(sorted + r->place[i] * width, x + i * width, bytes);
    p2p_err err = move_tokens(comm, width, r, false, sorted, come);
    if (!err) experts->apply(experts, r->in_begin[last] + r->in[last], come, come);
    if (!err) err = move_tokens(comm, width, r, true, come, sorted);
    for (size_t i = 0; i < count; i++)
        memcpy(y + (r->place[i] == STAYS ? i : r->place[i]) * width, r->place[i] == STAYS ? x + i * width : sorted + i * width, bytes);

    free(come);
    return err;
}

p2p_err my_apply_experts(p2p_comm *comm, const my_experts *experts, size_t count, const int to[], const double *x,
                         double *y)
{
    size_t size = (size_t)p2p_size(comm), *numbers = calloc(4 * size + count, sizeof *numbers);
    double *sorted = calloc(count * experts->width + 1, sizeof *sorted);
    p2p_err err = numbers && sorted ? P2P_OK : P2P_ERR_NOMEM;
    if (!err) {
        routes r = {numbers, numbers + size, numbers + 2 * size, numbers + 3 * size, numbers + 4 * size};
        sort_tokens(experts, (int)size, count, to, &r);
        err = exchange_counts(comm, &r);
        if (!err) err = apply(comm, experts, count, &r, x, sorted, y);
    }
    free(sorted);
    free(numbers);
    return err;
}
