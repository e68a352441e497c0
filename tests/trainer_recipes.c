/* SPDX-License-Identifier: MIT */
// worlds: last
/* trainer_recipes: schedules, clipping, several batches a step: the numbers that PyTorch has. */
#include <math.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/suite.h"
#include "trainer/run.h"

/* ---- Schedules ---- */

enum { STEPS = 1000, COLUMNS = 7 };

/* What PyTorch has in each of 1,000 steps, lr 0.1: CosineAnnealingLR(T_max=1000); OneCycleLR(max_lr=0.1,
 * total_steps=1000), and its momentum; MultiStepLR([300, 600, 900]); LinearLR(total_iters=100);
 * SequentialLR([LinearLR(total_iters=100), CosineAnnealingLR(900)], [100]);
 * ChainedScheduler([LinearLR(total_iters=100), MultiStepLR([300, 600, 900])]). */
static const double pytorch[STEPS][COLUMNS] = {
#include "tests/trainer/schedules.inc"
};

static const train_schedule cosine = {.kind = TRAIN_COSINE}, onecycle = {.kind = TRAIN_ONECYCLE};
static const train_schedule multistep = {.kind = TRAIN_STEPS, .count = 3, .milestones = {300, 600, 900}};

static kernel_optimizer at_step(const train_schedule *schedule, uint64_t taken, uint64_t total)
{
    kernel_optimizer o = {.rule = KERNEL_SGD, .lr = 0.1, .momentum = 0.9};
    train_schedule_at(schedule, taken + 1, taken + 1, total, &o);
    return o;
}

static double column(int c, uint64_t taken)
{
    train_schedule s[] = {cosine, onecycle, onecycle, multistep, {.warmup = 100}, cosine, multistep};
    if (c == 5 || c == 6) s[c].warmup = 100;
    kernel_optimizer o = at_step(&s[c], taken, STEPS);
    return c == 2 ? o.momentum : o.lr;
}

Test(schedules, are_pytorchs_over_1000_steps)
{
    for (int c = 0; c < COLUMNS; c++)
        for (uint64_t t = 0; t < STEPS; t++) {
            double got = column(c, t), want = pytorch[t][c];
            cr_assert(want > 0 && fabs(got - want) <= 1e-7 * want, "column %d, step %d: %.12g, not %.12g", c, (int)t,
                      got, want);
        }
}

/* OneCycleLR(total_steps=1), 2 and 7. */
Test(schedules, of_few_steps_are_pytorchs)
{
    static const double seven[] = {0.004,          0.0980556627335,  0.091904437627, 0.0672683836481,
                                   0.035773877574, 0.00992967918933, 4e-07};
    for (uint64_t t = 0; t < 7; t++)
        cr_assert(fabs(at_step(&onecycle, t, 7).lr - seven[t]) < 1e-7 * seven[t], "step %d", (int)t);
    cr_assert(fabs(at_step(&onecycle, 0, 2).lr - 0.081174565395) < 1e-9);
    cr_assert(fabs(at_step(&onecycle, 0, 1).lr - 4e-07) < 1e-12);
    cr_assert(fabs(at_step(&onecycle, 9, 7).lr - 4e-07) < 1e-12, "a step too many has the last one's rate");
}

/* OneCycleLR, and OneCycleLR(cycle_momentum=False). */
Test(schedules, cycle_beta1_of_adam_and_no_momentum_that_is_none)
{
    kernel_optimizer o = {.rule = KERNEL_ADAMW, .lr = 0.1, .beta1 = 0.9};
    train_schedule_at(&onecycle, 300, 1, STEPS, &o);
    cr_assert(fabs(o.beta1 - 0.85) < 1e-12 && o.momentum < 1e-12);
    o = (kernel_optimizer){.rule = KERNEL_SGD, .lr = 0.1};
    train_schedule_at(&onecycle, 300, 1, STEPS, &o);
    cr_assert(o.momentum < 1e-12);
}

