/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * trainer: what data-parallel training promises. n ranks compute what one computes; all ranks have the same weights, to
 * the bit, after every step; the same seed gives the same bits again; every image is seen once.
 */
#include <math.h>
#include <sys/stat.h>

#include "tests/trainer/training.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "trainer/network.h"
#include "trainer/run.h"

static training_book *new_book(void)
{
    return job_shared(sizeof(training_book));
}

/* ---- n ranks = 1 rank. Batch norm's statistics are those of a rank's batch, so they must be out of play. ---- */

static void make_frozen(train_job *job, training_book *book, size_t images, size_t batch)
{
    training_make(job, book, images, 4);
    job->settings.frozen = true;
    job->settings.lr = 0; /* every step from the same weights */
    job->settings.augment = true;
    job->settings.epochs = 2;
    job->settings.batch = batch;
}

/* So many images, so many in a step on all ranks together. */
static void check_equivalence(size_t images, size_t together, const int ranks[], int count)
{
    static float seen[TRAINING_STEPS][TRAINING_ROOM];
    training_book *book = new_book();
    train_job job;
    make_frozen(&job, book, images, together);
    ASSERT_RIGHT(training_run(&job, 1));
    int steps = book->steps[0];
    cr_assert(steps == 2 * (int)((images + together - 1) / together), "%d steps", steps);
    for (int s = 0; s < steps; s++) memcpy(seen[s], book->page[0][s].gradients, sizeof seen[s]);
    train_job_free(&job);
    for (int i = 0; i < count; i++) {
        make_frozen(&job, book, images, together / (size_t)ranks[i]);
        ASSERT_RIGHT(training_run(&job, ranks[i]));
        cr_assert(book->steps[0] == steps, "%d ranks made %d steps, one made %d", ranks[i], book->steps[0], steps);
        for (int s = 0; s < steps; s++) {
            double difference = training_difference(&job, seen[s], book->page[0][s].gradients);
            cr_assert(difference < 1e-5, "%zu images, %zu a step: step %d on %d ranks differs by %g", images, together,
                      s + 1, ranks[i], difference);
        }
        train_job_free(&job);
    }
}

Test(equiv, of_1_to_4_ranks)
{
    check_equivalence(48, 12, (const int[]){3, 2, 4}, job_is_quick() ? 1 : 3);
}

/* The last step has fewer images, and not the same number on every rank. */
Test(equiv, with_a_last_batch_that_is_not_full)
{
    check_equivalence(41, 12, (const int[]){3, 2, 4}, job_is_quick() ? 1 : 3);
}

/* Some ranks have none at all in the last step. */
Test(equiv, with_ranks_that_have_no_image_left)
{
    check_equivalence(25, 12, (const int[]){4, 2}, job_is_quick() ? 1 : 2);
}

Test(equiv, with_fewer_images_than_ranks)
{
    check_equivalence(3, 8, (const int[]){4, 8}, job_is_quick() ? 1 : 2);
}

/* ---- The same bits on all ranks, for every all-reduce ---- */

static void check_bits(enum train_algorithm all_reduce, bool overlap, size_t bucket, int ranks)
{
    training_book *book = new_book();
    train_job job;
    training_make(&job, book, 40, 4);
    job.settings.batch = 4;
    job.settings.all_reduce = all_reduce;
    job.settings.overlap = overlap;
    job.settings.bucket_bytes = bucket;
    ASSERT_RIGHT(training_run(&job, ranks));
    cr_assert(book->steps[0] == (40 + 4 * ranks - 1) / (4 * ranks));
    for (int s = 0; s < book->steps[0]; s++)
        for (int r = 1; r < ranks; r++)
            cr_assert(book->page[r][s].weights == book->page[0][s].weights,
                      "all-reduce %d, %zu a bucket, %d ranks: after step %d rank %d has other weights", (int)all_reduce,
                      bucket, ranks, s + 1, r);
    train_job_free(&job);
}

Test(bits_long, are_the_same_on_all_ranks_for_every_all_reduce)
{
    for (int i = TRAIN_RING; i < TRAIN_NONE; i++) check_bits((enum train_algorithm)i, false, 4096, 3);
    check_bits(TRAIN_RING, true, 4096, 3);
    check_bits(TRAIN_RING, true, 0, 4);
    check_bits(TRAIN_NAIVE, false, 0, 2);
}

