/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * trainer_shard: --shard. The weights are the bits of the plain step; a rank holds what the table says; a checkpoint
 * fits every number of ranks and every --shard.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/commands.h"
#include "trainer/pages.h"
#include "trainer/run.h"
#include "trainer/window.h"

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
    for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_AUTO; shard++) {
        train_small(ranks, (enum train_sharding)shard, recipe, wire, file);
        must_work("cmp $D/plain $D/divided");
    }
}

Test(shard, gives_the_bits_of_the_plain_step, .init = make_test_folder, .fini = remove_test_folder)
{
    for (int ranks = 1; ranks <= 4; ranks += job_is_quick() ? 2 : 1) check_bits(ranks, false, DTYPE_F32);
}

Test(shard, gives_the_same_bits_with_clipping_and_several_batches, .init = make_test_folder, .fini = remove_test_folder)
{
    for (int ranks = job_is_quick() ? 3 : 2; ranks <= 3; ranks++) check_bits(ranks, true, DTYPE_F32);
}

Test(shard, gives_the_same_bits_with_16_bits_on_the_wire, .init = make_test_folder, .fini = remove_test_folder)
{
    if (!job_is_quick()) check_bits(2, false, DTYPE_F16);
    check_bits(3, true, DTYPE_BF16);
}

/* ---- By itself ---- */

#define SMALL "${L%/launch}/train --device cpu --train-limit 48 --test-limit 20 --batch 4 "

/* What a run of three steps says; its weights are in $D/NAME. */
#define SAYS(name, options) SMALL "--ranks 2 --steps 3 " options " --save $D/" name " > $D/says || exit 1; grep "

Test(shard, is_chosen_where_nothing_else_differs, .init = make_test_folder, .fini = remove_test_folder)
{
    unsetenv("PAIRWISE_WORLD");
    must_work(SAYS("plain", "--shard none --bucket 64K") "'all-reduce in [0-9]* buckets, overlapped' $D/says");
    must_work(SAYS("auto", "--bucket 64K") "'reduce-scatter; each rank updates its part' $D/says");
    must_work("cmp $D/plain $D/auto && ! grep 'memory of a rank' $D/says");
    must_work(SAYS("w", "--bucket 64K --all-reduce tree") "'tree all-reduce' $D/says");
    must_work(SAYS("w", "--bucket 64K --world socket") "'ring all-reduce' $D/says");
    must_work(SAYS("w", "--bucket 64K --repair") "'ring all-reduce' $D/says");
    must_work(SAYS("w", "--bucket 64K --wrapper") "'ring all-reduce' $D/says");
    must_work(SAYS("w", "--bucket 64K --wire bf16") "'ring all-reduce' $D/says");
    must_work(SAYS("w", "") "'ring all-reduce in 1 bucket' $D/says");
}

static p2p_err sees_all(void *arg, const train_hook_context *now)
{
    *(int *)arg += now->network->shard == TRAIN_SHARD_NONE;
    return P2P_OK;
}

static int hooked_rank(p2p_comm *world, void *arg)
{
    train_job *job = arg;
    train_error error = {""};
    int seen = 0;
    job->hooks = (train_hooks){.after_step = sees_all, .arg = &seen};
    CHECK(!train_run(world, job, NULL, &error), "%s", error.text);
    CHECK(seen == 2, "%d of 2 steps had all arrays", seen);
    return 0;
}

Test(shard, is_not_chosen_where_a_hook_looks)
{
    static training_book unused;
    train_job job;
    setenv("PAIRWISE_WORLD", "shm", 1);
    training_make(&job, &unused, 8, 2);
    job.settings.batch = 2;
    job.settings.bucket_bytes = 4096;
    cr_assert(job.settings.shard == TRAIN_SHARD_AUTO, "it is the default");
    ASSERT_RIGHT(job_right(2, NULL, hooked_rank, &job));
    train_job_free(&job);
}

static p2p_err counts(void *arg, const train_hook_context *now)
{
    (void)now;
    ++*(int *)arg;
    return P2P_OK;
}

static int one_hooked_rank(p2p_comm *world, void *arg)
{
    train_job job = *(const train_job *)arg;
    train_error error = {""};
    int seen = 0;
    job.hooks = (train_hooks){.after_sync = p2p_rank(world) == 0 ? counts : NULL, .arg = &seen};
    CHECK(!train_run(world, &job, NULL, &error), "%s", error.text);
    CHECK(seen == (p2p_rank(world) == 0 ? 2 : 0), "%d steps", seen);
    return 0;
}

