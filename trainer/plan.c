/* SPDX-License-Identifier: MIT */
/*
 * Where gradients of values lie. A value's gradient lives from the backward pass of the last operation that used it
 * to that of the operation that made it, so a few buffers are enough, used as slots that are taken and given back:
 *
 *      an operation takes over dy, the gradient of its output
 *      batch norm replaces dy by the gradient of the convolution's output, in place; if there is a residual, dy
 *              stays as the residual's gradient, and the gradient of the convolution's output gets another slot
 *      the input's gradient gets a slot, or is added to what another operation has put into the input's slot
 *
 * Three slots are enough for a ResNet: a block's input, a value inside the block, and a convolution's output.
 */
#include "trainer/network.h"

typedef struct {
    train_network *network;
    size_t *floats;
    bool used[TRAIN_POOL];
    int count;
} slots;

static int take(slots *p, int value)
{
    size_t needs = kernel_floats(p->network->device, train__shape(p->network, value, p->network->capacity));
    int slot = 0;
    while (slot < TRAIN_POOL && p->used[slot]) slot++;
    if (slot == TRAIN_POOL) return -1;
    p->used[slot] = true;
    if (slot >= p->count) p->count = slot + 1;
    if (p->floats[slot] < needs) p->floats[slot] = needs;
    return slot;
}

static void give_back(slots *p, int slot)
{
    if (slot >= 0) p->used[slot] = false;
}

/* One operation; place[v] is the slot of value v's gradient. */
static bool plan_operation(slots *p, const train_operation *o, int place[], train_backward_plan *plan)
{
    plan->dy = plan->dconv = place[o->out];
    plan->din = -1;
    plan->add = false;
    if (plan->dy < 0) return false;
    if (o->residual >= 0) {
        if (o->residual == 0 || place[o->residual] >= 0) return false; /* its other users come before, in this model */
        place[o->residual] = plan->dy;
        plan->dconv = take(p, o->out);
        if (plan->dconv < 0) return false;
    }
    if (o->in != 0) { /* the gradient of the image is not needed */
        plan->add = place[o->in] >= 0;
        if (!plan->add) place[o->in] = take(p, o->in);
        plan->din = place[o->in];
        if (plan->din < 0) return false;
    }
    give_back(p, plan->dconv);
    return true;
}

int train__plan_backward(train_network *network, size_t floats[TRAIN_POOL])
{
    const train_model *model = network->model;
    slots p = {.network = network, .floats = floats};
    int place[model->value_count];
    for (size_t v = 0; v < model->value_count; v++) place[v] = -1;
    for (int i = 0; i < TRAIN_POOL; i++) floats[i] = 0;
    int logits = model->operations[model->operation_count - 1].out;
    place[logits] = take(&p, logits);
    for (size_t i = model->operation_count; i-- > 0;)
        if (!plan_operation(&p, &model->operations[i], place, &network->plan[i])) return -1;
    return p.count;
}
