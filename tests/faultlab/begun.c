/* SPDX-License-Identifier: MIT */
/* Faults around collectives that return a request, cancelled receives and copies of communicators: one that is
 * forgotten, begun by some ranks only, or in another order; a root that differs; a death meanwhile. */
#include "lab.h"

#include <stdio.h>
#include <string.h>

#include "collectives/collectives.h"

enum { COUNT = 40, RANKS = 3 };

static float from[RANKS * COUNT], into[RANKS * COUNT];

typedef enum { BARRIER, BROADCAST, ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, KINDS } kind;

static const char *const names[] = {"coll_ibarrier", "coll_ibroadcast", "coll_iall_reduce", "coll_iall_gather",
                                    "coll_ireduce_scatter"};

static kind which; /* of the case that runs */

static p2p_err begin(p2p_comm *comm, kind k, int root, p2p_request *request)
{
    switch (k) {
    case BARRIER: return coll_ibarrier(comm, request);
    case BROADCAST: return coll_ibroadcast(comm, into, COUNT, DTYPE_F32, root, request);
    case ALL_REDUCE: return coll_iall_reduce(comm, into, COUNT, DTYPE_F32, OP_SUM, request);
    case ALL_GATHER: return coll_iall_gather(comm, from, into, COUNT, DTYPE_F32, request);
    default: return coll_ireduce_scatter(comm, from, into, COUNT, DTYPE_F32, OP_SUM, request);
    }
}

/* Begun and waited for: where a difference or a death is found is left open. */
static p2p_err whole(p2p_comm *comm, kind k, int root)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = begin(comm, k, root, &request);
    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static void run_job(lab_job *job, int (*body)(p2p_comm *world))
{
    *job = (lab_job){.size = RANKS, .body = body};
    for (int q = 0; q < RANKS; q++) lab->rank[q].inside = 0;
    lab_run(job);
}

/* ---- Never waited for: finalize names it ---- */

static int body_forgotten(p2p_comm *world)
{
    p2p_request request;
    CHECK_OK(world, begin(world, which, 0, &request));
    CHECK_OK(world, coll_barrier(world)); /* all have begun */
    CHECK_ERR(world, P2P_ERR_LEAK, p2p_finalize(world));
    const char *said = p2p_error_message(world);
    CHECK(strstr(said, "never waited for") && strstr(said, "collective at") && strstr(said, "begun.c:"), "it says %s",
          said);
    return 0;
}

static void begun_forgotten(void)
{
    static lab_job job;
    for (which = BARRIER; which < KINDS; which++) {
        run_job(&job, body_forgotten);
        EXPECT(job.status == 0, "%s: exit status %d", names[which], job.status);
    }
}

/* No rank waits until all have begun: what one rank's step sends may come after another has said goodbye. */
static int body_at_once(p2p_comm *world)
{
    p2p_request request;
    CHECK_OK(world, begin(world, which, 0, &request));
    CHECK_ERR(world, P2P_ERR_LEAK, p2p_finalize(world));
    return 0;
}

static void begun_at_once(void)
{
    static lab_job job;
    for (int round = 0; round < 100; round++) {
        which = (kind)(round % KINDS);
        run_job(&job, body_at_once);
        EXPECT(job.status == 0, "%s: exit status %d", names[which], job.status);
    }
}

/* ---- Rank 2 never begins it: the others wait for ever, and are told ---- */

