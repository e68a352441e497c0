/* SPDX-License-Identifier: MIT */
/*
 * One operation at a time: what each asks of the kernels, forward and backward. A kernel that does more at once takes
 * the place of a sequence here and nowhere else.
 */
#include "trainer/network.h"

kernel_shape train__shape(const train_network *net, int value, size_t n)
{
    const train_value *v = &net->model->values[value];
    return (kernel_shape){(int)n, v->channels, v->height, v->width};
}

/* ---- Places ---- */

static kernel_slice value_at(const train_network *net, int value)
{
    return value < 0 ? KERNEL_NONE : kernel_at(net->values[value], 0);
}

static kernel_slice slot_at(const train_network *net, int slot)
{
    return slot < 0 ? KERNEL_NONE : kernel_at(net->pool[slot], 0);
}

static kernel_slice element_at(const train_shared *array, size_t first)
{
    return array->window ? train__window_slice(array->window, first) : kernel_at(array->on, first);
}

static kernel_slice tensor_at(const train_network *net, int tensor)
{
    const train_tensor *t = &net->model->tensors[tensor];
    return element_at(t->kind == TRAIN_STATISTIC ? &net->statistics : &net->parameters, t->offset);
}

static kernel_slice gradient_at(const train_network *net, int tensor)
{
    return element_at(&net->gradients, net->model->tensors[tensor].offset);
}

static kernel_conv conv_of(const train_network *net, const train_operation *o, size_t n)
{
    kernel_shape in = train__shape(net, o->in, n);
    return (kernel_conv){in, net->model->values[o->out].channels, o->size, o->stride, o->padding};
}

static kernel_norm norm_of(const train_network *net, size_t operation, size_t n, bool evaluating)
{
    const train_operation *o = &net->model->operations[operation];
    return (kernel_norm){.shape = train__shape(net, o->out, n),
                         .frozen = evaluating || net->frozen,
                         .relu = o->relu,
                         .momentum = 0.1f,
                         .eps = 1e-5f,
                         .gamma = tensor_at(net, o->gamma),
                         .beta = tensor_at(net, o->beta),
                         .running_mean = tensor_at(net, o->mean),
                         .running_var = tensor_at(net, o->variance),
                         .saved = kernel_at(net->kept[operation], 0)};
}

/* ---- Forward ---- */

kernel_err train__operation_forward(train_network *net, size_t operation, size_t n, bool evaluating)
{
    const train_operation *o = &net->model->operations[operation];
    kernel_slice x = value_at(net, o->in), y = value_at(net, o->out);
    kernel_shape in = train__shape(net, o->in, n);
    switch (o->kind) {
    case TRAIN_CONV_NORM: {
        kernel_conv conv = conv_of(net, o, n);
        kernel_norm norm = norm_of(net, operation, n, evaluating);
        return kernel_conv_norm_forward(net->device, &conv, &norm, x, tensor_at(net, o->weight),
                                        kernel_at(net->convolved[operation], 0), value_at(net, o->residual), y);
    }
    case TRAIN_MAX_POOL: return kernel_max_pool_forward(net->device, in, x, y, kernel_at(net->kept[operation], 0));
    case TRAIN_MEAN_POOL: return kernel_mean_pool_forward(net->device, in, x, y);
    case TRAIN_LINEAR:
        return kernel_linear_forward(net->device, in, net->model->classes, x, tensor_at(net, o->weight),
                                     tensor_at(net, o->bias), y);
    }
    return KERNEL_ERR_ARG;
}

/* ---- Backward ---- */

/* Forward: x --convolution--> convolved --batch norm, + residual, ReLU--> y. The gradient of the weights comes first:
 * gradient sync waits for it, and need not wait for that of the input. */
static kernel_err conv_norm_backward(train_network *net, size_t operation, size_t n)
{
    const train_operation *o = &net->model->operations[operation];
    const train_backward_plan *plan = &net->plan[operation];
    kernel_conv conv = conv_of(net, o, n);
    kernel_norm norm = norm_of(net, operation, n, false);
    kernel_slice dy = slot_at(net, plan->dy), dconv = slot_at(net, plan->dconv);
    kernel_err err = kernel_norm_backward(net->device, &norm, dy, kernel_at(net->convolved[operation], 0),
                                          value_at(net, o->out), dconv, gradient_at(net, o->gamma),
                                          gradient_at(net, o->beta), o->residual >= 0 ? dy : KERNEL_NONE);
    if (!err)
        err = kernel_conv_backward_weight(net->device, &conv, value_at(net, o->in), dconv, gradient_at(net, o->weight));
    if (!err && plan->din >= 0)
        err = kernel_conv_backward_input(net->device, &conv, dconv, tensor_at(net, o->weight), slot_at(net, plan->din),
                                         plan->add);
    return err;
}

kernel_err train__operation_backward(train_network *net, size_t operation, size_t n)
{
    const train_operation *o = &net->model->operations[operation];
    const train_backward_plan *plan = &net->plan[operation];
    kernel_slice dy = slot_at(net, plan->dy), dx = slot_at(net, plan->din);
    kernel_shape in = train__shape(net, o->in, n);
    switch (o->kind) {
    case TRAIN_CONV_NORM: return conv_norm_backward(net, operation, n);
    case TRAIN_MAX_POOL: return kernel_max_pool_backward(net->device, in, dy, kernel_at(net->kept[operation], 0), dx);
    case TRAIN_MEAN_POOL: return kernel_mean_pool_backward(net->device, in, dy, dx);
    case TRAIN_LINEAR:
        return kernel_linear_backward(net->device, in, net->model->classes, value_at(net, o->in),
                                      tensor_at(net, o->weight), dy, dx, gradient_at(net, o->weight),
                                      gradient_at(net, o->bias));
    }
    return KERNEL_ERR_ARG;
}
