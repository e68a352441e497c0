/* SPDX-License-Identifier: MIT */
/*
 * train_schedule: build/train with a learning rate and an end of one's own. The rate rises for 10 steps to that of --lr
 * and falls as 1 / sqrt(steps) from there (Vaswani and others, "Attention is all you need", 2017); the training ends
 * with step 30, then it evaluates and saves as usual.
 *
 *      build/examples/train_schedule --ranks 2 --out build/own_schedule
 */
#include <math.h>

#include "trainer/trainer.h"

enum { WARMUP = 10, LAST = 30 };

static double learning_rate(void *arg, const train_hook_context *now, double planned)
{
    double step = (double)now->step + 1;
    (void)arg;
    return planned * fmin(step / WARMUP, sqrt(WARMUP / step));
}

/* A hook may decide by anything that it knows; one rank that says so is enough. */
static p2p_err after_step(void *arg, const train_hook_context *now)
{
    (void)arg;
    return now->step == LAST ? TRAIN_STOP : P2P_OK;
}

int main(int argc, char *argv[])
{
    const train_hooks hooks = {.after_step = after_step, .learning_rate = learning_rate};
    return train_program_own(argc, argv, &(train_own){.hooks = &hooks});
}
