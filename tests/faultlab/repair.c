/* SPDX-License-Identifier: MIT */
/*
 * Jobs that repair themselves. Ranks take steps together: messages to a neighbour, and all-reduces. What a rank has counted
 * so far lies in kept memory, as two copies and a flip, and whoever is a step ahead after a repair takes it back:
 *
 *      the job            ends well, with the same sum on every rank, whoever has died and whenever
 *      after it           no process, no descriptor, in ranks as well (lab_finish; body_steps)
 */
#include "lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "ring/ring.h"

enum { STEPS = 6, SHORT = 10, LONG = 30000 };

/* Who dies, in which generation, and where. */
enum place { NOWHERE, BEFORE_STEP, AT_FRAME, IN_FINALIZE, IN_REPAIR, OF_OTHERS };

typedef struct {
    enum place place;
    int generation, rank, step; /* AT_FRAME: the number of the frame */
} death;

static const death *deaths; /* ends with NOWHERE */
static bool halfway;
static bool refused; /* the last repair */

typedef struct {
    int flip;
    struct {
        int step;
        int64_t sum;
    } at[2];
} counted;

static bool dies(enum place place, int generation, int rank, int step)
{
    for (const death *d = deaths; d && d->place; d++)
        if (d->place == place && d->generation == generation && d->rank == rank && d->step == step) return true;
    return false;
}

/* All ranks begin with the same step: one that has finished it, and others have not, takes it back. */
static p2p_err agree_on_step(p2p_comm *world, counted *c)
{
    int64_t least = c->at[c->flip].step;
    p2p_err err = coll_all_reduce(world, &least, 1, DTYPE_I64, OP_MIN);
    if (!err && c->at[c->flip].step > least) c->flip = !c->flip;
    if (!err && c->at[c->flip].step != least) return P2P_ERR_ARG;
    return err;
}

/* To the right, and from the left; short and long; then a sum. */
static p2p_err one_step(p2p_comm *world, int step, int64_t *sum)
{
    static int64_t out[LONG], in[LONG];
    int rank = p2p_rank(world), n = p2p_size(world), left = (rank + n - 1) % n;
    static const size_t counts[] = {SHORT, LONG};
    p2p_err err = P2P_OK;
    for (int i = 0; !err && i < 2; i++) {
        size_t count = counts[i];
        for (size_t k = 0; k < count; k++) out[k] = rank + step;
        err = p2p_sendrecv(world, out, count * sizeof *out, (rank + 1) % n, step, in, count * sizeof *in, left, step,
                           P2P_STATUS_IGNORE);
        if (!err && (in[0] != left + step || in[count - 1] != left + step)) return P2P_ERR_PROTO;
        if (!err) err = ring_all_reduce(world, out, count, DTYPE_I64, OP_SUM);
        *sum = out[count - 1];
    }
    return err;
}

static p2p_err take_steps(p2p_comm *world, counted *c)
{
    int generation = p2p_generation(world), rank = lab_rank;
    p2p_err err = agree_on_step(world, c);
    for (int step = c->at[c->flip].step; !err && step < STEPS; step++) {
        int64_t sum = 0;
        if (dies(BEFORE_STEP, generation, rank, step)) lab_die(SIGKILL);
        err = one_step(world, step, &sum);
        if (err) break;
        int next = !c->flip;
        c->at[next].step = step + 1;
        c->at[next].sum = c->at[c->flip].sum + sum;
        c->flip = next;
    }
    return err;
}

/* The last to call it has another one killed that is in it. */
static p2p_err repair(p2p_comm **world, int generation)
{
    int n = p2p_size(*world);
    for (int other = 0; other < n; other++)
        if (dies(OF_OTHERS, generation, lab_rank, other)) {
            lab_wait_inside(other);
            kill(lab->rank[other].pid, SIGKILL);
            lab_wait_gone(other);
        }
    return NOTE(*world, p2p_repair(world));
}