static int body_not_all(p2p_comm *world)
{
    p2p_request request;
    if (p2p_rank(world) == 2) {
        for (int q = 0; q < 2; q++)
            CHECK_OK(world, p2p_recv(world, NULL, 0, q, 2, P2P_STATUS_IGNORE)); /* they have begun */
        NOTE(world, p2p_recv(world, NULL, 0, 0, 1, P2P_STATUS_IGNORE));
        return 0;
    }
    CHECK_OK(world, begin(world, which, 0, &request));
    CHECK_OK(world, p2p_send(world, NULL, 0, 2, 2));
    NOTE(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return 0;
}

static void begun_not_all(void)
{
    static lab_job job;
    char number[40];
    for (which = BARRIER; which < KINDS; which++) {
        run_job(&job, body_not_all);
        lab_expect_status(&job, 1);
        snprintf(number, sizeof number, "%s #1, posted on line", names[which]);
        FACTS(job.text, "deadlock", number, "p2p_recv");
        for (int q = 0; q < RANKS; q++) lab_expect_line(&job, __FILE__, q);
        EXPECT(lab_in_time(job.seconds, LAB_DEADLOCK_BAR), "%s: it took %.1f s", names[which], job.seconds);
    }
}

static int body_copy_not_all(p2p_comm *world)
{
    p2p_comm *copy;
    if (p2p_rank(world) == 2)
        NOTE(world, p2p_recv(world, NULL, 0, 0, 1, P2P_STATUS_IGNORE));
    else
        NOTE(world, p2p_dup(world, &copy));
    return 0;
}

static void dup_not_all(void)
{
    static lab_job job;
    run_job(&job, body_copy_not_all);
    lab_expect_status(&job, 1);
    FACTS(job.text, "deadlock", "p2p_dup", "p2p_recv");
    for (int q = 0; q < RANKS; q++) lab_expect_line(&job, __FILE__, q);
}

/* ---- Another order, another root: every rank is told, and nothing was written, though the odd one comes when all that
 * the
 *      others can send each other has come ---- */

static bool others_wait(int odd)
{
    for (int q = 0; q < RANKS; q++)
        if (q != odd && !lab_wait_inside(q)) return false;
    return true;
}

static int body_other_order(p2p_comm *world)
{
    kind first = p2p_rank(world) == 1 ? (kind)((which + 1) % KINDS) : which;
    memset(into, 0x40 + p2p_rank(world), sizeof into);
    if (p2p_rank(world) == 1) CHECK(others_wait(1), "ranks 0 and 2 do not wait");
    CHECK_ERR(world, P2P_ERR_MISMATCH, whole(world, first, 0));
    CHECK(strstr(p2p_error_message(world), names[which]) &&
              strstr(p2p_error_message(world), names[(which + 1) % KINDS]),
          "both are not in: %s", p2p_error_message(world));
    CHECK(lab_all(into, sizeof into, (unsigned char)(0x40 + p2p_rank(world))), "a buffer was written");
    return 0;
}

static void begun_order(void)
{
    static lab_job job;
    for (which = BARRIER; which < KINDS; which++) {
        run_job(&job, body_other_order);
        EXPECT(job.status == 1, "%s: exit status %d", names[which], job.status);
    }
}

static int body_other_root(p2p_comm *world)
{
    memset(into, 0x40 + p2p_rank(world), sizeof into);
    if (p2p_rank(world) == 2) CHECK(others_wait(2), "ranks 0 and 1 do not wait");
    CHECK_ERR(world, P2P_ERR_MISMATCH, whole(world, BROADCAST, p2p_rank(world) == 2));
    const char *said = p2p_error_message(world);
    CHECK(strstr(said, "coll_ibroadcast #1") && strstr(said, "root 0") && strstr(said, "root 1"), "it says %s", said);
    CHECK(lab_all(into, sizeof into, (unsigned char)(0x40 + p2p_rank(world))), "a buffer was written");
    return 0;
}

static void begun_root(void)
{
    static lab_job job;
    run_job(&job, body_other_root);
    EXPECT(job.status == 1, "exit status %d", job.status);
}

/* ---- Rank 1 dies while the others wait ---- */

static int body_death(p2p_comm *world)
{
    if (p2p_rank(world) == 1) {
        CHECK(others_wait(1), "ranks 0 and 2 do not wait");
        lab_die(9);
    }
    NOTE(world, whole(world, which, 0));
    return 0;
}

static void begun_death(void)
{
    static lab_job job;
    for (which = BARRIER; which < KINDS; which++) {
        run_job(&job, body_death);
        EXPECT(job.status == 137, "%s: exit status %d", names[which], job.status);
        for (int q = 0; q < RANKS; q += 2) lab_expect_survivor(q, 1, "signal 9");
    }
}

const lab_case lab_begun[] = {
    {"begun-forgotten", "a collective's request that is never waited for: finalize names its line", begun_forgotten,
     false},
    {"begun-at-once", "all finalize with collectives under way: it ends, and says what was left", begun_at_once, false},
    {"begun-not-all", "a collective that one rank never begins: the diagnosis has its name and every line",
     begun_not_all, false},
    {"dup-not-all", "a copy of a communicator that one rank does not make: the diagnosis has p2p_dup", dup_not_all,
     false},
    {"begun-order", "collectives begun in another order: both names on every rank, no buffer written", begun_order,
     false},
    {"begun-root", "another root: both on every rank, no buffer written", begun_root, false},
    {"begun-death", "a rank dies while the others wait for a collective's request: both know", begun_death, false},
    {NULL, NULL, NULL, false},
};
