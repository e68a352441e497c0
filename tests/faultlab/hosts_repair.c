/* SPDX-License-Identifier: MIT */
/*
 * Repair on several hosts, a rank on each. A launcher that is stopped for a while goes on to the next generation later than the
 * others, and what it does meanwhile must not be taken for a part of it. Rank 3 stops launchers, and lets them go on.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/collectives.h"
#include "p2p/message/internal.h"
#include "p2p/shared/process.h"
#include "tests/faultlab/lab.h"

enum { BYTES = 60000, MANY = 20, OLD = 1, NEW = 2 };
enum flag { OPEN, WRITTEN };

static unsigned char buf[BYTES];

static void tell_launcher(int rank, int signal)
{
    kill((pid_t)lab->rank[rank].count, signal);
}

/* Until the launcher of this rank has heard that the other one is in p2p_repair: then that of host 0 has, too. */
static void wait_in_repair(p2p_comm *world, int rank)
{
    const scoreboard_row *row = &world->engine->scoreboard->rows[rank];
    while (strcmp(p2p__call_copy(&row->call).name, "p2p_repair") != 0) lab_pause();
}

static p2p_err meet(p2p_comm *world)
{
    return NOTE(world, coll_barrier(world));
}

static void goes_well(lab_job *job)
{
    setenv("PAIRWISE_HOSTS", "4", 1);
    lab_run(job);
    EXPECT(job->status == 0, "exit status %d:\n%s", job->status, job->text);
}

/* ---- Messages of the generation before arrive in the next one ---- */

/* Rank 1 sends to rank 2, which hears of it when it is in the next generation: its launcher is told of that first. */
static p2p_err send_old(p2p_comm *world)
{
    p2p_request requests[MANY];
    if (p2p_send(world, buf, 1, 2, 0) || !lab_wait_flag(OPEN, 1)) return P2P_ERR_STATE;
    tell_launcher(1, SIGSTOP);
    lab_fill(buf, BYTES, 1, OLD);
    for (int i = 0; i < MANY; i++)
        if (p2p_isend(world, buf, BYTES, 2, OLD, &requests[i])) return P2P_ERR_STATE;
    lab_raise_flag(WRITTEN);
    p2p_err err = NOTE(world, p2p_wait_all(MANY, requests, P2P_STATUSES_IGNORE));
    return err ? err : meet(world); /* its launcher may take all of them, when it goes on */
}

static int body_stale(p2p_comm *world)
{
    p2p_err err = P2P_ERR_PEER_DEAD;
    p2p_status status;
    int rank = lab_rank;
    if (!p2p_generation(world)) {
        atomic_store(&lab->rank[rank].count, getppid());
        if (rank == 2) {
            CHECK_OK(world, p2p_recv(world, buf, 1, 1, 0, P2P_STATUS_IGNORE));
            lab_raise_flag(OPEN);
        }
        if (rank == 0) {
            CHECK(lab_wait_flag(WRITTEN, 1), "rank 1 has not sent");
            lab_die(SIGKILL);
        }
        err = rank == 1 ? send_old(world) : meet(world);
        CHECK(err == P2P_ERR_PEER_DEAD, "%s", p2p_error_message(world));
        if (rank == 3) {
            wait_in_repair(world, 2);
            tell_launcher(2, SIGSTOP);
            tell_launcher(1, SIGCONT);
        }
        CHECK_OK(world, p2p_repair(&world));
        if (rank == 3) tell_launcher(2, SIGCONT);
    }
    if (rank == 1) {
        lab_fill(buf, BYTES, 1, NEW);
        CHECK_OK(world, p2p_send(world, buf, BYTES, 2, NEW));
    } else if (rank == 2) {
        CHECK_OK(world, p2p_recv(world, buf, BYTES, P2P_ANY_SOURCE, P2P_ANY_TAG, &status));
        CHECK(status.tag == NEW && lab_intact(buf, BYTES, 1, NEW), "a message of the generation before, tag %d",
              status.tag);
    }
    CHECK_OK(world, coll_barrier(world));
    CHECK(p2p_generation(world) == 1, "generation %d", p2p_generation(world));
    return 0;
}

static void host_stale(void)
{
    static lab_job job = {.size = 4, .body = body_stale, .options.repair = 1};
    goes_well(&job);
    FACTS(job.text, "generation 1: rank 0 has a new process");
}

/* ---- A rank dies in p2p_repair when host 0 has begun the next generation, and its own launcher has not ---- */

static int body_untold(p2p_comm *world)
{
    int rank = lab_rank;
    if (!p2p_generation(world)) {
        atomic_store(&lab->rank[rank].count, getppid());
        if (rank == 0) lab_die(SIGKILL);
        p2p_err err = meet(world);
        CHECK(err == P2P_ERR_PEER_DEAD, "%s", p2p_error_message(world));
        if (rank == 3) {
            wait_in_repair(world, 1);
            tell_launcher(1, SIGSTOP);
        }
        CHECK_OK(world, p2p_repair(&world));
        if (rank == 3) {
            kill(lab->rank[1].pid, SIGKILL);
            while (p2p__process_letter(lab->rank[1].pid) != 'Z') lab_pause(); /* its launcher cannot bury it */
            tell_launcher(1, SIGCONT);
        }
    }
    while (meet(world)) CHECK_OK(world, p2p_repair(&world));
    CHECK(p2p_generation(world) == 2, "generation %d", p2p_generation(world));
    return 0;
}

static void host_untold(void)
{
    static lab_job job = {.size = 4, .body = body_untold, .options.repair = 2};
    goes_well(&job);
    FACTS(job.text, "generation 1: rank 0 has a new process", "generation 2: rank 1 has a new process");
}

const lab_case lab_hosts_repair[] = {
    {"host-stale", "messages of the generation before arrive in the next one: nobody gets them", host_stale, false},
    {"host-untold", "a rank dies where its launcher is late for the next generation: it is repaired once more",
     host_untold, false},
    {NULL, NULL, NULL, false},
};