/* Without sync they drift: the check above can see that. */
Test(bits, differ_without_sync)
{
    training_book *book = new_book();
    train_job job;
    training_make(&job, book, 16, 4);
    job.settings.batch = 4;
    job.settings.all_reduce = TRAIN_NONE;
    job_result result;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_OK, "%s", result.process.err);
    cr_assert(book->page[0][0].weights != book->page[1][0].weights, "two ranks made the same step by themselves");
    ASSERT_CONTAINS(result.process.err, "drift");
    job_free(&result);
    train_job_free(&job);
}

/* ---- Kernels are compiled before the first step ---- */

static kernel_counters *counted; /* of each rank, at the beginning of the last epoch: after all others, and scores */

static p2p_err count_kernels(void *arg, const train_hook_context *now)
{
    (void)arg;
    return kernel_stats(now->network->device, &counted[p2p_rank(now->comm)]) ? P2P_ERR_SYS : P2P_OK;
}

/* What was listed before the first step is all that was ever launched. */
static void check_kernels(size_t images, size_t tests, size_t batch, size_t accumulate, int ranks)
{
    training_book *book = new_book();
    counted = job_shared(TRAINING_RANKS * sizeof *counted);
    train_job job;
    training_make(&job, book, images, tests);
    job.settings.batch = batch;
    job.settings.accumulate = accumulate;
    job.settings.epochs = 2;
    job.hooks.before_shard = count_kernels;
    ASSERT_RIGHT(training_run(&job, ranks));
    for (int r = 0; r < ranks; r++)
        cr_assert(counted[r].kernels_listed && counted[r].kernels_listed == counted[r].kernels_used,
                  "%zu and %zu images, batches of %zu, %zu a step: rank %d used %d kernels, %d before the first step",
                  images, tests, batch, accumulate, r, (int)counted[r].kernels_used, (int)counted[r].kernels_listed);
    train_job_free(&job);
}

/* Batches of up to 16 images may need other kernels than longer ones. */
Test(kernels, are_there_before_the_first_step)
{
    check_kernels(16, 4, 4, 1, 2);
    check_kernels(2 * (32 + 4), 64, 32, 1, 2); /* the last batch of an epoch */
    check_kernels(64, 2 * (32 + 4), 32, 1, 2); /* of an evaluation */
}

Test(kernels_long, are_there_before_the_first_step)
{
    check_kernels(2 * (64 + 40), 4, 32, 2, 2); /* a last step of 20 and 20 */
    check_kernels(33, 4, 32, 2, 2);            /* 17 and 16 in one batch of each rank, none in the other */
    check_kernels(33, 3, 32, 1, 1);            /* and of 32, 1 */
    check_kernels(1, 1, 32, 2, 3);             /* two ranks without images */
}

/* ---- The same bits in every run ---- */

static uint32_t last_weights(enum train_algorithm all_reduce, bool overlap, uint64_t seed)
{
    training_book *book = new_book();
    train_job job;
    training_make(&job, book, 32, 4);
    job.settings.batch = 8;
    job.settings.all_reduce = all_reduce;
    job.settings.overlap = overlap;
    job.settings.seed = seed;
    ASSERT_RIGHT(training_run(&job, 2));
    train_job_free(&job);
    return book->page[0][book->steps[0] - 1].weights;
}

Test(determinism, the_same_seed_gives_the_same_bits)
{
    uint32_t ring = last_weights(TRAIN_RING, true, 1), naive = last_weights(TRAIN_NAIVE, false, 1);
    cr_assert(last_weights(TRAIN_RING, true, 1) == ring, "another run with the ring gave other weights");
    cr_assert(last_weights(TRAIN_RING, false, 1) == ring, "without overlap the ring gave other weights");
    cr_assert(last_weights(TRAIN_NAIVE, false, 1) == naive, "another run with the naive one gave other weights");
    cr_assert(last_weights(TRAIN_RING, true, 2) != ring, "another seed gave the same weights");
}

/* ---- Evaluation ---- */

/* 37 images: no number of ranks but 1 divides it. */
Test(evaluation, counts_every_image_once)
{
    training_book *book = new_book();
    train_score one = {0};
    for (int ranks = 1; ranks <= 8; ranks = job_next_size(ranks)) {
        train_job job;
        training_make(&job, book, 4, 37);
        job.settings.eval_only = true;
        job.settings.batch = 4;
        ASSERT_RIGHT(training_run(&job, ranks));
        if (ranks == 1) one = book->score[0];
        for (int r = 0; r < ranks; r++) {
            const train_score *score = &book->score[r];
            cr_assert(score->total == 37 && score->correct == one.correct, "%d ranks: %d of %d, one rank: %d of 37",
                      ranks, (int)score->correct, (int)score->total, (int)one.correct);
            cr_assert(fabs(score->loss - one.loss) < 1e-4 * one.loss, "%d ranks: loss %g, one rank: %g", ranks,
                      score->loss, one.loss);
        }
        train_job_free(&job);
    }
}

