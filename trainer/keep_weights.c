/* SPDX-License-Identifier: MIT */
/*
 * With --repair: if all ranks die at once, no process has the weights of the last step. So each rank keeps 1/n of the
 * parameters and of the optimiser's state in kept memory (p2p_keep), which its next process finds again:
 *
 *      part of a rank      |  0  |  1  |  2  |     of each of the flat arrays
 *      slots               | K | K + 1 |           by the number of the step, modulo 2
 *
 * The part after step K is written before this rank sends gradients of K + 1, without which no rank takes K + 1. So no rank
 * has a part of K + 2 while another one has none of K: two slots will do. What is kept of a step is the same whenever it is
 * taken, and is not written again: the other slot may be of a step that is not taken yet. With --shard: shard_keep.c. With
 * --shrink a rank is always left.
 */
#include <string.h>

#include "collectives/collectives.h"
#include "trainer/run.h"

static const enum train_array_kind kinds[] = {TRAIN_PARAMETERS, TRAIN_FIRST_STATE, TRAIN_SECOND_STATE};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int arrays(const train_runner *r)
{
    const int states = kernel_optimizer_states(&r->optimizer);
    return states < KINDS ? 1 + states : KINDS;
}

static size_t first_of(const train_runner *r, int rank)
{
    return r->job->model->parameters / (size_t)r->size * (size_t)rank;
}

static size_t count_of(const train_runner *r, int rank)
{
    size_t end = rank + 1 < r->size ? first_of(r, rank + 1) : r->job->model->parameters;
    return end - first_of(r, rank);
}

/* Of one array, in the slot of a step. */
static float *kept_of(const train_runner *r, uint64_t step, int array)
{
    size_t slot = step % TRAIN__KEPT_PARTS * (size_t)arrays(r) + (size_t)array;
    return r->kept_part + slot * count_of(r, r->rank);
}

p2p_err train__keep_weights_open(train_runner *r, _Atomic uint64_t steps[])
{
    if (r->sharding || r->settings->shrink) return P2P_OK;
    size_t floats = TRAIN__KEPT_PARTS * (size_t)arrays(r) * count_of(r, r->rank);
    void *memory = NULL;
    p2p_err err = train__comm(r->comm, r->error,
                              p2p_keep(r->comm, "weights", floats * sizeof(float) + 1, &memory, NULL));
    r->kept_part = memory;
    r->kept_steps = steps;
    return err;
}

p2p_err train__keep_weights_begin(train_runner *r)
{
    p2p_err err = P2P_OK;
    for (int k = 0; r->kept_part && k < arrays(r) && !err; k++) {
        kernel_event_free(r->kept_read);
        r->kept_read = NULL;
        if (!train_map_part(r->network, kinds[k], first_of(r, r->rank), count_of(r, r->rank), &r->kept_read, r->error))
            err = P2P_ERR_SYS;
    }
    return err;
}

void train__keep_weights(train_runner *r, uint64_t step)
{
    if (!r->kept_part || atomic_load(&r->kept_steps[step % TRAIN__KEPT_PARTS]) == step) return;
    size_t first = first_of(r, r->rank), count = count_of(r, r->rank);
    _Atomic uint64_t *whole = &r->kept_steps[step % TRAIN__KEPT_PARTS];
    atomic_store(whole, 0);
    for (int k = 0; k < arrays(r); k++) {
        const train_shared *array = k ? &r->network->state[k - 1] : &r->network->parameters;
        memcpy(kept_of(r, step, k), (float *)array->host + first, count * sizeof(float));
    }
    atomic_store(whole, step);
}

p2p_err train__take_kept_weights(train_runner *r, uint64_t step)
{
    p2p_err err = P2P_OK;
    for (int k = 0; k < arrays(r) && !err; k++) {
        float *at = train_map(r->network, kinds[k], r->error);
        if (!at) return P2P_ERR_SYS;
        memcpy(at + first_of(r, r->rank), kept_of(r, step, k), count_of(r, r->rank) * sizeof *at);
        for (int rank = 0; rank < r->size && !err; rank++)
            err = train__comm(r->comm, r->error,
                              coll_broadcast(r->comm, at + first_of(r, rank), count_of(r, rank), DTYPE_F32, rank));
        if (!err) err = train_flush(r->network, kinds[k], r->error);
    }
    return err;
}
