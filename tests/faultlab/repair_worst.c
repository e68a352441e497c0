/* SPDX-License-Identifier: MIT */
/*
 * Jobs that repair themselves, at their worst moments: before p2p_init, after the goodbye, while another rank is stopped or
 * does not come, in a p2p_keep, again and again. Each ends, by itself, with what there is to say.
 */
#include "lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/message/internal.h"

static lab_job job;

static void goes_well(void)
{
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
}

/* As often as others die. */
static p2p_err barrier(p2p_comm **world)
{
    p2p_err err;
    while ((err = NOTE(*world, coll_barrier(*world))) == P2P_ERR_PEER_DEAD)
        if ((err = NOTE(*world, p2p_repair(world)))) break;
    return err;
}

static int body_waits(p2p_comm *world)
{
    CHECK_OK(world, barrier(&world));
    return lab_works(world);
}

/* ---- Early and late ---- */

/* Rank 1 ends before any rank has joined; its next process does not. */
void lab_end_early(void)
{
    const char *job_of_launcher = getenv(P2P_JOB_VARIABLE);
    int rank = job_of_launcher ? atoi(job_of_launcher) : -1;
    if (rank == 1 && !lab->flag[0]) {
        atomic_store(&lab->flag[0], getpid()); /* its next process may be there before another rank has looked */
        exit(3);
    }
    if (rank != 1 && (!lab_wait_flag(0, 1) || !lab_wait_pid_gone(lab->flag[0]))) exit(4);
}

int lab_repairs(p2p_comm *world)
{
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    return body_waits(world);
}

static void early(void)
{
    lab_launch(&job, ARGS("-n", "3", "--repair"), "early");
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
    FACTS(job.text, "rank 1 exited with status 3", "rank 1 has a new process");
}

/* At once, and each is run by a shell, which only then exits. */
int lab_two_die(p2p_comm *world)
{
    bool first = !p2p_generation(world);
    if (first && lab_rank == 1 && lab_wait_started(2)) {
        kill(lab->rank[2].pid, SIGKILL);
        lab_die(SIGKILL);
    }
    while (first && lab_rank == 2) pause();
    return lab_repairs(world);
}

static void below_shells(void)
{
    lab_launch(&job, ARGS("-n", "3", "--repair", "sh", "-c", "\"$@\"; exit $?", "sh"), "two-die");
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
    FACTS(job.text, "rank 1 has a new process", "rank 2 has a new process");
}

/* Rank 0 dies after its goodbye, and the job needs it again when rank 2 has died as well. */
static int body_needed_again(p2p_comm *world)
{
    if (p2p_generation(world)) return body_waits(world);
    if (lab_rank == 2) {
        for (int other = 0; other < 2; other++) CHECK(lab_wait_inside(other), "rank %d does not end", other);
        kill(lab->rank[0].pid, SIGKILL);
        CHECK(lab_wait_gone(0), "it lives");
        lab_die(SIGKILL);
    }
    lab_enter(__LINE__); /* left inside, for rank 2 */
    return 0;
}

static void needed_again(void)
{
    job = (lab_job){.size = 3, .body = body_needed_again, .options.repair = 2};
    goes_well();
    FACTS(job.text, "rank 0 has a new process", "rank 2 has a new process");
}

/* Nobody has died before its goodbye: it counts for the exit status, if it had not returned 0. */
static bool finalizes;

static int body_not_needed(p2p_comm *world)
{
    if (lab_rank == 1) {
        CHECK(lab_wait_inside(0), "rank 0 does not end");
        kill(lab->rank[0].pid, SIGKILL);
        CHECK(lab_wait_gone(0), "it lives");
    }
    if (lab_rank == 0) lab_enter(__LINE__);
    if (finalizes) p2p_finalize(world);
    return 0;
}

static void not_needed(void)
{
    for (int i = 0; i < 2; i++) {
        finalizes = i;
        job = (lab_job){.size = 2, .body = body_not_needed, .options.repair = 2};
        lab_run(&job);
        EXPECT(job.status == (i ? 137 : 0), "exit status %d:\n%s", job.status, job.text);
        FACTS(job.text, "rank 0 was killed by signal 9");
        EXPECT(!lab_has(job.text, "new process"), "%s", job.text);
    }
}

