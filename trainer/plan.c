/* SPDX-License-Identifier: MIT */
/*
 * Where gradients of values lie. A value's gradient lives from the backward pass of the last operation that used it
 * to that of the operation that made it, so a few buffers do for all, given out and taken back like slots:
 *
 *      an operation takes over dy, the gradient of its output
 *      batch norm turns dy into the gradient of the convolution's output, in place; but where there is a residual, dy
 *              itself goes on as the residual's gradient, and the convolution's output gets a plate of its own
 *      the input's gradient gets a plate, or is added to what another operation has left on the input's plate
 *
 * Three slots do for a ResNet: a block's input, what is inside the block, and the convolution at hand.
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
    int plate = 0;
    while (plate < TRAIN_POOL && p->used[plate]) plate++;
    if (plate == TRAIN_POOL) return -1;
    p->used[plate] = true;
    if (plate >= p->count) p->count = plate + 1;
    if (p->floats[plate] < needs) p->floats[plate] = needs;
    return plate;
}

static void give_back(slots *p, int plate)
{
    if (plate >= 0) p->used[plate] = false;
}

/* One operation; place[v] is the plate of value v's gradient. */
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
    if (o->in != 0) { /* nobody needs the gradient of the image */
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