/* Four epochs of 24 images: eight steps of twelve on four ranks, 32 of three on one. Half of the images are half of the way. */
Test(schedules, go_on_where_they_were_on_other_ranks)
{
    train_job job = {.settings = {.batch = 3, .epochs = 4, .schedule = cosine}, .data = {.train = {.count = 24}}};
    cr_assert_eq(train__total_steps(&job, 4), 8);
    cr_assert_eq(train__total_steps(&job, 1), 32);
    for (uint64_t step = 1; step <= 8; step++)
        cr_assert_eq(train__schedule_step(&job, 4, step, (step + 1) / 2, step % 2 ? 0 : 12), step);
    cr_assert_eq(train__schedule_step(&job, 1, 5, 3, 0), 17);
    cr_assert_eq(train__schedule_step(&job, 1, 6, 3, 3), 18);
    job.settings.schedule.warmup = 20; /* takes as many steps as it says */
    cr_assert_eq(train__schedule_step(&job, 1, 5, 3, 0), 5);
    cr_assert_eq(train__schedule_step(&job, 1, 21, 2, 0), 21);
}

/* ---- Several batches a step ---- */

static training_book *make(train_job *job, size_t images, int ranks, size_t batches)
{
    training_book *book = job_shared(sizeof *book);
    training_make(job, book, images, 4);
    job->settings.lr = 0; /* every step from the same weights */
    job->settings.epochs = 2;
    job->settings.batch = 3;
    job->settings.accumulate = batches;
    job->settings.ranks = ranks;
    return book;
}

/* Batch norm included, if it is not frozen: the batches are those that the ranks would have. */
static void check_accumulate(size_t images, bool frozen)
{
    static const struct {
        int ranks;
        size_t batches;
    } others[] = {{1, 4}, {2, 2}};
    train_job job;
    training_book *four = make(&job, images, 4, 1);
    job.settings.frozen = frozen;
    ASSERT_RIGHT(training_run(&job, 4));
    train_job_free(&job);
    for (int i = job_is_quick(); i < 2; i++) {
        training_book *book = make(&job, images, others[i].ranks, others[i].batches);
        job.settings.frozen = frozen;
        ASSERT_RIGHT(training_run(&job, others[i].ranks));
        cr_assert(book->steps[0] == four->steps[0], "%d steps, not %d", book->steps[0], four->steps[0]);
        for (int s = 0; s < four->steps[0]; s++) {
            double difference = training_difference(&job, four->page[0][s].gradients, book->page[0][s].gradients);
            cr_assert(difference < 1e-6, "%zu images, %d x %zu: step %d differs by %g", images, others[i].ranks,
                      others[i].batches, s + 1, difference);
        }
        train_job_free(&job);
    }
}

Test(accumulate, is_as_so_many_times_the_ranks)
{
    check_accumulate(24, false);
}

/* Weights of the last step, of rank 0, in shared memory. */
static float *weights_after;

static p2p_err take_weights(void *arg, const train_hook_context *now)
{
    const float *at = train_map(now->network, TRAIN_PARAMETERS, NULL);
    (void)arg;
    if (at && p2p_rank(now->comm) == 0)
        memcpy(weights_after, at, train_length(now->network, TRAIN_PARAMETERS) * sizeof *at);
    return at ? P2P_OK : P2P_ERR_SYS;
}

static const float *weights_of_a_step(int ranks, size_t batches)
{
    train_job job;
    make(&job, 24, ranks, batches);
    weights_after = job_shared(TRAINING_ROOM * sizeof(float));
    job.settings.optimizer = KERNEL_SGD;
    job.settings.lr = 0.1f;
    job.settings.steps = 1;
    job.hooks.after_step = take_weights;
    ASSERT_RIGHT(training_run(&job, ranks));
    train_job_free(&job);
    return weights_after;
}

/* A sample has the first two. */
Test(accumulate, gives_the_weights_of_so_many_times_the_ranks)
{
    static const int cases[][2] = {{1, 4}, {2, 2}, {1, 2}, {2, 4}, {4, 2}};
    training_book *unused = job_shared(sizeof *unused);
    train_job job;
    training_make(&job, unused, 8, 2);
    for (size_t i = 0; i < (job_is_quick() ? 2 : sizeof cases / sizeof *cases); i++) {
        int ranks = cases[i][0], batches = cases[i][1];
        const float *some = weights_of_a_step(ranks, (size_t)batches), *many = weights_of_a_step(ranks * batches, 1);
        double difference = training_difference(&job, many, some);
        cr_assert(difference < 1e-6, "%d x %d: the weights differ by %g", ranks, batches, difference);
    }
    train_job_free(&job);
}

