/* SPDX-License-Identifier: MIT */
// worlds: last
/* trainer_step: what a training loop of the user's own is made of, and what hooks can do in the library's. */
#include <math.h>
#include <stdio.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/commands.h"

/* ---- Examples ---- */

#define EXAMPLES "${L%/launch}/examples/"
#define TRAIN "${L%/launch}/train --quiet --ranks 2 --train-limit 200 --test-limit 8 "

Test(examples, a_loop_of_ones_own_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work("$L -n 2 " EXAMPLES "train_loop $D/own 200");
    must_work(TRAIN "--out $D/run");
    must_work("cmp $D/own/model.safetensors $D/run/model.safetensors");
    must_work(TRAIN "--epochs 2 --resume $D/own --out $D/own");
    must_work(TRAIN "--epochs 2 --resume $D/run --out $D/run");
    must_work("cmp $D/own/model.safetensors $D/run/model.safetensors");
}

Test(examples, of_an_own_all_reduce_schedule_and_shard, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work(EXAMPLES "train_all_reduce --ranks 3 --train-limit 60 --test-limit 8 --batch 4 --steps 3 --bucket 256K | "
                       "grep 'own all-reduce: 0 waited for, [1-9]'");
    must_work(EXAMPLES "train_all_reduce --train-limit 60 --test-limit 8 --batch 4 --steps 3 --overlap 0 | "
                       "grep 'own all-reduce: [1-9][0-9]* waited for, 0 begun'");
    must_work(EXAMPLES
              "train_schedule --quiet --train-limit 200 --test-limit 8 --batch 4 --epochs 2 --save $D/w --out $D");
    must_work("test -e $D/w && grep -c '\"loss\":' $D/metrics.jsonl | grep -x 30 && tail -n 1 $D/metrics.jsonl | "
              "grep accuracy");
    must_work("$L -n 3 " EXAMPLES
              "train_shard | LC_ALL=C awk '{ loss[++n] = $4 } END { exit n != 10 || !(loss[10] < 0.8 * loss[1]) }'");
}

/* ---- A checkpoint of one's own ---- */

static void numbers(float *at, size_t count, float first)
{
    for (size_t i = 0; i < count; i++) at[i] = first + (float)i;
}

static bool same(const float *one, const float *other, size_t count)
{
    return memcmp(one, other, count * sizeof *one) == 0;
}

Test(checkpoint, of_a_loop_of_ones_own_is_what_train_prepare_reads, .init = make_test_folder,
     .fini = remove_test_folder)
{
    static float arrays[3][300000], statistics[3000];
    train_settings settings;
    train_job job, next;
    train_error error = {""};
    train_defaults(&settings);
    settings.train_limit = settings.test_limit = 8;
    cr_assert(!train_prepare(&settings, &job, &error), "%s", error.text);
    size_t parameters = job.model->parameters;
    char folder[300];
    snprintf(folder, sizeof folder, "%s/new", test_folder);
    cr_assert(parameters <= 300000 && job.model->statistics <= 3000);
    for (int i = 0; i < 3; i++) numbers(arrays[i], parameters, (float)i / 2);
    numbers(statistics, job.model->statistics, 7);
    train_start now = {.parameters = arrays[0], .statistics = statistics, .state = {arrays[1]}, .batches = 4};
    cr_assert(train_save_checkpoint(folder, &job, &now, &error) == P2P_ERR_ARG, "a state is missing");
    now.state[1] = arrays[2];
    cr_assert(train_save_checkpoint(folder, &job, &now, &error) == P2P_ERR_ARG, "epochs begin with 1");
    now.epoch = 3, now.position = 9, now.step = 5, now.examples = 22, now.loss_sum = 0.1;
    cr_assert(train_save_checkpoint(folder, &job, &now, &error) == P2P_ERR_ARG, "there are 8 images");
    must_work("test ! -e $D/new");
    now.position = 6;
    cr_assert(!train_save_checkpoint(folder, &job, &now, &error), "%s", error.text);
    settings.resume = folder;
    cr_assert(!train_prepare(&settings, &next, &error), "%s", error.text);
    const train_start *got = &next.start;
    cr_assert(same(got->parameters, arrays[0], parameters) && same(got->state[0], arrays[1], parameters));
    cr_assert(same(got->state[1], arrays[2], parameters));
    cr_assert(same(got->statistics, statistics, job.model->statistics));
    cr_assert(got->epoch == 3 && got->position == 6 && got->step == 5 && got->examples == 22 && got->batches == 4);
    cr_assert(got->loss_sum == now.loss_sum && !got->error && !got->error_ranks);
    train_job_free(&job);
    train_job_free(&next);
}

