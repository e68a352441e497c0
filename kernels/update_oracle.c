/* SPDX-License-Identifier: MIT */
/*
 * update_oracle: PyTorch's optimisers as its documentation defines them, for one parameter.
 */
#include <math.h>

#include "kernels/oracle.h"

static double adam(const kernel_optimizer *o, uint64_t step, double p, double g, double state[2])
{
    state[0] = o->beta1 * state[0] + (1 - o->beta1) * g;
    state[1] = o->beta2 * state[1] + (1 - o->beta2) * g * g;
    double mean = state[0] / (1 - pow(o->beta1, (double)step)), square = state[1] / (1 - pow(o->beta2, (double)step));
    return p - o->lr * mean / (sqrt(square) + o->eps);
}

static double rmsprop(const kernel_optimizer *o, double p, double g, double state[2])
{
    state[0] = o->alpha * state[0] + (1 - o->alpha) * g * g;
    double step = g / (sqrt(state[0]) + o->eps);
    if (o->momentum == 0) return p - o->lr * step;
    state[1] = o->momentum * state[1] + step;
    return p - o->lr * state[1];
}

static double sgd(const kernel_optimizer *o, double p, double g, double state[2])
{
    state[0] = o->momentum * state[0] + g;
    return p - o->lr * (o->rule == KERNEL_NESTEROV ? g + o->momentum * state[0] : state[0]);
}

double kernel_oracle_update(const kernel_optimizer *o, uint64_t step, double p, double g, double state[2])
{
    switch (o->rule) {
    case KERNEL_SGD:
    case KERNEL_NESTEROV: return sgd(o, p, g + o->weight_decay * p, state);
    case KERNEL_ADAM: return adam(o, step, p, g + o->weight_decay * p, state);
    case KERNEL_ADAMW: return adam(o, step, p - o->lr * o->weight_decay * p, g, state);
    case KERNEL_RMSPROP: return rmsprop(o, p, g + o->weight_decay * p, state);
    }
    return NAN;
}
