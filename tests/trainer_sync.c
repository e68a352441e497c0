/* SPDX-License-Identifier: MIT */
// worlds: last; hosts
/* trainer_sync: an all-reduce of the user's own is the one that is called, overlapped or not, with a state or
 * without. */
#include <math.h>

#include "ring/ring.h"
#include "tests/trainer/training.h"
#include "tests/util/suite.h"

/* ---- One backward pass by the public functions ---- */

/* What a rank did, in shared memory. */
typedef struct {
    train_job *job;
    train_sync_options options;
    int calls[2], elements[2];
    uint64_t bytes[2]; /* sent, in the backward pass */
    float gradients[2][TRAINING_ROOM];
} pass;

static pass *running; /* this rank's */

static p2p_err mine(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    running->calls[p2p_rank(comm)]++;
    running->elements[p2p_rank(comm)] += (int)count;
    return ring_all_reduce(comm, buf, count, dtype, op);
}

static uint64_t sent_so_far(p2p_comm *world)
{
    p2p_traffic peers[2];
    p2p_stats(world, peers);
    return peers[0].bytes_sent + peers[1].bytes_sent;
}

static p2p_err backward(train_network *network, p2p_comm *world, pass *p, train_error *error)
{
    size_t chosen[4] = {0};
    const train_view view = {.augment = false};
    train_data_parallel *replica = NULL;
    int rank = p2p_rank(world);
    for (size_t i = 0; i < 4; i++) chosen[i] = 4 * (size_t)rank + i;
    train_initialise(p->job->model, 1, train_map(network, TRAIN_PARAMETERS, error),
                     train_map(network, TRAIN_STATISTICS, error));
    p2p_err err = train_data_parallel_open(network, world, &p->options, &replica, error);
    if (!err) err = train_load(network, &p->job->data.train, chosen, 4, &view, error);
    if (!err) err = train_forward(network, 0.125f, error);
    uint64_t before = sent_so_far(world);
    if (!err) err = train_data_parallel_backward(replica, error);
    p->bytes[rank] = sent_so_far(world) - before;
    const float *gradients = err ? NULL : train_map(network, TRAIN_GRADIENTS, error);
    if (gradients) memcpy(p->gradients[rank], gradients, p->job->model->parameters * sizeof *gradients);
    train_data_parallel_close(replica);
    return err;
}

static int pass_rank(p2p_comm *world, void *arg)
{
    pass *p = running = arg;
    train_error error = {""};
    train_network *network = NULL;
    const train_network_options options = {.device = "cpu", .cores = 1, .batch = 4, .comm = world};
    p2p_err err = train_network_open(p->job->model, &options, &network, &error);
    if (!err) err = backward(network, world, p, &error);
    train_network_close(network);
    CHECK(err == P2P_OK, "%s: %s", p2p_strerror(err), error.text);
    return 0;
}

static pass *run_options(train_sync_options options)
{
    static training_book unused;
    static train_job job;
    pass *p = job_shared(sizeof *p);
    training_make(&job, &unused, 8, 2);
    options.bucket_bytes = 4096;
    *p = (pass){.job = &job, .options = options};
    ASSERT_RIGHT(job_right(2, NULL, pass_rank, p));
    train_job_free(&job);
    return p;
}

static pass *run_pass(train_all_reduce all_reduce, bool overlap)
{
    return run_options((train_sync_options){.all_reduce = all_reduce, .overlap = overlap});
}

static bool same_gradients(const pass *a, const pass *b, int rank)
{
    return memcmp(a->gradients[rank], b->gradients[rank], sizeof a->gradients[rank]) == 0;
}

Test(sync, calls_your_own_whether_it_overlaps_or_not)
{
    const pass *ring = run_pass(ring_all_reduce, true);
    for (int overlap = 0; overlap < 2; overlap++) {
        const pass *own = run_pass(mine, overlap);
        for (int rank = 0; rank < 2; rank++) {
            cr_assert(own->calls[rank] > 1, "overlap %d: called %d times on rank %d", overlap, own->calls[rank], rank);
            cr_assert(own->elements[rank] > 4000, "%d elements", own->elements[rank]);
            cr_assert(same_gradients(own, ring, rank), "overlap %d: other gradients than the ring's", overlap);
        }
    }
}