/* ---- Your own four changes ---- */

static p2p_err forgets(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    return P2P_OK;
}

Test(changes, a_forgotten_broadcast_is_found)
{
    training_book *book = new_book();
    train_job job;
    job_result result;
    training_make(&job, book, 8, 4);
    job.settings.batch = 4;
    job.parallel.broadcast = forgets;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_ERR_RANK_FAILED);
    ASSERT_CONTAINS(result.note, "the ranks have different weights: conv1.weight");
    job_free(&result);
    train_job_free(&job);
}

static size_t greedy(size_t count, int rank, int size, size_t mine[])
{
    (void)rank, (void)size;
    for (size_t i = 0; i < count; i++) mine[i] = i + 1;
    return count;
}

Test(changes, a_sampler_that_invents_images_is_found)
{
    training_book *book = new_book();
    train_job job;
    job_result result;
    training_make(&job, book, 8, 4);
    job.parallel.shard = greedy;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_ERR_RANK_FAILED);
    ASSERT_CONTAINS(result.note, "position");
    job_free(&result);
    train_job_free(&job);
}

static size_t share_alike(size_t count, int rank, int size, size_t mine[])
{
    size_t share = count / (size_t)size;
    for (size_t i = 0; i < share; i++) mine[i] = (size_t)rank * share + i;
    return share;
}

/* Nine images on two ranks, four for each: an epoch ends after its steps, and not when no image is left. */
Test(changes, a_sampler_that_leaves_images_out_ends_the_epoch)
{
    training_book *book = new_book();
    train_job job;
    training_make(&job, book, 9, 4);
    job.settings.batch = 2;
    job.settings.epochs = 2;
    job.settings.quiet = false;
    job.parallel.shard = share_alike;
    job_result result;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_OK && book->steps[0] == 4, "%d steps; %s", book->steps[0], result.process.err);
    ASSERT_CONTAINS(result.process.out, "step 2/2");
    ASSERT_CONTAINS(result.process.out, "epoch 1 had 8 of 9 images: the sampler leaves the others out");
    job_free(&result);
    train_job_free(&job);
}

Test(changes, a_sampler_that_leaves_no_image_is_found)
{
    training_book *book = new_book();
    train_job job;
    job_result result;
    training_make(&job, book, 1, 4);
    job.settings.steps = 3; /* and no number of epochs */
    job.parallel.shard = share_alike;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_ERR_RANK_FAILED);
    ASSERT_CONTAINS(result.note, "the sampler gave no rank any of 1 images");
    job_free(&result);
    train_job_free(&job);
}

/* ---- --patience ---- */

/* Weights that do not change have the same score in every epoch: the first is the best, and the third is the last. */
Test(patience, ends_when_nothing_becomes_better, .init = make_test_folder, .fini = remove_test_folder)
{
    training_book *book = new_book();
    train_job job;
    train_start end;
    train_error error = {""};
    make_frozen(&job, book, 8, 4);
    job.settings.epochs = 10;
    job.settings.patience = 2;
    job.settings.out = in_folder("run");
    cr_assert_eq(mkdir(job.settings.out, 0700), 0);
    ASSERT_RIGHT(training_run(&job, 2));
    cr_assert_eq(book->steps[0], 3);
    const train_run_of of = {&job.settings, job.model, 8};
    cr_assert_eq(train__resume(job.settings.out, &of, &end, &error), P2P_OK, "%s", error.text);
    cr_assert(end.epoch == 4 && end.best_epoch == 1 && end.best_correct == book->score[0].correct);
    cr_assert(train__waited_enough(&job.settings, end.best_epoch, end.epoch - 1));
    train_start_free(&end);
    cr_assert_eq(train_start_from(in_folder("run/best.safetensors"), job.model, &end, &error), P2P_OK, "%s",
                 error.text);
    train_start_free(&end);
    train_job_free(&job);
}

/* ---- The wrapper makes the same steps as the written-out loop ---- */

Test(wrapper, gives_the_same_bits)
{
    training_book *book = new_book();
    uint32_t weights[2];
    for (int wrapper = 0; wrapper < 2; wrapper++) {
        train_job job;
        training_make(&job, book, 32, 4);
        job.settings.batch = 8;
        job.settings.wrapper = wrapper;
        ASSERT_RIGHT(training_run(&job, 2));
        weights[wrapper] = book->page[1][book->steps[1] - 1].weights;
        train_job_free(&job);
    }
    cr_assert(weights[0] == weights[1]);
}