static int64_t expected_sum(int n)
{
    return (int64_t)STEPS * n * (n - 1) / 2 + (int64_t)n * STEPS * (STEPS - 1) / 2;
}

static int body_steps(p2p_comm *world)
{
    counted *c;
    bool found;
    int files = -1, generation = p2p_generation(world), n = p2p_size(world);
    p2p_err kept;
    while ((kept = p2p_keep(world, "counted", sizeof *c, (void **)&c, &found)) == P2P_ERR_PEER_DEAD)
        CHECK(!repair(&world, generation), "%s", p2p_error_message(world));
    CHECK(!kept, "%s", p2p_error_message(world));
    generation = p2p_generation(world);
    for (const death *d = deaths; d && d->place; d++)
        if (d->place == AT_FRAME && d->generation == generation && d->rank == lab_rank)
            lab_die_at_frame(d->step, halfway);
    for (;;) {
        generation = p2p_generation(world);
        p2p_err err = take_steps(world, c);
        if (!err && dies(IN_FINALIZE, generation, lab_rank, 0)) lab_die(SIGKILL);
        if (!err && c->at[c->flip].step == STEPS && dies(IN_FINALIZE, generation, lab_rank, 1)) {
            for (int other = 0; other < n; other++) CHECK(other == lab_rank || lab_wait_inside(other), "not there");
            lab_die(SIGKILL);
        }
        if (!err) err = NOTE(world, coll_barrier(world));
        if (!err) break;
        CHECK(err == P2P_ERR_PEER_DEAD, "%s", p2p_error_message(world));
        err = repair(&world, generation);
        if (err && refused) return 1;
        CHECK(!err, "%s", p2p_error_message(world));
        CHECK(p2p_generation(world) > generation, "generation %d", p2p_generation(world));
        int open = process_open_files();
        CHECK(files < 0 || open <= files, "%d descriptors, then %d", files, open);
        files = open;
    }
    CHECK(c->at[c->flip].sum == expected_sum(n), "the sum is %lld", (long long)c->at[c->flip].sum);
    return 0;
}

static lab_job job;

static void run(int size, const death list[], int most)
{
    deaths = list;
    job = (lab_job){.size = size, .body = body_steps, .options.repair = most};
    lab_run(&job);
}

static void goes_well(int size, const death list[], const char *what)
{
    run(size, list, 20);
    EXPECT(job.status == 0, "%s: exit status %d:\n%s", what, job.status, job.text);
}

/* ---- Whoever dies, and whenever ---- */

static void before_steps(void)
{
    static const death one[] = {{BEFORE_STEP, 0, 1, 2}, {NOWHERE, 0, 0, 0}},
                       root[] = {{BEFORE_STEP, 0, 0, 3}, {NOWHERE, 0, 0, 0}},
                       two[] = {{BEFORE_STEP, 0, 1, 2}, {BEFORE_STEP, 0, 3, 2}, {NOWHERE, 0, 0, 0}},
                       in_turn[] = {{BEFORE_STEP, 0, 0, 1}, {BEFORE_STEP, 1, 1, 2}, {BEFORE_STEP, 2, 2, 3},
                                    {BEFORE_STEP, 3, 3, 4}, {BEFORE_STEP, 4, 0, 5}, {NOWHERE, 0, 0, 0}},
                       but_one[] = {{BEFORE_STEP, 0, 0, 2},
                                    {BEFORE_STEP, 0, 1, 2},
                                    {BEFORE_STEP, 0, 3, 2},
                                    {NOWHERE, 0, 0, 0}},
                       all[] = {{BEFORE_STEP, 0, 0, 0},
                                {BEFORE_STEP, 0, 1, 0},
                                {BEFORE_STEP, 0, 2, 0},
                                {BEFORE_STEP, 0, 3, 0},
                                {NOWHERE, 0, 0, 0}},
                       new_ones[] = {
                           {BEFORE_STEP, 0, 1, 2}, {BEFORE_STEP, 1, 1, 2}, {BEFORE_STEP, 2, 1, 2}, {NOWHERE, 0, 0, 0}};
    goes_well(4, one, "one");
    FACTS(job.text, "rank 1 was killed by signal 9", "generation 1: rank 1 has a new process (1 of at most 20)");
    goes_well(4, root, "rank 0");
    goes_well(4, two, "two at once");
    goes_well(4, in_turn, "in turn");
    EXPECT(lab_has(job.text, "generation 5"), "%s", job.text);
    goes_well(4, but_one, "all but one");
    goes_well(4, all, "all");
    goes_well(4, new_ones, "the new one too");
    goes_well(1, all, "a world of one");
}