/* ---- Gradients of a layer as soon as they are there ---- */

/* What each layer's gradients were when they had come, before the next operation of the backward pass was queued. */
typedef struct {
    train_network *network;
    const train_model *model;
    const float *at[64];
    float came[TRAINING_ROOM];
    size_t covered;
    const char *wrong;
} by_layer;

/* No gradient is this number. */
static const float not_yet = 12345678;

static const char *come(by_layer *b, size_t operation, size_t first, size_t count)
{
    kernel_event *event = NULL;
    bool done = false;
    const float *at = train_map_part(b->network, TRAIN_GRADIENTS, first, count, &event, NULL);
    if (!at || kernel_event_wait(event)) return "a layer's gradients did not come";
    if (kernel_event_done(event, &done) || !done) return "what was waited for is not done";
    kernel_event_free(event);
    b->at[operation] = at;
    b->covered += count;
    memcpy(b->came + first, at, count * sizeof *at);
    for (size_t i = 0; i < operation; i++) {
        size_t other, others;
        train_gradients_of(b->model, i, &other, &others);
        for (size_t k = 0; k < others; k++)
            if ((at - first)[other + k] != not_yet) return "others are computed before this layer has been told of";
    }
    return NULL;
}

static void ready(void *arg, size_t operation)
{
    by_layer *b = arg;
    size_t first, count;
    train_gradients_of(b->model, operation, &first, &count);
    if (count && !b->wrong) b->wrong = come(b, operation, first, count);
}

/* all: when the backward pass has ended. */
static const char *check_layers(const by_layer *b, const float *all)
{
    for (size_t i = 0; i < b->model->operation_count; i++) {
        size_t first, count;
        train_gradients_of(b->model, i, &first, &count);
        if (!count) continue;
        if (!b->at[i]) return "a layer was not told of";
        if (b->at[i] != all + first) return "they are elsewhere";
        if (!same(b->came + first, all + first, count)) return "what came was not the layer's gradients";
    }
    return b->covered == b->model->parameters ? NULL : "not all gradients belong to a layer";
}

static p2p_err fill_gradients(train_network *network)
{
    float *gradients = train_map(network, TRAIN_GRADIENTS, NULL);
    for (size_t i = 0; i < train_length(network, TRAIN_GRADIENTS); i++) gradients[i] = not_yet;
    return train_flush(network, TRAIN_GRADIENTS, NULL);
}

static int layers_rank(p2p_comm *world, void *arg)
{
    train_job *job = arg;
    train_error error = {""};
    static by_layer b;
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4};
    const size_t chosen[4] = {0, 1, 2, 3};
    (void)world;
    b.model = job->model;
    CHECK(!train_network_open(job->model, &options, &b.network, &error), "%s", error.text);
    train_initialise(job->model, 1, train_map(b.network, TRAIN_PARAMETERS, &error),
                     train_map(b.network, TRAIN_STATISTICS, &error));
    train_flush(b.network, TRAIN_PARAMETERS, &error);
    train_flush(b.network, TRAIN_STATISTICS, &error);
    p2p_err err = train_load(b.network, &job->data.train, chosen, 4, &(train_view){.augment = false}, &error);
    if (!err) err = train_forward(b.network, 0.25f, &error);
    if (!err) err = fill_gradients(b.network);
    if (!err) err = train_backward(b.network, ready, &b, &error);
    CHECK(!err && !b.wrong, "%s%s", error.text, b.wrong ? b.wrong : "");
    const char *wrong = check_layers(&b, train_map(b.network, TRAIN_GRADIENTS, &error));
    CHECK(!wrong, "%s", wrong);
    CHECK(train_flush_part(b.network, TRAIN_GRADIENTS, 0, job->model->parameters + 1, &error) == P2P_ERR_ARG, "?");
    train_network_close(b.network);
    return 0;
}