/* ---- Some do not come ---- */

static int body_never_comes(p2p_comm *world)
{
    if (lab_rank == 1) lab_die(SIGKILL);
    while (lab_rank == 2) pause();
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, coll_barrier(world));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_repair(&world));
    CHECK(lab_has(p2p_error_message(world), "rank 2 is alive"), "%s", p2p_error_message(world));
    if (lab_rank == 0) CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_repair(&world)); /* once more is possible */
    return 7;
}

static void never_comes(void)
{
    lab_short_timeout();
    job = (lab_job){.size = 3, .body = body_never_comes, .options.repair = 5};
    lab_run(&job);
    lab_expect_status(&job, 137);
    FACTS(job.text, "rank 0 has ended with status 7, and waited no longer in p2p_repair (PAIRWISE_TIMEOUT)");
}

static int body_stopped(p2p_comm *world)
{
    if (!p2p_generation(world) && lab_rank == 1) lab_die(SIGKILL);
    if (lab_rank == 2) raise(SIGSTOP);
    return body_waits(world);
}

static void stopped(void)
{
    job = (lab_job){.size = 3, .body = body_stopped, .options.repair = 5};
    lab_start(&job);
    for (bool said = false; !said;) { /* the case has a limit */
        char *text = process_said(&job.process);
        said = lab_has(text, "rank 2 has not called it: it is stopped");
        free(text);
        lab_pause();
    }
    kill(lab->rank[2].pid, SIGCONT);
    lab_finish(&job);
    EXPECT(job.status == 0, "exit status %d:\n%s", job.status, job.text);
}

/* ---- Kept memory ---- */

/* It is asked for after the death: what has failed has left nothing. */
static int body_asks(p2p_comm *world)
{
    char *kept;
    bool found = false;
    if (!p2p_generation(world)) {
        if (lab_rank == 1) lab_die(SIGKILL);
        CHECK(lab_wait_gone(1), "it lives");
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_keep(world, "asked", 100, (void **)&kept, &found));
        CHECK_OK(world, p2p_repair(&world));
    }
    CHECK_OK(world, p2p_keep(world, "asked", 100, (void **)&kept, &found));
    CHECK(!found, "found, and nobody has had it");
    return body_waits(world);
}

static void asks(void)
{
    job = (lab_job){.size = 2, .body = body_asks, .options.repair = 1};
    goes_well();
}

static int body_many_names(p2p_comm *world)
{
    char name[20];
    void *kept;
    for (int i = 0; i < SCOREBOARD_KEPT; i++) {
        snprintf(name, sizeof name, "name %d", i);
        CHECK_OK(world, p2p_keep(world, name, 1, &kept, NULL));
    }
    CHECK_ERR(world, P2P_ERR_NOMEM, p2p_keep(world, "more", 1, &kept, NULL));
    CHECK(lab_has(p2p_error_message(world), "\"more\" is one too many"), "%s", p2p_error_message(world));
    CHECK_ERR(world, P2P_ERR_NOMEM, p2p_keep(world, "most", PTRDIFF_MAX, &kept, NULL));
    return 0;
}

static void many_names(void)
{
    job = (lab_job){.size = 1, .body = body_many_names, .options.repair = 1};
    goes_well();
}

/* ---- Again and again ---- */

static int body_unfinished_line(p2p_comm *world)
{
    if (lab_rank == 1) {
        printf("something\nno end of line in generation %d", p2p_generation(world));
        fflush(stdout);
        lab_die(SIGKILL);
    }
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, barrier(&world));
    return 1;
}

static void last_words(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        job = (lab_job){.size = 2, .body = body_unfinished_line, .options = {.repair = 50, .ordered_output = ordered}};
        lab_run(&job);
        lab_expect_status(&job, 137);
        FACTS(job.text, "rank 1 has died at once 3 times in a row",
              "the last it said was: no end of line in generation 3");
    }
}