static void in_frames(void)
{
    for (int n = 2; n <= 4; n++)
        for (int i = 0; i < 2; i++)
            for (int frame = i; frame < 70; frame += 17) {
                const death list[] = {{AT_FRAME, 0, (frame + i) % n, frame}, {NOWHERE, 0, 0, 0}};
                char what[80];
                halfway = i;
                snprintf(what, sizeof what, "%d ranks, rank %d %s frame %d", n, list[0].rank, i ? "in" : "before",
                         frame);
                goes_well(n, list, what);
            }
}

/* Others are in p2p_finalize, or just before it. */
static void in_finalize(void)
{
    static const death before[] = {{IN_FINALIZE, 0, 2, 0}, {NOWHERE, 0, 0, 0}},
                       late[] = {{IN_FINALIZE, 0, 0, 1}, {NOWHERE, 0, 0, 0}};
    goes_well(3, before, "before the last barrier");
    goes_well(3, late, "while others wait");
}

/* Rank 2 kills rank 0, which waits in p2p_repair. */
static void in_repair(void)
{
    static const death list[] = {{BEFORE_STEP, 0, 1, 2}, {OF_OTHERS, 0, 2, 0}, {NOWHERE, 0, 0, 0}};
    goes_well(4, list, "in p2p_repair");
    FACTS(job.text, "rank 0 has a new process", "rank 1 has a new process");
}

/* rank_main has returned in the others: it is called again. */
static int body_returns(p2p_comm *world)
{
    atomic_fetch_add(&lab->rank[lab_rank].count, 1);
    if (lab_rank == 1 && !p2p_generation(world)) {
        CHECK(lab_wait_inside(0), "rank 0 never finalized");
        lab_die(SIGKILL);
    }
    if (lab_rank == 0) lab_enter(__LINE__); /* left inside, for rank 1 */
    return 0;
}

static void after_return(void)
{
    job = (lab_job){.size = 2, .body = body_returns, .options.repair = 1};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
    EXPECT(lab->rank[0].count == 2 && lab->rank[1].count == 2, "%ld, %ld", (long)lab->rank[0].count,
           (long)lab->rank[1].count);
}

/* ---- With those that are left ---- */

static int body_shrinks(p2p_comm *world)
{
    static const int ranks[] = {0, 2, 3};
    int n = p2p_size(world), sum = lab_rank;
    if (lab_rank == 1) lab_die(SIGKILL);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    CHECK_OK(world, p2p_shrink(&world));
    CHECK(p2p_size(world) == n - 1 && ranks[p2p_rank(world)] == lab_rank, "%d of %d", p2p_rank(world), p2p_size(world));
    CHECK_OK(world, coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_SUM));
    CHECK(sum == 5, "the sum is %d", sum);
    p2p_comm *copy;
    CHECK_OK(world, p2p_dup(world, &copy));
    CHECK_OK(copy, p2p_free(copy));
    return lab_works(world);
}

static void with_fewer(void)
{
    job = (lab_job){.size = 4, .body = body_shrinks, .options.repair = 1};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
    FACTS(job.text, "3 ranks are left");
}

static int body_disagrees(p2p_comm *world)
{
    if (lab_rank == 1) lab_die(SIGKILL);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    return (lab_rank ? p2p_repair(&world) : p2p_shrink(&world)) != P2P_OK;
}

