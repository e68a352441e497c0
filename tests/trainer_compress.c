/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * trainer_compress: --wire and --compress. Nothing is lost: what is sent now and what is kept add up to what there was.
 * All ranks get the same bits. The bytes are what the formulas say. docs/compression.md has the formulas.
 */
#include "trainer/compress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collectives/collectives.h"
#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { STEPS = 3 };

static const train_compress methods[] = {{.wire = DTYPE_F16},
                                         {.wire = DTYPE_BF16},
                                         {.method = TRAIN_POWERSGD, .rank = 1},
                                         {.method = TRAIN_POWERSGD, .rank = 3},
                                         {.method = TRAIN_TOPK, .share = 0.01f},
                                         {.method = TRAIN_TOPK, .share = 1}};

static train_job job;

/* ---- Nothing is lost ---- */

/* Gradients of a magnitude for each tensor, as they are: some directions weigh more than others. */
static float gradient_of(int rank, int step, size_t i)
{
    double x = (double)(i * 2654435761u % 1000 + 37 * (size_t)rank + 101 * (size_t)step);
    return (float)(sin(x) * (i % 7 ? 1e-3 : 0.3));
}

static void add_to(double *sum, const float *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) sum[i] += (double)numbers[i];
}

/* A number of 16 bits is rounded once on each of n - 1 hops; what is sent as f32, hardly. */
static double tolerance(const train_compress *how, int n, double largest)
{
    double unit = how->wire == DTYPE_F16 ? 0x1p-11 : how->wire == DTYPE_BF16 ? 0x1p-8 : 1e-5;
    return (how->wire ? n - 1 : n) * unit * largest * 1.1 + 1e-6 * largest;
}

static int check_step(train__compressor *c, int step, float *gradients, double *before, double *after)
{
    size_t count = c->model->parameters;
    double largest = 0;
    int n = p2p_size(c->comm);
    for (size_t i = 0; i < count; i++) gradients[i] = gradient_of(p2p_rank(c->comm), step, i);
    for (size_t i = 0; i < count; i++) before[i] = (double)gradients[i] + (double)c->error[i];
    CALL(c->reduce(c, gradients, 0, count));
    for (size_t i = 0; i < count; i++) after[i] = (double)c->error[i];
    CALL(coll_all_reduce(c->comm, before, count, DTYPE_F64, OP_SUM));
    CALL(coll_all_reduce(c->comm, after, count, DTYPE_F64, OP_SUM));
    add_to(after, gradients, count);
    for (size_t i = 0; i < count; i++) largest = fmax(largest, fabs(before[i]));
    for (size_t i = 0; i < count; i++)
        CHECK(fabs(after[i] - before[i]) <= tolerance(&c->options->compress, n, largest),
              "step %d, element %zu: %.9g is sent or kept of %.9g", step, i, after[i], before[i]);
    return 0;
}

static int same_everywhere(p2p_comm *world, const float *numbers, size_t count)
{
    float *zeros = malloc(count * sizeof *zeros);
    memcpy(zeros, numbers, count * sizeof *zeros);
    CALL(coll_broadcast(world, zeros, count, DTYPE_F32, 0));
    CHECK(memcmp(zeros, numbers, count * sizeof *zeros) == 0, "other bits than on rank 0");
    free(zeros);
    return 0;
}

static int nothing_is_lost(p2p_comm *world, void *arg)
{
    const train_sync_options options = {.all_reduce = ring_all_reduce, .compress = *(const train_compress *)arg};
    size_t count = job.model->parameters;
    float *gradients = malloc(count * sizeof *gradients);
    double *before = malloc(2 * count * sizeof *before);
    train__compressor *c = NULL;
    CHECK(train__compressor_open(job.model, world, &options, &c, NULL) == P2P_OK, "open");
    for (int step = 0; step < STEPS; step++) {
        STEP(check_step(c, step, gradients, before, before + count));
        STEP(same_everywhere(world, gradients, count));
        if (c->factor_count) STEP(same_everywhere(world, c->factors, c->factor_count));
    }
    train__compressor_close(c);
    free(gradients);
    free(before);
    return 0;
}

static void make_job(void)
{
    static training_book unused;
    training_make(&job, &unused, 8, 2);
}

static void free_job(void)
{
    train_job_free(&job);
}

Test(compress, what_is_sent_and_what_is_kept_are_all, .init = make_job, .fini = free_job)
{
    static const int sizes[] = {1, 2, 3, 5};
    for (size_t i = 0; i < COUNT(methods); i++) {
        train_compress how = methods[i];
        ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, false, nothing_is_lost, &how));
    }
}