/* All ranks divide, or none. */
Test(shard, is_not_chosen_where_a_hook_of_one_rank_looks, .init = make_test_folder, .fini = remove_test_folder)
{
    static training_book unused;
    char plain[400], file[400];
    train_job job;
    setenv("PAIRWISE_WORLD", "shm", 1);
    snprintf(plain, sizeof plain, "%s/plain", test_folder);
    snprintf(file, sizeof file, "%s/hooked", test_folder);
    for (int hooked = 0; hooked < 2; hooked++) {
        training_make(&job, &unused, 8, 2);
        job.settings.batch = 2;
        job.settings.bucket_bytes = 4096;
        job.settings.shard = hooked ? TRAIN_SHARD_AUTO : TRAIN_SHARD_NONE;
        job.settings.save = hooked ? file : plain;
        ASSERT_RIGHT(job_right(2, NULL, one_hooked_rank, &job));
        train_job_free(&job);
    }
    must_work("cmp $D/plain $D/hooked");
}

/* ---- The same weights on all ranks ---- */

static p2p_err forgets(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_OK;
}

/* Before the first step: after it all ranks have what was gathered. */
Test(shard, finds_a_forgotten_broadcast)
{
    static training_book unused;
    setenv("PAIRWISE_WORLD", "shm", 1);
    for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_AUTO; shard++) {
        train_job job;
        job_result result;
        training_make(&job, &unused, 8, 4);
        job.hooks = (train_hooks){.arg = job_shared(sizeof(training_book))};
        job.settings.batch = 4;
        job.settings.bucket_bytes = 4096;
        job.settings.shard = (enum train_sharding)shard;
        job.parallel.broadcast = forgets;
        job_run(2, NULL, training_rank, &job, &result);
        cr_assert(result.err == P2P_ERR_RANK_FAILED, "--shard %d: %s", shard, p2p_strerror(result.err));
        ASSERT_CONTAINS(result.note, "the ranks have different weights: conv1.weight");
        job_free(&result);
        train_job_free(&job);
    }
}

/* ---- Bytes ---- */

enum { MOST_RANKS = 3 };

typedef struct {
    train_job *job;
    enum train_sharding shard;
    enum dtype wire;
    uint64_t sent[MOST_RANKS]; /* in one step, by each rank */
    size_t own[MOST_RANKS];    /* parameters of its part */
} traffic;

static uint64_t sent_so_far(p2p_comm *world)
{
    p2p_traffic peers[MOST_RANKS];
    uint64_t sent = 0;
    p2p_stats(world, peers);
    for (int i = 0; i < p2p_size(world); i++) sent += peers[i].bytes_sent;
    return sent;
}

static p2p_err one_step(const train_job *job, train_network *network, train__shard *shard, train_error *error)
{
    const kernel_optimizer sgd = {.rule = KERNEL_SGD, .lr = 0.1};
    const train_view view = {.augment = false};
    bool finite;
    p2p_err err = train_load(network, &job->data.train, (size_t[]){0, 1}, 2, &view, error);
    if (!err) err = train_forward(network, 0.5f, error);
    if (!err) err = train_backward(network, train__shard_ready, shard, error);
    if (!err) err = train__shard_wait(shard, &finite, error);
    return err ? err : train__shard_update(shard, &sgd, 1, error);
}

static int traffic_rank(p2p_comm *world, void *arg)
{
    traffic *t = arg;
    int rank = p2p_rank(world);
    train_error error = {""};
    train_network *network;
    train_sync *sync;
    train__shard *shard;
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 2, .comm = world, .shard = t->shard};
    const train_sync_options by = {
        .all_reduce = ring_all_reduce, .overlap = true, .bucket_bytes = 4096, .compress = {.wire = t->wire}};
    CHECK(!train_network_open(t->job->model, &options, &network, &error), "%s", error.text);
    train_initialise(t->job->model, 1, train_map(network, TRAIN_PARAMETERS, &error),
                     train_map(network, TRAIN_STATISTICS, &error));
    CHECK(!train_sync_open(network, world, &by, &sync, &error), "%s", error.text);
    CHECK(!train__shard_open(network, world, sync, 1, &shard, &error), "%s", error.text);
    uint64_t before = sent_so_far(world);
    CHECK(!one_step(t->job, network, shard, &error), "%s", error.text);
    t->sent[rank] = sent_so_far(world) - before;
    t->own[rank] = 0;
    for (size_t i = 0; i < shard->count; i++) t->own[rank] += shard->parts[i].own_count;
    train__shard_close(shard);
    train_sync_close(sync);
    train_network_close(network);
    return 0;
}

/* A rank sends the chunks of all other ranks in the reduce-scatter, and in the all-gather those of all but one. So on two
 * ranks as many bytes as it has of parameters; and one number of all ranks, whether all gradients are finite. */
