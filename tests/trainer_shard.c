/* SPDX-License-Identifier: MIT */
/*
 * trainer_shard: --shard. The weights are the bits of the plain step; a rank holds what the table says; a checkpoint
 * fits every number of ranks and every --shard.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "trainer/pages.h"
#include "trainer/window.h"

static void must_work(const char *command)
{
    process_result result;
    setenv("D", test_folder, 1);
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

/* ---- Bits ---- */

/* Weights after three steps, in a file; the last step has images on some ranks only. recipe: all that changes gradients
 * between their sum and the update, of several batches. */
static void train_small(int ranks, enum train_sharding shard, bool recipe, enum dtype wire, const char *file)
{
    training_book *book = job_shared(sizeof *book);
    train_job job;
    training_make(&job, book, (size_t)(2 * 4 * ranks + 1), 5);
    job.hooks = (train_hooks){.arg = book};
    train_settings *s = &job.settings;
    s->batch = recipe ? 2 : 4;
    s->bucket_bytes = 4096;
    s->shard = shard;
    s->compress.wire = wire;
    s->save = file;
    if (recipe) {
        s->accumulate = 2;
        s->clip = 0.5f;
        s->optimizer = KERNEL_SGD;
        s->nesterov = true;
        s->label_smoothing = 0.1f;
        s->schedule.warmup = 2;
    }
    ASSERT_RIGHT(training_run(&job, ranks));
    train_job_free(&job);
}

static void check_bits(int ranks, bool recipe, enum dtype wire)
{
    char plain[400], file[400];
    snprintf(plain, sizeof plain, "%s/plain", test_folder);
    snprintf(file, sizeof file, "%s/divided", test_folder);
    train_small(ranks, TRAIN_SHARD_NONE, recipe, wire, plain);
    for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_PARAMETERS; shard++) {
        train_small(ranks, (enum train_sharding)shard, recipe, wire, file);
        must_work("cmp $D/plain $D/divided");
    }
}

Test(shard, gives_the_bits_of_the_plain_step, .init = make_test_folder, .fini = remove_test_folder)
{
    for (int ranks = 1; ranks <= 4; ranks++) check_bits(ranks, false, DTYPE_F32);
}

Test(shard, gives_the_same_bits_with_clipping_and_several_batches, .init = make_test_folder, .fini = remove_test_folder)
{
    for (int ranks = 2; ranks <= 3; ranks++) check_bits(ranks, true, DTYPE_F32);
}

Test(shard, gives_the_same_bits_with_16_bits_on_the_wire, .init = make_test_folder, .fini = remove_test_folder)
{
    check_bits(2, false, DTYPE_F16);
    check_bits(3, true, DTYPE_BF16);
}

/* ---- Memory ---- */

Test(pages, that_are_dropped_take_no_memory_and_are_zero)
{
    enum { FLOATS = 1 << 18 };
    size_t bytes = FLOATS * sizeof(float);
    float *array = train__pages_new(bytes);
    cr_assert(array && train__pages_held(array, bytes) == 0);
    for (size_t i = 0; i < FLOATS; i++) array[i] = 1;
    cr_assert(train__pages_held(array, bytes) == bytes);
    train__pages_drop(array, FLOATS / 4 + 1, FLOATS / 2);
    cr_assert(fabs((double)train__pages_held(array, bytes) / (double)bytes - 0.5) < 0.02);
    cr_assert(array[FLOATS / 4] == 1 && array[FLOATS / 2] == 0 && array[FLOATS * 3 / 4 + 1] == 1, "others are kept");
    train__pages_free(array, bytes);
}

/* A run of elements that is as long as the window lies in one piece, wherever it begins, and what it leaves stays. */
Test(window, moves_along_an_array)
{
    enum { FLOATS = 5000, ARRAY = 4 * FLOATS };
    kernel_device *device = NULL;
    train_window window;
    cr_assert(kernel_open("cpu", 1, &device) == KERNEL_OK);
    cr_assert(train__window_open(&window, device, "a window", FLOATS) == KERNEL_OK && window.floats >= FLOATS);
    for (size_t i = 0; i < ARRAY; i++) {
        *train__window_host(&window, i) = (float)i;
        if (i + 1 < FLOATS) continue;
        const float *run = train__window_host(&window, i + 1 - FLOATS);
        cr_assert(run[0] == (float)(i + 1 - FLOATS) && run[FLOATS - 1] == (float)i, "%zu", i);
    }
    cr_assert(train__window_held(&window) == window.floats * sizeof(float), "the memory is there once");
    train__window_close(&window);
    kernel_close(device);
}