/* A gradient that is the product of two vectors is sent whole by rank 1, from the second step on at the latest. */
static int of_rank_one(p2p_comm *world, void *arg)
{
    const train_sync_options options = {.all_reduce = ring_all_reduce,
                                        .compress = {.method = TRAIN_POWERSGD, .rank = 1}};
    size_t count = job.model->parameters;
    float *gradients = malloc(count * sizeof *gradients);
    train__compressor *c = NULL;
    (void)arg;
    CHECK(train__compressor_open(job.model, world, &options, &c, NULL) == P2P_OK, "open");
    for (size_t t = 0; t < job.model->tensor_count; t++) {
        const train_tensor *of = &job.model->tensors[t];
        if (of->kind != TRAIN_PARAMETER) continue;
        size_t columns = of->count / of->shape[0];
        for (size_t i = 0; i < of->count; i++) {
            size_t row = i / columns, column = i % columns;
            gradients[of->offset + i] = (float)(1 + row) * (1 - (float)column / 7);
        }
    }
    CALL(c->reduce(c, gradients, 0, count));
    for (size_t t = 0; t < job.model->tensor_count; t++) {
        const train_tensor *of = &job.model->tensors[t];
        for (size_t i = 0; i < of->count && of->kind == TRAIN_PARAMETER; i++)
            CHECK(fabsf(c->error[of->offset + i]) < 1e-2f, "%s, element %zu: %g is kept", of->name, i,
                  (double)c->error[of->offset + i]);
    }
    train__compressor_close(c);
    free(gradients);
    return 0;
}

Test(powersgd, sends_what_has_its_rank, .init = make_job, .fini = free_job)
{
    ASSERT_RIGHT(job_right(2, false, of_rank_one, NULL));
}

static int largest_are_sent(p2p_comm *world, void *arg)
{
    const train_sync_options options = {.all_reduce = ring_all_reduce,
                                        .compress = {.method = TRAIN_TOPK, .share = 0.01f}};
    size_t count = job.model->parameters, k = train__topk_chosen(count, 0.01f), sent = 0;
    float *gradients = malloc(count * sizeof *gradients), least = INFINITY;
    train__compressor *c = NULL;
    (void)arg;
    CHECK(train__compressor_open(job.model, world, &options, &c, NULL) == P2P_OK, "open");
    for (size_t i = 0; i < count; i++)
        gradients[i] = (float)(int)(i * 7919 % 311) * (i % 2 ? 1.0f : -1.0f); /* many equal */
    CALL(c->reduce(c, gradients, 0, count));
    for (size_t i = 0; i < count; i++) {
        bool was_sent = fabsf(gradients[i]) > 0;
        sent += was_sent;
        if (was_sent) least = fminf(least, fabsf(gradients[i]));
    }
    CHECK(sent == k, "%zu are sent, not %zu", sent, k);
    for (size_t i = 0; i < count; i++) CHECK(fabsf(c->error[i]) <= least, "element %zu is larger, and was kept", i);
    train__compressor_close(c);
    free(gradients);
    return 0;
}

Test(topk, sends_the_largest, .init = make_job, .fini = free_job)
{
    ASSERT_RIGHT(job_right(1, false, largest_are_sent, NULL));
}

Test(topk, how_many)
{
    cr_assert_eq(train__topk_chosen(1000, 0.01f), 10u);
    cr_assert_eq(train__topk_chosen(1000, 1), 1000u);
    cr_assert_eq(train__topk_chosen(3, 0.01f), 1u);
    cr_assert_eq(train__topk_chosen(21289802, 0.001f), 21290u);
}

/* ---- Bytes: the formulas of docs/compression.md ---- */

/* Of a rank, round the ring: all chunks but one, in each half. */
static uint64_t of_all_reduce(int rank, int n, size_t count, size_t size)
{
    size_t first, own, right;
    ring_chunk(count, n, rank, &first, &own);
    ring_chunk(count, n, (rank + 1) % n, &first, &right);
    return size * (2 * count - own - right);
}

static uint64_t bytes_of(const train_compress *how, int rank, int n)
{
    size_t left = 0, right = 0, count = job.model->parameters, r = (size_t)how->rank;
    if (how->wire) return of_all_reduce(rank, n, count, 2);
    if (how->method == TRAIN_TOPK) return (uint64_t)(n - 1) * 8 * train__topk_chosen(count, how->share);
    for (size_t i = 0; i < job.model->tensor_count; i++) {
        const train_tensor *t = &job.model->tensors[i];
        if (t->kind != TRAIN_PARAMETER) continue;
        size_t rows = t->shape[0], columns = t->count / rows;
        bool smaller = r * (rows + columns) < t->count;
        left += smaller ? r * rows : t->count;
        right += smaller ? r * columns : 0;
    }
    return of_all_reduce(rank, n, left, 4) + of_all_reduce(rank, n, right, 4);
}

