/* SPDX-License-Identifier: MIT */
/*
 * With --repair: a rank's own part of the parameters and of the optimiser's state lies in kept memory as well, which the
 * next process of the rank finds again. It is written after each update, before the others get anything of the step, so
 * that no rank is more than one step ahead of what every rank has kept: two slots will do.
 *
 *      slots of a rank     | K | K + 1 |     by the number of the step, modulo 2
 */
#include <string.h>

#include "trainer/shard.h"

static float *slot_of(const train__shard *s, uint64_t step)
{
    return s->kept.floats + step % TRAIN__KEPT_PARTS * s->kept.count;
}

p2p_err train__shard_keep_open(train__shard *s, int states, _Atomic uint64_t steps[], train_error *error)
{
    void *memory = NULL;
    size_t own = 0;
    for (size_t i = 0; i < s->count; i++) own += s->parts[i].own_count;
    size_t count = own * (size_t)(1 + states), bytes = TRAIN__KEPT_PARTS * count * sizeof(float);
    p2p_err err = train__comm(s->comm, error, p2p_keep(s->comm, "shard", bytes + 1, &memory, NULL));
    if (!err) s->kept = (train__kept_parts){states, count, memory, steps};
    return err;
}

/* From the arrays to a slot, or back. */
static void copy(const train__shard *s, float *slot, bool back)
{
    for (int k = -1; k < s->kept.states; k++) {
        const train_shared *array = k < 0 ? &s->network->parameters : &s->network->state[k];
        for (size_t i = 0; i < s->count; i++) {
            const train__part *p = &s->parts[i];
            float *own = (float *)array->host + p->own;
            memcpy(back ? own : slot, back ? slot : own, p->own_count * sizeof *own);
            slot += p->own_count;
        }
    }
}

p2p_err train__shard_keep(train__shard *s, uint64_t step, train_error *error)
{
    if (!s->kept.floats) return P2P_OK;
    _Atomic uint64_t *whole = &s->kept.steps[step % TRAIN__KEPT_PARTS];
    kernel_err broken = kernel_finish(s->network->device);
    if (broken) return train__device_fail(s->network, broken, error);
    atomic_store(whole, 0);
    copy(s, slot_of(s, step), false);
    atomic_store(whole, step);
    return P2P_OK;
}

p2p_err train__shard_take(train__shard *s, uint64_t step, train_error *error)
{
    copy(s, slot_of(s, step), true);
    return s->what == TRAIN_SHARD_PARAMETERS ? P2P_OK : train__shard_gather(s, error);
}
