/* SPDX-License-Identifier: MIT */
/*
 * toy_model: data-parallel training at its smallest. The model has one parameter w and says how far a number x is from
 * it; the loss is (x - w) squared, so its gradient by w is 2 (w - x). Rank r's data is the one number x = r. All ranks
 * begin with w = 2, add up their gradients, and take one step of gradient descent with learning rate 0.1:
 *
 *      2 ranks       x   output x - w   loss   gradient
 *      rank 0        0        -2          4        4
 *      rank 1        1        -1          1        2
 *
 *      sum           4 + 2 = 6           w = 2 - 0.1 * 6 = 1.4
 *      mean          (4 + 2) / 2 = 3     w = 2 - 0.1 * 3 = 1.7      what one process with both numbers would do
 *
 *      build/launch -n 2 build/examples/toy_model
 *
 * With the sum, the step grows with the number of ranks; with the mean it does not.
 */
#include <stdio.h>

#include "collectives/collectives.h"

static const float learning_rate = 0.1f;

/* One row of the table for every rank, printed by rank 0. */
static void print_table(p2p_comm *world, const float row[4])
{
    float all[P2P_MAX_RANKS * 4];

    coll_gather(world, row, all, 4, DTYPE_F32, 0);
    if (p2p_rank(world) != 0) return;
    printf("          x   output   loss   gradient\n");
    for (int r = 0; r < p2p_size(world); r++)
        printf("rank %-3d %4g %8g %6g %10g\n", r, (double)all[4 * r], (double)all[4 * r + 1], (double)all[4 * r + 2],
               (double)all[4 * r + 3]);
}

static void step(p2p_comm *world, float w, float gradient, enum op op)
{
    coll_all_reduce(world, &gradient, 1, DTYPE_F32, op);
    float next = w - learning_rate * gradient;
    if (p2p_rank(world) == 0)
        printf("%-4s of the gradients: %g   w: %g - %g * %g = %g\n", op_name(op), (double)gradient, (double)w,
               (double)learning_rate, (double)gradient, (double)next);
}

int main(void)
{
    p2p_comm *world;

    p2p_init(&world);
    float w = p2p_rank(world) == 0 ? 2.0f : 0.0f;
    coll_broadcast(world, &w, 1, DTYPE_F32, 0); /* every rank begins with rank 0's parameter */
    float x = (float)p2p_rank(world), output = x - w, loss = output * output, gradient = 2.0f * (w - x);

    print_table(world, (float[]){x, output, loss, gradient});
    step(world, w, gradient, OP_SUM);
    step(world, w, gradient, OP_MEAN);
    p2p_finalize(world);
    return 0;
}