static uint64_t sent_so_far(p2p_comm *world)
{
    p2p_traffic peers[16];
    uint64_t bytes = 0;
    p2p_stats(world, peers);
    for (int q = 0; q < p2p_size(world); q++) bytes += peers[q].bytes_sent;
    return bytes;
}

static int bytes_as_predicted(p2p_comm *world, void *arg)
{
    const train_compress *how = arg;
    const train_sync_options options = {.all_reduce = ring_all_reduce, .compress = *how};
    float *gradients = calloc(job.model->parameters, sizeof *gradients);
    train__compressor *c = NULL;
    CHECK(train__compressor_open(job.model, world, &options, &c, NULL) == P2P_OK, "open");
    uint64_t before = sent_so_far(world);
    CALL(c->reduce(c, gradients, 0, job.model->parameters));
    uint64_t sent = sent_so_far(world) - before, predicted = bytes_of(how, p2p_rank(world), p2p_size(world));
    char text[40];
    CHECK(sent == predicted, "%s: %llu bytes, not %llu", train__compress_text(how, text), (unsigned long long)sent,
          (unsigned long long)predicted);
    train__compressor_close(c);
    free(gradients);
    return 0;
}

Test(compress, bytes_are_those_of_the_formula, .init = make_job, .fini = free_job)
{
    static const int sizes[] = {1, 2, 3, 8};
    for (size_t i = 0; i < COUNT(methods); i++) {
        train_compress how = methods[i];
        ASSERT_RIGHT(job_sizes(sizes, COUNT(sizes), true, false, bytes_as_predicted, &how));
    }
}

/* ---- Training with it: the same weights on all ranks ---- */

Test(compress, training_keeps_replicas_the_same)
{
    for (size_t i = 0; i < COUNT(methods); i++) {
        training_book *book = job_shared(sizeof *book);
        train_job run;
        training_make(&run, book, 48, 4);
        run.settings.batch = 8;
        run.settings.bucket_bytes = 4096;
        run.settings.compress = methods[i];
        run.settings.wrapper = i % 2;
        ASSERT_RIGHT(training_run(&run, 3));
        for (int step = 0; step < book->steps[0]; step++)
            for (int rank = 1; rank < 3; rank++)
                cr_assert(book->page[rank][step].weights == book->page[0][step].weights, "method %zu, step %d", i,
                          step);
        train_job_free(&run);
    }
}

/* ---- Names ---- */

Test(compress, names)
{
    static const char *const right[] = {"powersgd:1", "powersgd:64", "topk:0.01", "topk:1"};
    static const char *const wrong[] = {"",       "powersgd", "powersgd:", "powersgd:1.5", "powersgd:65", "topk:",
                                        "topk:x", "topk:nan", "topk:-1",   "topk:0.1x",    "f16",         "sgd:2"};
    char text[40];
    for (size_t i = 0; i < COUNT(right); i++) {
        train_compress how = {.wire = DTYPE_F32};
        cr_assert(train__compress_named(right[i], &how), "%s", right[i]);
        cr_assert_null(train__compress_problem(&how));
        cr_assert_str_eq(train__compress_text(&how, text), right[i]);
    }
    for (size_t i = 0; i < COUNT(wrong); i++) {
        train_compress how = {.rank = 7};
        cr_assert(!train__compress_named(wrong[i], &how) && how.rank == 7, "\"%s\"", wrong[i]);
    }
}

/* ---- The bench: what it predicts is what virtual networks show ---- */

Test(compress, break_even_is_where_it_is_predicted)
{
    process_result result;
    double f32_bytes, bytes, share, cpu, network, sum, here, predicted, measured;
    char *line;
    shell_run("exec $T/../bench/compression --ranks 2 --rounds 1 --csv", NULL, &result);
    ASSERT_STATUS(result, 0);
    line = strstr(result.out, "\nf32,");
    cr_assert(line && sscanf(line, "\nf32,%lf", &f32_bytes) == 1, "%s", result.out);
    for (line = strchr(line + 1, '\n') + 1; *line; line = strchr(line, '\n') + 1) {
        int got = sscanf(line, "%*[^,],%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &bytes, &share, &cpu, &network, &sum, &here,
                         &predicted, &measured);
        cr_assert(got == 8 && bytes < f32_bytes && cpu > 0, "%s", line);
        cr_assert(measured < 1.2 * predicted && predicted < 1.2 * measured, "%s", line);
    }
    process_free(&result);
}