static void both(void)
{
    job = (lab_job){.size = 3, .body = body_disagrees, .options.repair = 5};
    lab_run(&job);
    lab_expect_status(&job, 137);
    FACTS(job.text, "p2p_repair is called by rank 2, and p2p_shrink by rank 0");
}

/* ---- Bounds ---- */

static void too_many(void)
{
    static const death list[] = {
        {BEFORE_STEP, 0, 1, 1}, {BEFORE_STEP, 1, 0, 2}, {BEFORE_STEP, 2, 1, 3}, {NOWHERE, 0, 0, 0}};
    refused = true;
    run(3, list, 2);
    EXPECT(job.status != 0, "%s", job.text);
    FACTS(job.text, "2 of at most 2 have been started already");
}

static int body_at_once(p2p_comm *world)
{
    if (lab_rank == 1) {
        printf("cannot work in generation %d\n", p2p_generation(world));
        exit(3);
    }
    while (coll_barrier(world) == P2P_ERR_PEER_DEAD && p2p_repair(&world) == P2P_OK) continue;
    return 1;
}

static void at_once(void)
{
    job = (lab_job){.size = 3, .body = body_at_once, .options.repair = 100};
    lab_run(&job);
    lab_expect_status(&job, 3);
    FACTS(job.text, "rank 1 has died at once 3 times in a row", "exited with status 3",
          "the last it said was: cannot work in generation 3");
}

/* ---- Those that do not call it ---- */

static int body_leaves(p2p_comm *world)
{
    if (lab_rank == 1) lab_die(SIGKILL);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    if (lab_rank == 2) _exit(0);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_repair(&world));
    return 1;
}

static void leaves(void)
{
    job = (lab_job){.size = 3, .body = body_leaves, .options.repair = 5};
    lab_run(&job);
    lab_expect_status(&job, 137);
    FACTS(job.text, "rank 2 has ended with status 0, and not called p2p_repair, after the death of rank 1", "try:");
}

static int body_dawdles(p2p_comm *world)
{
    if (lab_rank == 1 && !p2p_generation(world)) lab_die(SIGKILL);
    if (lab_rank != 1) CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    if (lab_rank == 2) {
        CHECK(lab_wait_inside(0), "rank 0 does not wait");
        double from = process_now();
        while (process_now() < from + 1.3) lab_pause();
    }
    if (lab_rank != 1) CHECK_OK(world, p2p_repair(&world));
    return lab_works(world);
}

static void dawdles(void)
{
    job = (lab_job){.size = 3, .body = body_dawdles, .options.repair = 5};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
    FACTS(job.text, "p2p_repair waits for a second, in rank 0", "rank 2 has not called it", "coll_barrier");
}

static void hear(int signal)
{
    (void)signal;
}

/* Rank 0 goes on after a signal, and would wait for rank 2 as long as ranks have to end by themselves. */
static int body_interrupted(p2p_comm *world)
{
    if (lab_rank == 0) signal(SIGINT, hear);
    if (lab_rank == 1) lab_die(SIGKILL);
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    if (lab_rank == 2) lab_raise_flag(0);
    while (lab_rank == 2) pause();
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_repair(&world));
    lab_raise_flag(1);
    return 1;
}

static void interrupted(void)
{
    job = (lab_job){.size = 3, .body = body_interrupted, .options = {.repair = 5, .grace_s = 30}};
    lab_start(&job);
    EXPECT(lab_wait_flag(0, 1) && lab_wait_inside(0), "nobody waits");
    kill(job.process.pid, SIGINT);
    EXPECT(lab_wait_flag(1, 1), "rank 0 still waits");
    lab_finish(&job);
    EXPECT(job.status == 130, "exit status %d:\n%s", job.status, job.text);
}

/* ---- What is gone, and what is found ---- */

enum { BLOCK = 3 << 20 };