/* The last step has fewer images, in as few batches as hold them: their gradients are those of so many ranks, but each batch
 * has other images, so batch norm is frozen. */
Test(accumulate, with_a_last_step_that_is_not_full)
{
    if (!job_is_quick()) check_accumulate(29, true);
    check_accumulate(14, true);
}

/* ---- One value a channel ---- */

/* The running statistics of the last batch norm, after each step. */
enum { POINT_WIDTH = 8, POINT_STEPS = 2 };
static float (*point_statistics)[2 * POINT_WIDTH];

static p2p_err take_statistics(void *arg, const train_hook_context *now)
{
    const float *at = train_map(now->network, TRAIN_STATISTICS, NULL);
    size_t length = train_length(now->network, TRAIN_STATISTICS);
    (void)arg;
    if (!at || now->step >= POINT_STEPS + 1) return P2P_ERR_ARG;
    memcpy(point_statistics[now->step - 1], at + length - 2 * POINT_WIDTH, sizeof *point_statistics);
    return P2P_OK;
}

/* A model whose last layers are 1 x 1; a step of twelve images in batches of three, and one of so many more. */
static void train_points(size_t more)
{
    const train_description points = {"points", 7, 2, true, 4, {1, 1, 1, 1}, {8, 8, 8, POINT_WIDTH}};
    train_job job;
    make(&job, 12 + more, 1, 4);
    train_free(job.model);
    cr_assert_eq(train_build(&points, &job.model, NULL), P2P_OK);
    job.settings.epochs = 1;
    job.hooks = (train_hooks){.after_step = take_statistics, .arg = job.hooks.arg};
    point_statistics = job_shared(POINT_STEPS * sizeof *point_statistics);
    ASSERT_RIGHT(training_run(&job, 1));
    train_job_free(&job);
}

/* One value has no variance: what is known of a channel stays. */
Test(accumulate, one_image_leaves_the_statistics_of_a_layer_of_one_pixel)
{
    train_points(1);
    cr_assert_arr_eq(point_statistics[1], point_statistics[0], sizeof *point_statistics);
}

/* And where it always is so, that is said. */
Test(accumulate, batches_of_one_image_are_warned_of)
{
    const train_description points = {"points", 7, 2, true, 4, {1, 1, 1, 1}, {8, 8, 8, POINT_WIDTH}};
    job_result result;
    train_job job;
    make(&job, 2, 1, 1);
    train_free(job.model);
    cr_assert_eq(train_build(&points, &job.model, NULL), P2P_OK);
    job.settings.batch = 1;
    job.hooks = (train_hooks){.arg = job.hooks.arg};
    job_run(1, NULL, training_rank, &job, &result);
    ASSERT_CONTAINS(result.process.err, "--batch 1: layers of points have one value a channel");
    job_free(&result);
    train_job_free(&job);
}

/* Two images are one batch: the variance moves by a tenth once, to no less than nine tenths. Two batches of one image would have
 * left 0.81 of it. */
Test(accumulate, a_short_step_is_not_spread_over_batches_of_one_image)
{
    train_points(2);
    for (int c = POINT_WIDTH; c < 2 * POINT_WIDTH; c++)
        cr_assert(point_statistics[1][c] > 0.899f * point_statistics[0][c], "channel %d: %g after %g", c - POINT_WIDTH,
                  (double)point_statistics[1][c], (double)point_statistics[0][c]);
}