Test(step, a_layers_gradients_come_while_the_backward_pass_goes_on)
{
    static training_book unused;
    train_job job;
    training_make(&job, &unused, 8, 2);
    ASSERT_RIGHT(job_right(1, NULL, layers_rank, &job));
    train_job_free(&job);
}

/* ---- Hooks ---- */

static train_hooks usual; /* those that keep the book */

/* Rank 1 alone decides. */
static p2p_err stop_at_3(void *arg, const train_hook_context *now)
{
    p2p_err err = usual.after_step(arg, now);
    return !err && now->step == 3 && p2p_rank(now->comm) == 1 ? TRAIN_STOP : err;
}

static double half(void *arg, const train_hook_context *now, double planned)
{
    (void)arg;
    return now->step == 0 ? planned : planned / 2;
}

static training_book *book_of(train_job *job, size_t images)
{
    training_book *book = job_shared(sizeof *book);
    training_make(job, book, images, 6);
    usual = job->hooks;
    job->settings.batch = 4;
    job->settings.steps = 6;
    return book;
}

Test(hooks, one_rank_stops_all_after_the_same_step_and_they_evaluate)
{
    train_job job;
    training_book *stopped = book_of(&job, 48);
    job.hooks.after_step = stop_at_3;
    ASSERT_RIGHT(training_run(&job, 2));
    for (int rank = 0; rank < 2; rank++) {
        cr_assert(stopped->steps[rank] == 3, "rank %d took %d steps", rank, stopped->steps[rank]);
        cr_assert(stopped->score[rank].total == 6);
    }
    training_book *whole = book_of(&job, 48);
    job.settings.steps = 3;
    ASSERT_RIGHT(training_run(&job, 2));
    cr_assert(whole->page[0][2].weights == stopped->page[0][2].weights);
    train_job_free(&job);
}

Test(hooks, one_sets_the_learning_rate)
{
    train_job job;
    training_book *own = book_of(&job, 48);
    job.hooks.learning_rate = half;
    ASSERT_RIGHT(training_run(&job, 2));
    training_book *full = book_of(&job, 48);
    ASSERT_RIGHT(training_run(&job, 2));
    cr_assert(own->page[0][0].weights == full->page[0][0].weights, "the first step is the same");
    cr_assert(own->page[0][1].weights != full->page[0][1].weights, "the second is not");
    cr_assert(own->page[0][5].weights == own->page[1][5].weights, "on all ranks");
    train_job_free(&job);
}

/* ---- A reducer that does not wait ---- */

/* Counted by each rank in the job's own memory. */
typedef struct {
    int begun[2], waited[2];
} counts;

static p2p_err begin_own(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op,
                         p2p_request *request)
{
    ((counts *)arg)->begun[p2p_rank(comm)]++;
    return ring_iall_reduce(comm, buf, count, dtype, op, request);
}

static p2p_err wait_own(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    ((counts *)arg)->waited[p2p_rank(comm)]++;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

Test(reducer, of_ones_own_goes_on_in_the_background)
{
    uint32_t weights[2];
    for (int overlap = 0; overlap < 2; overlap++) {
        train_job job;
        counts *counted = job_shared(sizeof *counted);
        const train_reducer own = {.all_reduce = wait_own, .arg = counted, .iall_reduce = begin_own};
        training_book *book = book_of(&job, 24);
        job.reducer = &own;
        job.settings.overlap = overlap;
        ASSERT_RIGHT(training_run(&job, 2));
        weights[overlap] = book->page[1][2].weights;
        cr_assert((counted->begun[1] > 0) == overlap && (counted->waited[1] > 0) == !overlap,
                  "overlap %d: %d begun, %d waited for", overlap, counted->begun[1], counted->waited[1]);
        train_job_free(&job);
    }
    cr_assert(weights[0] == weights[1], "other bits in the background");
}
