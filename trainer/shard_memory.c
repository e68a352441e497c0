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

static size_t kept(const train__shard *s)
{
    return s->kept.floats ? TRAIN__KEPT_PARTS * s->kept.count * sizeof(float) : 0;
}

/* What only the device has, and no page of it can be looked for. */
static size_t of_the_device(const train__shard *s)
{
    size_t sums = s->batches > 1 ? train__longest_gradients(s->network->model) * sizeof(float) : 0;
    return s->network->activations + sums;
}

train__holding train__shard_holding(const train__shard *s, int states)
{
    const train_network *net = s->network;
    size_t whole = net->model->parameters * sizeof(float), own = 0;
    bool adds = s->what >= TRAIN_SHARD_GRADIENTS && !s->unreduced.on;
    for (size_t i = 0; i < s->count; i++) own += s->parts[i].own_count * sizeof(float);
    train__holding h = {.parameters = s->what == TRAIN_SHARD_PARAMETERS ? own : whole,
                        .gradients = s->what >= TRAIN_SHARD_GRADIENTS ? own : whole,
                        .state = (size_t)states * own,
                        .gathered = bytes_of(&s->gathered),
                        .unreduced = adds ? whole - own : bytes_of(&s->unreduced),
                        .kept = kept(s),
                        .feedback = feedback(s),
                        .images = TRAIN_SLOTS * net->capacity * (TRAIN_PIXELS + 1) * sizeof(float),
                        .activations = net->activations,
                        .sums = of_the_device(s) - net->activations};
    h.together = h.parameters + h.gradients + h.state + h.gathered + h.unreduced + h.kept + h.feedback + h.images +
                 h.activations + h.sums;
    return h;
}

static size_t held(const train_shared *array)
{
    return train__pages_held(array->host, array->floats * sizeof(float));
}

/* Pages are counted, also of arrays that are whole. */
static size_t counted(const train__shard *s)
{
    const train_network *net = s->network;
    const train__compressor *c = s->wire;
    size_t parameters = net->model->parameters, now = held(&net->parameters) + held(&net->gradients);
    now += train__window_held(&s->gathered) + train__window_held(&s->unreduced);
    for (int k = 0; k < TRAIN_STATES; k++) now += held(&net->state[k]);
    for (int i = 0; i < TRAIN_SLOTS; i++) now += held(&net->slots[i].images) + held(&net->slots[i].labels);
    if (s->kept.floats) now += train__pages_held(s->kept.floats, kept(s));
    if (c) now += train__pages_held(c->error, parameters * sizeof *c->error);
    if (c) now += train__pages_held(c->halves, parameters * sizeof *c->halves);
    return now;
}

void train__shard_measure(train__shard *s)
{
    enum { STEPS = 3 };
    if (s->updates >= STEPS) return;
    size_t now = of_the_device(s) + counted(s);
    if (now > s->most) s->most = now;
}