static p2p_err counting(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    int *calls = arg;
    if (p2p_rank(comm) == 0) ++*calls;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

Test(accumulate, does_not_sync_in_between)
{
    for (size_t batches = 1; batches < 4; batches += 2) {
        train_job job;
        int *calls = job_shared(sizeof *calls);
        const train_reducer reducer = {.all_reduce = counting, .arg = calls};
        training_book *book = make(&job, 36, 2, batches);
        job.reducer = &reducer;
        ASSERT_RIGHT(training_run(&job, 2));
        cr_assert(book->steps[0] == (batches == 1 ? 12 : 4) && *calls == book->steps[0], "%d all-reduces in %d steps",
                  *calls, book->steps[0]);
        train_job_free(&job);
    }
}

/* ---- Clipping ---- */

/* torch.nn.utils.clip_grad_norm_ of the numbers 1 to 5, with 2: PyTorch 1.13. */
static int clip_rank(p2p_comm *world, void *arg)
{
    static const double want[] = {0.269679904, 0.539359808, 0.809039712, 1.07871962, 1.34839952};
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4};
    train_job *job = arg;
    train_network *network;
    train_error error = {""};
    double norm;
    (void)world;
    CHECK(!train_network_open(job->model, &options, &network, &error), "%s", error.text);
    float *gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++) gradients[i * 40] = (float)(i + 1);
    train_flush(network, TRAIN_GRADIENTS, &error);
    CHECK(!train_clip(network, 0, &norm, &error) && !train_clip(network, 8, &norm, &error), "%s", error.text);
    CHECK(fabs(norm - 7.416198253631592) < 1e-6, "norm %.9g", norm);
    gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++) CHECK(gradients[i * 40] == (float)(i + 1), "clipped, and was short enough");
    CHECK(!train_clip(network, 2, &norm, &error), "%s", error.text);
    gradients = train_map(network, TRAIN_GRADIENTS, &error);
    for (int i = 0; i < 5; i++)
        CHECK(fabs((double)gradients[i * 40] - want[i]) < 1e-6 * want[i], "%.9g", (double)gradients[i * 40]);
    train_network_close(network);
    return 0;
}

Test(clip, is_pytorchs)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 8, 2);
    ASSERT_RIGHT(job_right(1, NULL, clip_rank, &job));
    train_job_free(&job);
}

/* ---- In a run: by chunks, and with --shard each rank its own ---- */

typedef struct {
    train_job *job;
    enum train_sharding shard;
} clip_case;

/* The same on every rank, as after gradient sync; from 1e-6 to 1. */
static float gradient(size_t i)
{
    float size = (float[]){1, 1e-2f, 1e-4f, 1e-6f}[i % 4];
    return size * (1 + (float)(i % 97) / 97) * (i % 3 ? 1 : -1);
}

static p2p_err fill(train_network *network, train_error *error)
{
    float *at = train_map(network, TRAIN_GRADIENTS, error);
    for (size_t i = 0; at && i < train_length(network, TRAIN_GRADIENTS); i++) at[i] = gradient(i);
    return at ? train_flush(network, TRAIN_GRADIENTS, error) : P2P_ERR_SYS;
}

/* Its gradients, clipped, and *norm, by train_clip; whole. */
static p2p_err clip_whole(const train_job *job, float most, float *clipped, double *norm, train_error *error)
{
    train_network *network = NULL;
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4};
    p2p_err err = train_network_open(job->model, &options, &network, error);
    if (!err) err = fill(network, error);
    if (!err) err = train_clip(network, most, norm, error);
    const float *at = err ? NULL : train_map(network, TRAIN_GRADIENTS, error);
    if (at) memcpy(clipped, at, job->model->parameters * sizeof *at);
    train_network_close(network);
    return err;
}

static const char *differs(const float *got, const float *want, size_t first, size_t count)
{
    for (size_t i = first; i < first + count; i++)
        if (fabs((double)got[i] - (double)want[i]) > 1e-6 * fabs((double)want[i])) return "other gradients";
    return NULL;
}

/* As a run has it, but for the gradients. */
static p2p_err open_run(train_runner *r, enum train_sharding shard)
{
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4, .comm = r->comm, .shard = shard};
    static const train_sync_options by = {.all_reduce = ring_all_reduce, .overlap = true, .bucket_bytes = 4096};
    p2p_err err = train_network_open(r->job->model, &options, &r->network, r->error);
    if (!err) err = train_sync_open(r->network, r->comm, &by, &r->sync, r->error);
    if (!err && shard) err = train__shard_open(r->network, r->comm, r->sync, 1, &r->shard, r->error);
    return err ? err : fill(r->network, r->error);
}

