/* SPDX-License-Identifier: MIT */
/* trainer_step: what a training loop of the user's own is made of, and what hooks can do in the library's. */
#include <math.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"

static void must_work(const char *command)
{
    process_result result;
    setenv("D", test_folder, 1);
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

/* ---- Examples ---- */

#define EXAMPLES "${L%/launch}/examples/"

Test(examples, a_loop_of_ones_own_gives_the_same_bits, .init = make_test_folder, .fini = remove_test_folder)
{
    must_work("$L -n 2 " EXAMPLES "train_loop $D/own.safetensors 200");
    must_work("${L%/launch}/train --quiet --ranks 2 --train-limit 200 --test-limit 8 --save $D/train.safetensors");
    must_work("cmp $D/own.safetensors $D/train.safetensors");
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
    must_work("$L -n 3 " EXAMPLES "train_shard | grep 'step 10: loss'");
}

/* ---- Gradients of a layer as soon as they are there ---- */

typedef struct {
    train_network *network;
    const train_model *model;
    kernel_event *done[64];
    const float *at[64];
    size_t covered;
} by_layer;

static void ready(void *arg, size_t operation)
{
    by_layer *b = arg;
    size_t first, count;
    train_gradients_of(b->model, operation, &first, &count);
    if (!count) return;
    b->at[operation] = train_map_part(b->network, TRAIN_GRADIENTS, first, count, &b->done[operation], NULL);
    b->covered += count;
}

static const char *check_layers(by_layer *b, const float *all)
{
    for (size_t i = 0; i < b->model->operation_count; i++) {
        size_t first, count;
        train_gradients_of(b->model, i, &first, &count);
        if (!count) continue;
        if (!b->at[i] || kernel_event_wait(b->done[i])) return "a layer's gradients did not come";
        kernel_event_free(b->done[i]);
        if (b->at[i] != all + first) return "they are elsewhere";
    }
    return b->covered == b->model->parameters ? NULL : "not all gradients belong to a layer";
}

static int layers_rank(p2p_comm *world, void *arg)
{
    train_job *job = arg;
    train_error error = {""};
    by_layer b = {.model = job->model};
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4};
    const size_t chosen[4] = {0, 1, 2, 3};
    (void)world;
    CHECK(!train_network_open(job->model, &options, &b.network, &error), "%s", error.text);
    train_initialise(job->model, 1, train_map(b.network, TRAIN_PARAMETERS, &error),
                     train_map(b.network, TRAIN_STATISTICS, &error));
    train_flush(b.network, TRAIN_PARAMETERS, &error);
    train_flush(b.network, TRAIN_STATISTICS, &error);
    p2p_err err = train_load(b.network, &job->data.train, chosen, 4, &(train_view){.augment = false}, &error);
    if (!err) err = train_forward(b.network, 0.25f, &error);
    if (!err) err = train_backward(b.network, ready, &b, &error);
    CHECK(!err, "%s", error.text);
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