Test(window, knows_what_collides)
{
    const train_window window = {.floats = 100};
    cr_assert(!train__window_collide(&window, 0, 50, 50, 50));
    cr_assert(train__window_collide(&window, 0, 51, 50, 50));
    cr_assert(!train__window_collide(&window, 60, 50, 10, 50), "60 to 99 and 0 to 9; 10 to 59");
    cr_assert(train__window_collide(&window, 60, 51, 10, 50), "0 to 10");
    cr_assert(train__window_collide(&window, 10, 50, 60, 51), "the other way round");
    cr_assert(train__window_collide(&window, 7, 1, 207, 1) && !train__window_collide(&window, 7, 0, 7, 1));
}

#define SMALL "${L%/launch}/train --device cpu --train-limit 48 --test-limit 20 --batch 4 "

/* The last row of the table, in MB, and what was counted. */
static const char within[] =
    "for s in optimizer gradients parameters; do " SMALL
    "--batch 1 --ranks 3 --steps 2 --shard $s --out $D/$s > $D/table || exit 1;"
    "said=$(awk '/together, at most/ { print $NF }' $D/table);"
    "was=$(sed -n 's/.*\"memory_bytes\":\\([0-9]*\\).*/\\1/p' $D/$s/metrics.jsonl | tail -n 1);"
    "echo $s: $said MB, $was bytes >&2;"
    "awk -v a=$said -v b=$was 'BEGIN { exit !(a > 0 && b > 0.9e6 * a && b < 1.1e6 * a) }' || exit 1; done";

Test(shard, holds_what_the_table_says, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(within);
}

/* ---- Checkpoints ---- */

Test(shard_long, goes_on_with_other_ranks_and_another_shard, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--quiet --ranks 2 --steps 1 --out $D/a");
    must_work(SMALL "--quiet --ranks 3 --steps 2 --resume $D/a --out $D/a");
    must_work(SMALL "--quiet --ranks 2 --steps 1 --out $D/b --shard parameters");
    must_work(SMALL "--quiet --ranks 3 --steps 2 --resume $D/b --out $D/b --shard gradients");
    must_work(SMALL "--quiet --ranks 2 --steps 3 --resume $D/a --save $D/a/w");
    must_work(SMALL "--quiet --ranks 2 --steps 3 --resume $D/b --save $D/b/w --shard optimizer");
    must_work("cmp $D/a/w $D/b/w");
}

/* What 16 bits have not sent yet goes on, too. */
Test(shard_long, goes_on_with_16_bits_on_the_wire, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(SMALL "--quiet --wire f16 --ranks 3 --steps 3 --save $D/w");
    must_work(SMALL "--quiet --wire f16 --ranks 3 --steps 2 --out $D/a --shard parameters");
    must_work(SMALL "--quiet --wire f16 --ranks 3 --steps 3 --resume $D/a --save $D/a/w --shard gradients");
    must_work("cmp $D/w $D/a/w");
}

/* ---- Called wrongly ---- */

Test(shard, refuses_what_cannot_be_divided)
{
    static const char *const wrong[][2] = {{"all", "none, optimizer, gradients, parameters"},
                                           {"optimizer --overlap 0", "--overlap 1"},
                                           {"gradients --all-reduce tree", "--all-reduce ring"},
                                           {"gradients --compress topk:0.1", "one of them"},
                                           {"parameters --wrapper", "one of them"},
                                           {"parameters --device gpu:0,cpu", ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[200];
        process_result result;
        snprintf(command, sizeof command, "${L%%/launch}/train --train-limit 8 --test-limit 8 --shard %s", wrong[i][0]);
        shell_run(command, NULL, &result);
        cr_assert(result.status == 2, "%s: status %d", wrong[i][0], result.status);
        ASSERT_CONTAINS(result.err, wrong[i][1]);
        process_free(&result);
    }
}
