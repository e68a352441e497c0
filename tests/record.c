/* SPDX-License-Identifier: MIT */
// worlds: each; hosts
/* record: the last calls of each rank are kept (launch --record), and the first one in which ranks diverged is named. */
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/message/internal.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "tests/util/traced.h"

/* cppcheck-suppress unknownMacro */
TestSuite(record, .init = make_test_folder, .fini = remove_test_folder);

enum { KEPT = NOTES_CALLS };

/* The record that a job leaves; what the launcher says of it in result. */
static json_t *record_of(int size, job_main rank_main, job_result *result)
{
    json_error_t why;
    const char *path = in_folder("record.json");

    job_run(size, &(p2p_options){.record = path}, rank_main, NULL, result);
    json_t *record = json_load_file(path, 0, &why);
    cr_assert_not_null(record, "%s, line %d; %s%s", why.text, why.line, result->note, result->process.err);
    cr_assert_eq(json_integer_value(json_object_get(record, "ranks")), size);
    return record;
}

static json_t *last_of(const json_t *record, size_t rank)
{
    return json_object_get(json_array_get(json_object_get(record, "calls"), rank), "last");
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text ? text : "";
}

/* Who diverged where; each part is in the text for people as well. */
static void expect_divergence(int size, job_main rank_main, const char *const parts[], size_t count)
{
    job_result result;
    json_t *record = record_of(size, rank_main, &result);
    const char *text = text_at(json_object_get(record, "diverged"), "text");

    for (size_t i = 0; i < count; i++) {
        ASSERT_CONTAINS(text, parts[i]);
        ASSERT_CONTAINS(result.process.err, parts[i]);
    }
    json_decref(record);
    job_free(&result);
}

#define DIVERGES(size, rank_main, ...)                                     \
    expect_divergence(size, rank_main, (const char *const[]){__VA_ARGS__}, \
                      sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* ---- What is kept ---- */

static int many_calls(p2p_comm *world, void *arg)
{
    int out = 0, in, other = 1 - p2p_rank(world);

    (void)arg;
    for (int i = 0; i < 3000; i++)
        CALL(p2p_sendrecv(world, &out, sizeof out, other, i, &in, sizeof in, other, i, P2P_STATUS_IGNORE));
    CALL(coll_barrier(world));
    return 0;
}

Test(record, the_last_calls_of_each_rank)
{
    job_result result;
    json_t *record = record_of(2, many_calls, &result);

    cr_expect_eq(result.exit_status, 0, "%s", result.process.err);
    cr_expect(json_is_null(json_object_get(record, "diverged")));
    for (size_t rank = 0; rank < 2; rank++) {
        const json_t *last = last_of(record, rank), *first = json_array_get(last, 0);
        cr_assert_eq(json_array_size(last), KEPT);
        cr_expect_eq(json_integer_value(json_object_get(first, "tag")), 3002 - KEPT);
        cr_expect_eq(json_integer_value(json_object_get(first, "peer")), (json_int_t)(1 - rank));
        cr_expect_str_eq(text_at(json_array_get(last, KEPT - 2), "call"), "coll_barrier");
        cr_expect_str_eq(text_at(json_array_get(last, KEPT - 1), "call"), "p2p_finalize");
        cr_expect_str_eq(text_at(first, "file"), "tests/record.c");
        double before = 0;
        for (size_t i = 0; i < KEPT; i++) {
            double start = json_number_value(json_object_get(json_array_get(last, i), "start_us"));
            cr_assert_geq(start, before, "call %zu begins before the one before it", i);
            before = start + json_number_value(json_object_get(json_array_get(last, i), "us"));
        }
    }
    json_decref(record);
    job_free(&result);
}

static int killed_in_a_call(p2p_comm *world, void *arg)
{
    int number;

    (void)arg;
    if (p2p_rank(world) == 1) raise(SIGKILL);
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_PEER_DEAD, p2p_recv(world, &number, sizeof number, 1, 0, P2P_STATUS_IGNORE));
    return 0;
}

Test(record, a_call_that_failed)
{
    job_result result;
    json_t *record = record_of(2, killed_in_a_call, &result);

    cr_expect_eq(result.exit_status, 137);
    cr_expect_str_eq(text_at(json_array_get(last_of(record, 0), 0), "error"), p2p_strerror(P2P_ERR_PEER_DEAD));
    cr_expect_eq(json_array_size(last_of(record, 1)), 0);
    json_decref(record);
    job_free(&result);
}

/* ---- Where ranks diverged ---- */