static int clip_in_a_run_rank(p2p_comm *world, void *arg)
{
    static const float limits[] = {1e6f, 2, 1e-3f};
    static float want[TRAINING_ROOM];
    const clip_case *c = arg;
    train_error error = {""};
    double norm = 0;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        train_settings settings = c->job->settings;
        settings.clip = limits[i];
        train_runner r = {.comm = world, .rank = p2p_rank(world), .size = p2p_size(world), .job = c->job};
        r.settings = &settings;
        r.error = &error;
        CHECK(!clip_whole(c->job, limits[i], want, &norm, &error), "%s", error.text);
        CHECK(!open_run(&r, c->shard) && !train__clip(&r), "%s", error.text);
        CHECK(fabs(r.norm - norm) <= 1e-6 * norm && norm > 1, "norm %.9g, not %.9g", r.norm, norm);
        const float *got = train_map(r.network, TRAIN_GRADIENTS, &error);
        const char *wrong = r.shard ? NULL : differs(got, want, 0, c->job->model->parameters);
        for (size_t k = 0; r.shard && k < r.shard->count && !wrong; k++)
            wrong = differs(got, want, r.shard->parts[k].own, r.shard->parts[k].own_count);
        CHECK(!wrong, "--clip %g: %s", (double)limits[i], wrong);
        train__shard_close(r.shard);
        train_sync_close(r.sync);
        train_network_close(r.network);
    }
    return 0;
}

Test(clip, in_a_run_is_train_clip_on_any_number_of_ranks)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 8, 2);
    for (int ranks = 1; ranks <= 5; ranks += job_is_quick() ? 2 : 1)
        for (int shard = TRAIN_SHARD_NONE; shard <= TRAIN_SHARD_GRADIENTS; shard++) {
            clip_case c = {&job, (enum train_sharding)shard};
            ASSERT_RIGHT(job_right(ranks, NULL, clip_in_a_run_rank, &c));
        }
    train_job_free(&job);
}

/* The norm is that of all ranks' gradients together, so a step with half the images on each rank is clipped alike. */
Test(clip, takes_the_norm_of_all_ranks)
{
    uint32_t weights[2];
    for (int clipped = 0; clipped < 2; clipped++) {
        train_job job;
        training_book *book = make(&job, 24, 2, 1);
        job.settings.lr = 0.1f;
        job.settings.optimizer = KERNEL_SGD;
        job.settings.clip = clipped ? 0.01f : 1e6f;
        ASSERT_RIGHT(training_run(&job, 2));
        cr_assert(book->page[0][3].weights == book->page[1][3].weights, "the ranks have different weights");
        weights[clipped] = book->page[0][0].weights;
        train_job_free(&job);
    }
    cr_assert(weights[0] != weights[1], "nothing was clipped");
}

/* ---- Smoothed labels, Nesterov ---- */

/* The gradient of the last layer's bias is the mean of what the network says of a class less what the labels say, and
 * smoothing moves the labels alone. All images are in one step. */
Test(label_smoothing, moves_the_labels)
{
    enum { IMAGES = 12 };
    const float smoothing = 0.2f;
    double bias[2][TRAIN_CLASSES], share[TRAIN_CLASSES] = {0};
    for (int smooth = 0; smooth < 2; smooth++) {
        train_job job;
        training_book *book = make(&job, IMAGES, 2, 2);
        job.settings.label_smoothing = smooth ? smoothing : 0;
        ASSERT_RIGHT(training_run(&job, 2));
        const float *end = book->page[0][0].gradients + job.model->parameters;
        for (int k = 0; k < TRAIN_CLASSES; k++) bias[smooth][k] = (double)end[k - TRAIN_CLASSES];
        for (size_t i = 0; i < IMAGES && !smooth; i++) share[train_label(&job.data.train, i)] += 1.0 / IMAGES;
        train_job_free(&job);
    }
    for (int k = 0; k < TRAIN_CLASSES; k++) {
        double moved = bias[1][k] - bias[0][k], want = (double)smoothing * (share[k] - 1.0 / TRAIN_CLASSES);
        cr_assert(fabs(moved - want) < 1e-6, "class %d: %.9g, not %.9g", k, moved, want);
    }
}

Test(nesterov, is_what_the_settings_ask_for)
{
    uint32_t weights[2];
    for (int nesterov = 0; nesterov < 2; nesterov++) {
        train_job job;
        training_book *book = make(&job, 12, 2, 1);
        job.settings.lr = 0.1f;
        job.settings.optimizer = KERNEL_SGD;
        job.settings.nesterov = nesterov;
        ASSERT_RIGHT(training_run(&job, 2));
        weights[nesterov] = book->page[0][0].weights;
        train_job_free(&job);
    }
    cr_assert(weights[0] != weights[1]);
}