static void check_traffic(train_job *job, int ranks, enum train_sharding shard)
{
    enum { FINITE = 16 };
    traffic *t = job_shared(2 * sizeof *t);
    size_t parameters = job->model->parameters, whole = parameters * sizeof(float);
    for (int half = 0; half < 2; half++) {
        t[half] = (traffic){.job = job, .shard = shard, .wire = half ? DTYPE_F16 : DTYPE_F32};
        ASSERT_RIGHT(job_right(ranks, NULL, traffic_rank, &t[half]));
    }
    for (int rank = 0; rank < ranks; rank++) {
        uint64_t saved = t[0].sent[rank] - t[1].sent[rank], sent = t[0].sent[rank];
        cr_assert(saved == 2 * (parameters - t[0].own[rank]), "%d ranks: rank %d saves %lu bytes of %lu", ranks, rank,
                  (unsigned long)saved, (unsigned long)sent);
        if (ranks != 2 || shard == TRAIN_SHARD_PARAMETERS) continue;
        cr_assert(sent >= whole && sent <= whole + FINITE, "%lu bytes of %zu", (unsigned long)sent, whole);
    }
}

/* Half of the gradients; parameters are gathered as they are. */
Test(shard, sends_three_quarters_of_the_bytes_with_16_bits)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 8, 2);
    for (int ranks = 2; ranks <= MOST_RANKS; ranks++)
        for (int shard = TRAIN_SHARD_OPTIMIZER; shard <= TRAIN_SHARD_PARAMETERS; shard += job_is_quick() ? 2 : 1)
            check_traffic(&job, ranks, (enum train_sharding)shard);
    train_job_free(&job);
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

/* What the table says, in MB, and what was measured; and both without what the device has, of which no pages can be
 * counted: activations are most of the memory of this model. $O: more options, and the row that they add. */
static const char within[] =
    "for s in optimizer gradients parameters; do " SMALL
    "--batch 1 --ranks 3 --steps 3 --shard $s $O --out $D/out --overwrite > $D/table || exit 1;"
    "grep -q \"^  $ROW\" $D/table || exit 1;"
    "said=$(LC_ALL=C awk '/together, at most/ { print $NF }' $D/table);"
    "device=$(LC_ALL=C awk '/^  activations|^  for --accumulate/ { sum += $NF } END { print sum }' $D/table);"
    "was=$(sed -n 's/.*\"memory_bytes\":\\([0-9]*\\).*/\\1/p' $D/out/metrics.jsonl | tail -n 1);"
    "echo $s: $said MB, $device of them the device has, $was bytes >&2;"
    "LC_ALL=C awk -v a=$said -v d=$device -v b=$was 'function near(x, y) { return x > 0 && y > 0.9e6 * x && "
    "y < 1.1e6 * x } BEGIN { exit !(near(a, b) && near(a - d, b - d * 1e6)) }' || exit 1; done";

static void check_memory(const char *options, const char *row)
{
    setenv("O", options, 1);
    setenv("ROW", row, 1);
    must_work(within);
}

Test(shard, holds_what_the_table_says, .init = make_test_folder, .fini = remove_test_folder)
{
    check_memory("", "two batches of images");
}

Test(shard_long, holds_what_the_table_says_of_options, .init = make_test_folder, .fini = remove_test_folder)
{
    check_memory("--repair 3", "for --repair");
    check_memory("--accumulate 2", "for --accumulate");
    check_memory("--wire f16", "for --wire");
}

/* What a run began with: every rank has read it where a launcher has started them. */
static int start_rank(p2p_comm *world, void *arg)
{
    train_job *job = arg;
    train_error error = {""};
    const float *parameters = job->start.parameters;
    CHECK(!train_run(world, job, NULL, &error), "%s", error.text);
    CHECK(job->start.parameters == parameters && job->start.state[0], "train_run may be called again");
    job->settings.repair = 1;
    CHECK(!train__run_once(world, job, &job->start, NULL, &error), "%s", error.text);
    CHECK(job->start.parameters == parameters && job->start.state[0], "all ranks may begin again");
    job->settings.repair = 0;
    CHECK(!train__run_once(world, job, &job->start, NULL, &error), "%s", error.text);
    CHECK(!job->start.parameters && !job->start.statistics && !job->start.state[0], "it is kept for the whole run");
    CHECK(job->start.step == 1 && job->start.epoch == 1 && job->start.position == 6, "the numbers are not");
    return 0;
}

Test(start, of_a_run_is_not_kept_while_it_trains)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 12, 2);
    job.hooks = (train_hooks){.arg = NULL};
    job.settings.batch = 3;
    job.settings.ranks = 2;
    job.settings.optimizer = KERNEL_SGD;
    job.start = (train_start){.parameters = calloc(job.model->parameters, sizeof(float)),
                              .statistics = calloc(job.model->statistics, sizeof(float)),
                              .state = {calloc(job.model->parameters, sizeof(float))},
                              .step = 1,
                              .epoch = 1,
                              .position = 6};
    ASSERT_RIGHT(job_right(2, NULL, start_rank, &job));
    train_job_free(&job);
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