/* Rank 2 comes when the others are there, or some could be ended before they are. */
static int another_root(p2p_comm *world, void *arg)
{
    const scoreboard_line *lines = p2p__scoreboard_lines(world->engine->scoreboard, world->context, 6);
    int number = 0;

    (void)arg;
    for (int i = 0; i < 5; i++) CALL(coll_barrier(world));
    for (int rank = 0; p2p_rank(world) == 2 && rank < 4; rank++)
        while (rank != 2 && atomic_load(&lines[rank].at) < p2p__line_at(6, 1)) sched_yield();
    return coll_broadcast(world, &number, 1, DTYPE_I32, p2p_rank(world) == 2);
}

Test(record, another_root)
{
    DIVERGES(4, another_root, "ranks diverged in collective #6", "ranks 0-1,3: coll_broadcast(#6, ", "root 0",
             "rank 2: coll_broadcast(#6, ", "root 1) at tests/record.c:");
}

/* Long after the first calls have been forgotten rank 1 leaves its loop a round too early. */
static int a_round_less(p2p_comm *world, void *arg)
{
    int number = 0, sum = 1;

    (void)arg;
    for (int i = 0; i < 1500 - (p2p_rank(world) == 1); i++) {
        if (p2p_rank(world) == 0) CALL(p2p_send(world, &number, sizeof number, 0, 0));
        if (p2p_rank(world) == 0) CALL(p2p_recv(world, &number, sizeof number, 0, 0, P2P_STATUS_IGNORE));
        CALL(coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_MAX));
    }
    return p2p_rank(world) == 1 ? p2p_recv(world, &number, sizeof number, 2, 7, P2P_STATUS_IGNORE) : 0;
}

Test(record, a_round_less)
{
    DIVERGES(3, a_round_less, "ranks diverged in collective #1500", "ranks 0,2: coll_all_reduce(#1500, ",
             "rank 1: not there; its next call was p2p_recv(source 2, tag 7) at tests/record.c:");
}

Test(record, on_several_hosts)
{
    setenv("PAIRWISE_HOSTS", "2", 1);
    DIVERGES(3, a_round_less, "ranks diverged in collective #1500", "ranks 0,2: coll_all_reduce(#1500, ",
             "rank 1: not there; its next call was p2p_recv(source 2, tag 7) at tests/record.c:");
}

static int in_a_group(p2p_comm *world, void *arg)
{
    p2p_comm *half;
    int rank = p2p_rank(world);

    (void)arg;
    CALL(p2p_split(world, rank % 2, 0, &half));
    CALL(coll_barrier(half));
    if (rank != 3) CALL(coll_barrier(half));
    return coll_barrier(world);
}

Test(record, in_a_group)
{
    DIVERGES(4, in_a_group, "ranks diverged in collective #2 of communicator ", "rank 1: coll_barrier(#2",
             "rank 3: not there; its next call was coll_barrier(#");
}

/* Without collectives: rank 1 does not send back in the third round. */
static int leaves_the_loop(p2p_comm *world, void *arg)
{
    int out = 0, in, other = 1 - p2p_rank(world);

    (void)arg;
    for (int i = 0; i < 3; i++) {
        if (i == 2 && p2p_rank(world) == 1) return p2p_recv(world, &in, sizeof in, 0, 99, P2P_STATUS_IGNORE);
        CALL(p2p_sendrecv(world, &out, sizeof out, other, 0, &in, sizeof in, other, 0, P2P_STATUS_IGNORE));
    }
    return 0;
}

Test(record, on_another_line)
{
    DIVERGES(2, leaves_the_loop, "the first call that is not on one line on all ranks", "rank 0: p2p_sendrecv(dest 1",
             "rank 1: p2p_recv(source 0, tag 99) at tests/record.c:");
}

/* ---- What a rank may have written ---- */

static int overwrites(p2p_comm *world, void *arg)
{
    uint32_t random = 99;
    scoreboard *b = world->engine->scoreboard;

    (void)arg;
    for (int i = 0; i < 30; i++) CALL(coll_barrier(world));
    for (int rank = 1; p2p_rank(world) == 0 && rank < p2p_size(world); rank++) {
        unsigned char *at = (unsigned char *)p2p__notes_record(b, rank);
        for (size_t i = 0; i < sizeof(notes_record); i++) {
            random = random * 1664525u + 1013904223u;
            if (rank == 1 || random >> 29 == 0) at[i] = (unsigned char)(random >> 16);
        }
        memset(p2p__notes_record(b, 1)->pool.at, 'x', TRACE_POOL);
    }
    if (p2p_rank(world) == 0) raise(SIGKILL);
    return coll_barrier(world);
}

Test(record, nothing_that_a_rank_writes_is_trusted)
{
    job_result result;

    json_decref(record_of(3, overwrites, &result));
    cr_expect_eq(result.exit_status, 137, "%s", result.process.err);
    job_free(&result);
}

Test(record, a_file_that_cannot_be_written)
{
    process_result result;

    shell_run("$L -n 2 --record /nowhere/r $T/right/actor", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "the record cannot be written to \"/nowhere/r\"");
    process_free(&result);
}
