/* SPDX-License-Identifier: MIT */
/* What a rank holds: before the first step, by arithmetic; then as the system says. */
#include "trainer/shard.h"

/* Of other ranks' parameters: this operation's and the next one's. */
static size_t gathered(const train__shard *s, size_t operation, size_t next)
{
    size_t floats = 0;
    if (s->what < TRAIN_SHARD_PARAMETERS) return 0;
    for (size_t i = 0; i < s->count; i++) {
        const train__part *p = &s->parts[i];
        if (train__shard_uses(s, p, operation) || train__shard_uses(s, p, next)) floats += p->count - p->own_count;
    }
    return floats * sizeof(float);
}

/* Of gradients, in the backward pass: pieces that this operation or the one behind it has reached and that are not yet
 * reduced. A step of several batches begins its last one with all of them. */
static size_t unreduced(const train__shard *s, size_t operation, size_t batches)
{
    size_t floats = 0;
    if (s->what < TRAIN_SHARD_GRADIENTS) return 0;
    for (size_t i = 0; i < s->count; i++) {
        const train__part *p = &s->parts[i];
        bool begun = p->high >= operation || batches > 1;
        if (begun && p->low <= operation + 1) floats += p->count - p->own_count;
    }
    return floats * sizeof(float);
}

/* Of --wire: each rank has an error of its own for every gradient, which cannot be divided. */
static size_t feedback(const train__shard *s)
{
    const train__compressor *c = s->wire;
    return c ? c->model->parameters * (sizeof *c->error + sizeof *c->halves) : 0;
}

train__holding train__shard_holding(const train__shard *s, int states, size_t batches)
{
    size_t whole = s->network->model->parameters * sizeof(float), own = 0, window = 0;
    for (size_t i = 0; i < s->count; i++) own += s->parts[i].own_count * sizeof(float);
    train__holding h = {.parameters = s->what == TRAIN_SHARD_PARAMETERS ? own : whole,
                        .gradients = s->what >= TRAIN_SHARD_GRADIENTS ? own : whole,
                        .state = (size_t)states * own,
                        .feedback = feedback(s),
                        .activations = s->network->activations};
    for (size_t i = 0; i < s->network->model->operation_count; i++) {
        size_t one = gathered(s, i, i - 1), other = unreduced(s, i, batches);
        if (one > h.gathered) h.gathered = one;
        if (other > h.unreduced) h.unreduced = other;
        if (one + other > window) window = one + other;
    }
    h.together = h.parameters + h.gradients + h.state + h.feedback + h.activations + window;
    return h;
}

static size_t held(const train_shared *array)
{
    return array->paged ? train__pages_held(array->host, array->paged) : array->floats * sizeof(float);
}

void train__shard_measure(train__shard *s)
{
    enum { STEPS = 3 };
    const train_network *net = s->network;
    if (s->updates >= STEPS) return;
    size_t now = net->activations + feedback(s) + held(&net->parameters) + held(&net->gradients);
    for (int k = 0; k < TRAIN_STATES; k++) now += held(&net->state[k]);
    if (now > s->most) s->most = now;
}