static int look_back(p2p_comm *world, p2p_request request, char *block, p2p_comm *sub)
{
    int word = 0;
    bool found;
    CHECK_ERR(world, P2P_ERR_STATE, p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(!request, "it can be waited for again");
    CHECK_OK(world, p2p_iprobe(world, P2P_ANY_SOURCE, P2P_ANY_TAG, &found, P2P_STATUS_IGNORE));
    CHECK(!found, "a message of generation 0");
    CHECK_ERR(sub, P2P_ERR_STATE, p2p_send(sub, &word, sizeof word, 0, 0));
    CHECK_OK(world, p2p_free(sub));
    CHECK(lab_all(block, BLOCK, 0x5a), "the buffer has changed");
    CHECK_ERR(world, P2P_ERR_STATE, p2p_repair(&world));
    CHECK(lab_has(p2p_error_message(world), "no rank has died"), "%s", p2p_error_message(world));
    return 0;
}

static int body_looks_back(p2p_comm *world)
{
    void *block = NULL;
    p2p_request request = P2P_REQUEST_NULL;
    p2p_comm *sub = NULL;
    int word = 7, one = 1;
    if (!p2p_generation(world)) {
        CHECK_ERR(world, P2P_ERR_STATE, p2p_repair(&world));
        CHECK_OK(world, p2p_alloc(world, BLOCK, &block));
        memset(block, 0x5a, BLOCK);
        CHECK_OK(world, p2p_dup(world, &sub));
        CHECK_OK(world, p2p_irecv(world, &word, sizeof word, (lab_rank + 1) % 3, 9, &request));
        CHECK_OK(world, p2p_send(world, &word, sizeof word, (lab_rank + 1) % 3, 5)); /* never received */
        CHECK_OK(world, coll_barrier(world));
        lab_raise_flag(0);
        if (lab_rank == 1) {
            CHECK(lab_wait_flag(0, 3), "a rank is still in the barrier");
            lab_die(SIGKILL);
        }
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
        CHECK_OK(world, p2p_repair(&world));
        if (look_back(world, request, block, sub)) return 1;
        ((char *)block)[0] = 1;
    } else {
        CHECK_OK(world, p2p_alloc(world, BLOCK, &block));
        ((char *)block)[0] = 1;
    }
    CHECK_OK(world, coll_all_reduce(world, block, BLOCK, DTYPE_U8, OP_MAX)); /* in place, where ranks share memory */
    CHECK(((char *)block)[0] == 1 && ((char *)block)[BLOCK - 1] == 0x5a, "what others have in it");
    CHECK_OK(world, coll_all_reduce(world, &one, 1, DTYPE_I32, OP_SUM));
    CHECK(one == 3, "%d ranks", one);
    CHECK_OK(world, p2p_release(world, block));
    return lab_works(world);
}

static void looks_back(void)
{
    job = (lab_job){.size = 3, .body = body_looks_back, .options.repair = 1};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
}

/* Collectives in the background that a death has interrupted leave nothing behind: under a sanitizer, no memory either. */
static int body_begun(p2p_comm *world)
{
    static int64_t values[LONG];
    p2p_request requests[3];
    if (!p2p_generation(world)) {
        for (int i = 0; i < 3; i++)
            CHECK_OK(world, ring_iall_reduce(world, values + i * 1000, 1000, DTYPE_I64, OP_SUM, &requests[i]));
        for (int other = 0; lab_rank == 1 && other < 3; other += 2) CHECK(lab_wait_inside(other), "it does not wait");
        if (lab_rank == 1) lab_die(SIGKILL);
        p2p_err err = NOTE(world, p2p_wait(&requests[0], P2P_STATUS_IGNORE));
        CHECK(err == P2P_ERR_PEER_DEAD, "it gave %d", (int)err);
        CHECK_OK(world, p2p_repair(&world));
        CHECK_ERR(world, P2P_ERR_STATE, p2p_wait(&requests[1], P2P_STATUS_IGNORE));
    }
    CHECK_OK(world, ring_all_reduce(world, values, LONG, DTYPE_I64, OP_SUM));
    return lab_works(world);
}

static void begun(void)
{
    job = (lab_job){.size = 3, .body = body_begun, .options.repair = 1};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
}

static int body_keeps(p2p_comm *world)
{
    char *one, *two;
    bool found;
    bool first = !p2p_generation(world);
    CHECK_ERR(world, P2P_ERR_ARG, p2p_keep(world, "", 1, (void **)&one, &found));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_keep(world, "nothing", 0, (void **)&one, &found));
    CHECK_OK(world, p2p_keep(world, "one", 100, (void **)&one, &found));
    CHECK(found == !first, "found: %d", found);
    CHECK_OK(world, p2p_keep(world, "two", 1 << 20, (void **)&two, NULL));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_keep(world, "one", 101, (void **)&two, &found));
    CHECK(lab_has(p2p_error_message(world), "100 bytes"), "%s", p2p_error_message(world));
    CHECK(!first || (lab_all(one, 100, 0) && lab_all(two, 1 << 20, 0)), "not zeroed");
    CHECK(first || (lab_all(one, 100, (unsigned char)(lab_rank + 1)) && lab_all(two, 1 << 20, 9)), "something else");
    memset(one, lab_rank + 1, 100);
    memset(two, 9, 1 << 20);
    if (first) lab_raise_flag(0);
    if (first && lab_rank == 1) {
        CHECK(lab_wait_flag(0, 2), "a rank still keeps");
        lab_die(SIGKILL);
    }
    if (first) CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    if (first) CHECK_OK(world, p2p_repair(&world));
    CHECK_OK(world, p2p_keep(world, "one", 100, (void **)&one, &found));
    CHECK(found && lab_all(one, 100, (unsigned char)(lab_rank + 1)), "not found");
    return lab_works(world);
}