Test(sync, without_an_all_reduce_leaves_everyone_its_own)
{
    for (int overlap = 0; overlap < 2; overlap++) {
        const pass *none = run_pass(NULL, overlap);
        cr_assert(memcmp(none->gradients[0], none->gradients[1], sizeof none->gradients[0]) != 0,
                  "overlap %d: gradients were added up without an all-reduce", overlap);
    }
}

/* The largest, by the largest gradient. */
static float difference(const float *one, const float *other)
{
    float worst = 0, largest = 0;
    for (size_t i = 0; i < TRAINING_ROOM; i++) {
        worst = fmaxf(worst, fabsf(one[i] - other[i]));
        largest = fmaxf(largest, fabsf(other[i]));
    }
    return worst / largest;
}

Test(sync, sends_half_the_bytes_with_16_bits)
{
    const pass *whole = run_pass(ring_all_reduce, true);
    for (int i = 0; i < 4; i++) {
        train_sync_options options = {
            .all_reduce = ring_all_reduce, .overlap = i % 2, .compress = {.wire = i < 2 ? DTYPE_F16 : DTYPE_BF16}};
        const pass *half = run_options(options);
        for (int rank = 0; rank < 2; rank++) {
            cr_assert(whole->bytes[rank] > 0 && 2 * half->bytes[rank] == whole->bytes[rank], "%lu bytes of %lu",
                      (unsigned long)half->bytes[rank], (unsigned long)whole->bytes[rank]);
            cr_assert(difference(half->gradients[rank], whole->gradients[rank]) < 0.02f, "other gradients");
        }
        cr_assert(memcmp(half->gradients[0], half->gradients[1], sizeof half->gradients[0]) == 0, "not the same bits");
        if (i % 2) continue;
        options.overlap = true;
        cr_assert(same_gradients(half, run_options(options), 0), "other bits with overlap");
    }
}

/* ---- With a state: a communicator of its own ---- */

typedef struct {
    p2p_comm *own;
    int calls;
    bool refuses;
} state;

static p2p_err open_own(void *arg, p2p_comm *comm)
{
    state *s = arg;
    return s->refuses ? P2P_ERR_TODO : p2p_split(comm, 0, -p2p_rank(comm), &s->own);
}

static p2p_err reduce_own(void *arg, p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    state *s = arg;
    (void)comm;
    s->calls++;
    return ring_all_reduce(s->own, buf, count, dtype, op);
}

static void close_own(void *arg, p2p_comm *comm)
{
    state *s = arg;
    (void)comm;
    p2p_free(s->own);
}

static uint32_t weights_with(const train_reducer *reducer, bool wrapper)
{
    training_book *book = job_shared(sizeof *book);
    train_job job;
    training_make(&job, book, 32, 4);
    job.settings.batch = 8;
    job.settings.wrapper = wrapper;
    job.reducer = reducer;
    ASSERT_RIGHT(training_run(&job, 2));
    train_job_free(&job);
    cr_assert(book->page[0][1].weights == book->page[1][1].weights, "the ranks have different weights");
    return book->page[0][1].weights;
}

Test(reducer, opens_and_closes_communicators_of_its_own)
{
    static state s;
    const train_reducer own = {.open = open_own, .all_reduce = reduce_own, .close = close_own, .arg = &s};
    uint32_t ring = weights_with(NULL, false);
    cr_assert(weights_with(&own, false) == ring, "other weights than with the ring");
    cr_assert(weights_with(&own, true) == ring, "other weights than with the ring, by the wrapper");
}

static void expect_end(const train_reducer *reducer, train_all_reduce all_reduce, const char *says)
{
    training_book *book = job_shared(sizeof *book);
    train_job job;
    job_result result;
    training_make(&job, book, 8, 4);
    job.reducer = reducer;
    job.parallel.all_reduce = all_reduce;
    job_run(2, NULL, training_rank, &job, &result);
    cr_assert(result.err == P2P_ERR_RANK_FAILED);
    ASSERT_CONTAINS(result.note, says);
    job_free(&result);
    train_job_free(&job);
}

Test(reducer, that_cannot_be_opened_or_is_one_of_two_ends_the_run)
{
    static state s = {.refuses = true};
    const train_reducer own = {.open = open_own, .all_reduce = reduce_own, .close = close_own, .arg = &s};
    expect_end(&own, NULL, p2p_strerror(P2P_ERR_TODO));
    expect_end(&own, mine, "one or the other");
}
