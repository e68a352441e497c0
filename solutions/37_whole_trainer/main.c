/* SPDX-License-Identifier: MIT */
/*
 * Your trainer as a program. Nothing to write here; `make whole` builds it, and compares it with build/train.
 *
 *      build/launch -n 2 build/whole FILE IMAGES TESTS BATCH EPOCHS
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "exercises/exercises.h"

int main(int argc, char *argv[])
{
    p2p_comm *world;
    my_score score = {0, 0, 0};
    unsigned long numbers[4] = {0, 0, 0, 0};

    for (int i = 0; i < 4 && argc == 6; i++) numbers[i] = strtoul(argv[i + 2], NULL, 10);
    if (p2p_init(&world)) return 1;
    if (!numbers[0] || !numbers[1] || !numbers[2]) {
        fprintf(stderr, "usage: launch -n RANKS whole FILE IMAGES TESTS BATCH EPOCHS\n");
        return 2;
    }
    long cores = sysconf(_SC_NPROCESSORS_ONLN) / p2p_size(world);
    const my_run run = {.model = "resnet20",
                        .images = numbers[0],
                        .tests = numbers[1],
                        .batch = numbers[2],
                        .epochs = numbers[3],
                        .seed = 0,
                        .cores = cores > 1 ? (int)cores : 1,
                        .save = argv[1]};
    p2p_err err = my_whole_trainer(world, &run, &score);
    if (err) fprintf(stderr, "rank %d: my_whole_trainer: %s\n", p2p_rank(world), p2p_strerror(err));
    if (!err && p2p_rank(world) == 0) printf("%lld of %lld\n", (long long)score.correct, (long long)score.total);
    return err || p2p_finalize(world) ? 1 : 0;
}