static void keeps(void)
{
    job = (lab_job){.size = 2, .body = body_keeps, .options.repair = 1};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
}

static int body_deadlocks(p2p_comm *world)
{
    int word = 0, other = (lab_rank + 1) % 2;
    if (!p2p_generation(world)) {
        if (lab_rank == 1) lab_die(SIGKILL);
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
        CHECK_OK(world, p2p_repair(&world));
    }
    CHECK_ERR(world, P2P_ERR_DEADLOCK, p2p_recv(world, &word, sizeof word, other, 0, P2P_STATUS_IGNORE));
    CHECK_ERR(world, P2P_ERR_DEADLOCK, p2p_repair(&world));
    return 1;
}

static void deadlocks(void)
{
    job = (lab_job){.size = 2, .body = body_deadlocks, .options.repair = 5};
    lab_run(&job);
    lab_expect_status(&job, 1);
    FACTS(job.text, "deadlock: ranks 0 and 1 wait for each other", "p2p_recv(source 1, tag 0)");
}

const lab_case lab_repair[] = {
    {"repair-steps", "whoever dies before a step gets a new process, and the sum is right", before_steps, false},
    {"repair-frames", "the same at the k-th frame, or in it", in_frames, false},
    {"repair-finalize", "the same while others end", in_finalize, false},
    {"repair-repair", "the same in p2p_repair", in_repair, false},
    {"repair-return", "a rank dies when rank_main has returned in another: it is called again", after_return, false},
    {"repair-shrink", "p2p_shrink: the others go on", with_fewer, false},
    {"repair-both", "p2p_repair and p2p_shrink: the ranks are named", both, false},
    {"repair-bound", "no more new processes than were allowed", too_many, false},
    {"repair-at-once", "a rank that dies at once three times in a row ends the job", at_once, false},
    {"repair-leaves", "a rank that ends instead of repairing is named", leaves, false},
    {"repair-dawdles", "a rank that does not call p2p_repair is named, and waited for", dawdles, false},
    {"repair-interrupt", "after Ctrl-C nothing is repaired", interrupted, false},
    {"repair-gone", "requests, messages and communicators are gone, buffers stay", looks_back, false},
    {"repair-begun", "collectives in the background end with the generation", begun, false},
    {"repair-keep", "kept memory is found again", keeps, false},
    {"repair-deadlock", "a deadlock after a repair is named", deadlocks, false},
    {NULL, NULL, NULL, false},
};
