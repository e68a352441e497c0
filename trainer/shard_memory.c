/* SPDX-License-Identifier: MIT */
/* What a rank holds: before the first step, by arithmetic; then as the system says. */
#include "trainer/shard.h"

static size_t bytes_of(const train_window *window)
{
    return window->floats * sizeof(float);
}

/* Of --wire: each rank has an error of its own for every gradient, which cannot be divided. */
static size_t feedback(const train__shard *s)
{
    const train__compressor *c = s->wire;
    return c ? c->model->parameters * (sizeof *c->error + sizeof *c->halves) : 0;
}

train__holding train__shard_holding(const train__shard *s, int states)
{
    size_t whole = s->network->model->parameters * sizeof(float), own = 0;
    bool adds = s->what >= TRAIN_SHARD_GRADIENTS && !s->unreduced.on;
    for (size_t i = 0; i < s->count; i++) own += s->parts[i].own_count * sizeof(float);
    train__holding h = {.parameters = s->what == TRAIN_SHARD_PARAMETERS ? own : whole,
                        .gradients = s->what >= TRAIN_SHARD_GRADIENTS ? own : whole,
                        .state = (size_t)states * own,
                        .gathered = bytes_of(&s->gathered),
                        .unreduced = adds ? whole - own : bytes_of(&s->unreduced),
                        .feedback = feedback(s),
                        .activations = s->network->activations};
    h.together = h.parameters + h.gradients + h.state + h.gathered + h.unreduced + h.feedback + h.activations;
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
    now += train__window_held(&s->gathered) + train__window_held(&s->unreduced);
    for (int k = 0; k < TRAIN_STATES; k++) now += held(&net->state[k]);
    if (now > s->most) s->most = now;
}