static void compute(double seconds)
{
    struct timespec now = {0};
    while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
}

/* Each time at the same place, but after another time of computing: as if someone else killed it. */
static int body_from_outside(p2p_comm *world)
{
    int generation = p2p_generation(world);
    if (lab_rank == 1 && generation < 4) {
        compute(0.06 * generation);
        lab_die(SIGKILL);
    }
    return body_waits(world);
}

static void from_outside(void)
{
    job = (lab_job){.size = 2, .body = body_from_outside, .options.repair = 5};
    goes_well();
    FACTS(job.text, "generation 4");
}

enum { MANY = 40 };

static void few_descriptors(void)
{
    struct rlimit limit = {48, 48};
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* Everything that ranks can have open, in each generation. */
static int body_many(p2p_comm *world)
{
    for (int generation; (generation = p2p_generation(world)) < MANY;) {
        p2p_comm *sub = NULL;
        p2p_request request = P2P_REQUEST_NULL;
        void *block = NULL;
        char word;
        p2p_err err = p2p_split(world, lab_rank % 2, 0, &sub);
        if (!err) err = p2p_irecv(world, &word, 1, (lab_rank + 1) % 3, 1, &request);
        if (!err) err = p2p_alloc(world, 1 << 16, &block);
        for (int i = 0; i < generation % 4 && !err; i++) err = coll_barrier(world); /* not always at the same place */
        if (!err && lab_rank == generation / 4 % 2) lab_die(SIGKILL);
        while (!err) err = coll_barrier(world);
        CHECK(err == P2P_ERR_PEER_DEAD, "%s", p2p_error_message(world));
        CHECK_OK(world, p2p_repair(&world));
        if (request) CHECK_ERR(world, P2P_ERR_STATE, p2p_wait(&request, P2P_STATUS_IGNORE));
        if (sub) p2p_free(sub);
        if (block) CHECK_OK(world, p2p_release(world, block));
    }
    return body_waits(world);
}

static void many(void)
{
    job = (lab_job){.size = 3, .body = body_many, .setup = few_descriptors, .options.repair = MANY};
    goes_well();
}

/* ---- What it has done before ---- */

static int body_overwrites(p2p_comm *world)
{
    if (!p2p_generation(world) && lab_rank == 1) {
        memset(&world->engine->scoreboard->shared->settings, 0x41, sizeof(scoreboard_settings));
        lab_die(SIGSEGV);
    }
    while (coll_barrier(world) == P2P_ERR_PEER_DEAD && p2p_repair(&world) == P2P_OK) continue;
    return 1;
}

static void overwrites(void)
{
    job = (lab_job){.size = 3, .body = body_overwrites, .options.repair = 5};
    lab_run(&job);
    EXPECT(job.status != 0, "%s", job.text);
    FACTS(job.text, "the memory that the ranks of this job share has been overwritten");
}

const lab_case lab_repair_worst[] = {
    {"repair-early", "a rank that ends before any has joined gets a new process when they have", early, false},
    {"repair-shells", "two that die at once below shells get new processes", below_shells, false},
    {"repair-needed", "so does one that dies after its goodbye, if another one dies", needed_again, false},
    {"repair-unneeded", "else it counts for the exit status, unless it had returned 0", not_needed, false},
    {"repair-timeout", "PAIRWISE_TIMEOUT ends p2p_repair, and the job", never_comes, false},
    {"repair-stopped", "a rank for which p2p_repair waits is said to be stopped", stopped, false},
    {"repair-asks", "a p2p_keep that has failed has left nothing to be found", asks, false},
    {"repair-names", "one name too many for p2p_keep is said to be that", many_names, false},
    {"repair-words", "the last words of a rank that dies at once, without an end of line", last_words, false},
    {"repair-outside", "a rank that others kill as often, while it starts, is started again", from_outside, false},
    {"repair-many", "forty repairs leave no descriptor open", many, false},
    {"repair-garbage", "nothing is repaired after a rank has written over what all share", overwrites, false},
    {NULL, NULL, NULL, false},
};
