/* SPDX-License-Identifier: MIT */
/*
 * update: a step of an optimiser over a slice of the parameters. update.cl has the formulas; what depends on the step
 * alone is computed here, in double, as PyTorch does.
 */
#include <math.h>

#include "kernels/device.h"
#include "kernels/shapes.h"

static const char *const kernel_names[] = {[KERNEL_SGD] = "sgd",
                                           [KERNEL_ADAM] = "adam",
                                           [KERNEL_ADAMW] = "adam",
                                           [KERNEL_RMSPROP] = "rmsprop",
                                           [KERNEL_NESTEROV] = "nesterov"};

void kernel_optimizer_defaults(kernel_optimizer *optimizer, kernel_rule rule)
{
    *optimizer = (kernel_optimizer){.rule = rule, .beta1 = 0.9, .beta2 = 0.999, .alpha = 0.99, .eps = 1e-8};
}

int kernel_optimizer_states(const kernel_optimizer *optimizer)
{
    switch (optimizer->rule) {
    case KERNEL_SGD:
    case KERNEL_NESTEROV: return optimizer->momentum != 0 ? 1 : 0;
    case KERNEL_RMSPROP: return optimizer->momentum != 0 ? 2 : 1;
    case KERNEL_ADAM:
    case KERNEL_ADAMW: return 2;
    }
    return 0;
}

static shape_update describe(const kernel_optimizer *o, uint64_t step)
{
    bool decoupled = o->rule == KERNEL_ADAMW;

    return (shape_update){.lr = (float)o->lr,
                          .weight_decay = decoupled ? 0 : (float)o->weight_decay,
                          .momentum = (float)o->momentum,
                          .beta1 = (float)o->beta1,
                          .rest1 = (float)(1 - o->beta1),
                          .beta2 = (float)o->beta2,
                          .rest2 = (float)(1 - o->beta2),
                          .alpha = (float)o->alpha,
                          .rest_alpha = (float)(1 - o->alpha),
                          .eps = (float)o->eps,
                          .shrink = decoupled ? (float)(1 - o->lr * o->weight_decay) : 1,
                          .step_size = (float)(o->lr / (1 - pow(o->beta1, (double)step))),
                          .correction = (float)sqrt(1 - pow(o->beta2, (double)step))};
}

static kernel_err check_update(kernel_device *device, const char *call, const kernel_optimizer *optimizer,
                               uint64_t step, size_t count, kernel_slice parameters, kernel_slice gradients,
                               const kernel_slice state[2])
{
    kernel_err err = kernel__ready(device, call);
    int states;

    if (err) return err;
    if (!optimizer || !state || (unsigned)optimizer->rule > KERNEL_NESTEROV)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: no such optimiser, or no state array", call);
    if (step == 0) return kernel__fail(device, KERNEL_ERR_ARG, "%s: steps are counted from 1, this is 0", call);
    states = kernel_optimizer_states(optimizer);
    kernel__need needs[] = {
        {"parameters", parameters, count, KERNEL__REQUIRED},
        {"gradients", gradients, count, KERNEL__REQUIRED},
        {"state[0]", state[0], count, states > 0 ? KERNEL__REQUIRED : KERNEL__OPTIONAL},
        {"state[1]", state[1], count, states > 1 ? KERNEL__REQUIRED : KERNEL__OPTIONAL},
    };
    return kernel__check(device, call, needs, COUNT(needs));
}

kernel_err kernel_update(kernel_device *device, const kernel_optimizer *optimizer, uint64_t step, size_t count,
                         kernel_slice parameters, kernel_slice gradients, const kernel_slice state[2])
{
    kernel_err err = check_update(device, __func__, optimizer, step, count, parameters, gradients, state);
    shape_update numbers;
    cl_ulong elements = count;
    kernel__call call;
    kernel_rule rule;

    if (err || count == 0) return err;
    rule = optimizer->rule == KERNEL_NESTEROV && optimizer->momentum == 0 ? KERNEL_SGD : optimizer->rule;
    numbers = describe(optimizer, step);
    call = kernel__begin(device, KERNEL__VECTOR, 1, kernel_names[rule]);
    kernel__slice(&call, parameters);
    kernel__slice(&call, gradients);
    kernel__slice(&call, state[0]);
    if (rule != KERNEL_SGD && rule != KERNEL_NESTEROV) kernel__slice(&call, state[1]);
    kernel__value(&call, &numbers, sizeof numbers);
    kernel__value(&call, &elements, sizeof elements);
    return kernel__run(&call, kernel__stretches(device, count), 1, 1);
}
