/* SPDX-License-Identifier: MIT */
// worlds: last; 3 hosts
/*
 * p2p_report: every kind of mistake, as `launch --report` and p2p_options.report tell it to programs: class, ranks, and
 * the lines that take part. Deadlocks and lost ranks are in tests/wrong/ (p2p_wrong), where each program says what is
 * reported.
 *
 * An expected line is how a line of the report begins (tests/util/report.h); "@name" is the line here that is marked
 * so.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/message/internal.h"
#include "tests/util/folder.h"
#include "tests/util/report.h"
#include "tests/util/suite.h"

static int data[1000], more[1000];

/* ---- Reading ---- */

static int marked(const char *name, size_t length)
{
    char line[300], mark[64];
    int at = 0, number = 0;
    FILE *file = fopen("tests/p2p_report.c", "r");

    cr_assert_not_null(file, "run the suites from the top folder");
    snprintf(mark, sizeof mark, "/* @%.*s */", (int)length, name);
    while (!at && fgets(line, sizeof line, file)) {
        number++;
        if (strstr(line, mark)) at = number;
    }
    fclose(file);
    cr_assert(at, "no line is marked %s", mark);
    return at;
}

static bool has_line(const char *report, const char *expected)
{
    char text[300];
    const char *mark = strchr(expected, '@');
    size_t length = mark ? strspn(mark + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;

    snprintf(text, sizeof text, "%s", expected);
    if (mark)
        snprintf(text, sizeof text, "%.*sp2p_report.c:%d%s", (int)(mark - expected), expected, marked(mark + 1, length),
                 mark + 1 + length);
    for (const char *at = report; (at = strstr(at, text)); at++)
        if (at == report || at[-1] == '\n') return true;
    return false;
}

typedef struct {
    int (*body)(p2p_comm *world);
    int size, status;
    const char *world, *lines[6];
} report_case;

static int run_body(p2p_comm *world, void *arg)
{
    const report_case *c = arg;

    return c->body(world);
}

static char *report_of(const report_case *c, double timeout_s)
{
    job_result result;
    const char *path = in_folder("report.json");
    p2p_options options = {.world = c->world, .report = path, .timeout_s = timeout_s};

    job_run(c->size, &options, run_body, (void *)(uintptr_t)c, &result);
    cr_expect_eq(result.exit_status, c->status, "status %d, expected %d:\n%s", result.exit_status, c->status,
                 result.process.err);
    job_free(&result);
    return report_lines(path);
}

static void check_lines(const report_case *c, const char *report)
{
    for (size_t i = 0; i < sizeof c->lines / sizeof *c->lines && c->lines[i]; i++)
        cr_expect(has_line(report, c->lines[i]), "expected \"%s\" in the report:\n%s", c->lines[i], report);
}

static void check_case(report_case c)
{
    char *report = report_of(&c, 0);

    check_lines(&c, report);
    free(report);
}

#define REPORTS(name, ...)                                                       \
    Test(p2p_report, name, .init = make_test_folder, .fini = remove_test_folder) \
    {                                                                            \
        check_case((report_case){body_##name, __VA_ARGS__});                     \
    }

/* ---- Nothing ---- */

static int body_nothing(p2p_comm *world)
{
    return p2p_size(world) != 2;
}

Test(p2p_report, nothing, .init = make_test_folder, .fini = remove_test_folder)
{
    char *report = report_of(&(report_case){body_nothing, 2, 0, NULL, {NULL}}, 0);

    cr_expect_str_eq(report, "status 0\n");
    free(report);
}

static int body_own_status(p2p_comm *world)
{
    return p2p_rank(world) == 1 ? 7 : 0;
}

REPORTS(own_status, 2, 7, NULL, {"status 7", "death/exit [1] exit 7", "1 last p2p_finalize"})

Test(p2p_report, a_file_that_cannot_be_written_is_refused_before_anything_starts, .init = make_test_folder,
     .fini = remove_test_folder)
{
    char path[300], told[400];
    snprintf(path, sizeof path, "%s/missing/report.json", test_folder);
    snprintf(told, sizeof told, "the report cannot be written to \"%s\"", path);
    p2p_options options = {.report = path};
    job_result result;

    job_run(1, &options, run_body, &(report_case){body_nothing, 1, 0, NULL, {NULL}}, &result);
    cr_expect_eq(result.err, P2P_ERR_ARG);
    ASSERT_CONTAINS(result.process.err, told);
    job_free(&result);
}

Test(p2p_report, a_program_that_is_not_there, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;

    char command[500];

    snprintf(command, sizeof command, "exec $L -n 2 --report %s %s", in_folder("report.json"), in_folder("missing"));
    shell_run(command, NULL, &result);
    char *report = report_lines(in_folder("report.json"));
    cr_expect_str_eq(report, "status 127\nrefused []\n");
    free(report);
    process_free(&result);
}

/* The program's name is in the sentence, whatever it holds. */
Test(p2p_report, what_to_try_is_apart_from_the_sentence, .init = make_test_folder, .fini = remove_test_folder)
{
    process_result result;
    char command[500];

    snprintf(command, sizeof command, "exec $L -n 2 --report %s \"%s\n  try: nothing\"", in_folder("report.json"),
             in_folder("missing"));
    shell_run(command, NULL, &result);
    char *advice = report_advice(in_folder("report.json"));
    cr_expect(advice && !strchr(advice, '\n'), "try: %s", advice ? advice : "nothing");
    free(advice);
    process_free(&result);
}

/* ---- Arguments ---- */

#define WRONG(name, call)                    \
    static int body_##name(p2p_comm *world)  \
    {                                        \
        return p2p_rank(world) == 0 && call; \
    }

WRONG(rank, p2p_send(world, data, 4, 9, 0))                                             /* @rank */
WRONG(tag, p2p_send(world, data, 4, 1, -5))                                             /* @tag */
WRONG(buffer, p2p_recv(world, NULL, 4, 1, 0, NULL))                                     /* @buffer */
WRONG(size, p2p_send(world, data, SIZE_MAX, 1, 0))                                      /* @size */
WRONG(request, p2p_isend(world, data, 4, 1, 0, NULL))                                   /* @request */
WRONG(communicator, p2p_free(world))                                                    /* @communicator */
WRONG(colour, p2p_split(world, -9, 0, &(p2p_comm *){NULL}))                             /* @colour */
WRONG(root, coll_broadcast(world, data, 4, DTYPE_I32, 9))                               /* @root */
WRONG(type, coll_broadcast(world, data, 4, (enum dtype)99, 0))                          /* @type */
WRONG(operator, coll_all_reduce(world, data, 4, DTYPE_I32, OP_MEAN))                    /* @operator */
WRONG(count, coll_all_reduce(world, data, SIZE_MAX / 2, DTYPE_I32, OP_SUM))             /* @count */
WRONG(overlap, p2p_sendrecv(world, data, 8, 1, 0, data + 1, 8, 1, 0, NULL))             /* @overlap */
WRONG(blocks, coll_all_gather(world, data, data + 1, 4, DTYPE_I32))                     /* @blocks */
WRONG(none, p2p_send(NULL, data, 4, 1, 0) == P2P_ERR_STATE && p2p_finalize(world) == 0) /* @none */

/* Of a rank's own error, whatever words people get before it (tests/all/words.sh has others). */
Test(p2p_report, what_to_try_goes_from_the_rank_to_the_report, .init = make_test_folder, .fini = remove_test_folder)
{
    static int (*const bodies[])(p2p_comm * world) = {body_rank, body_root, body_type};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        free(report_of(&(report_case){bodies[i], 2, 1, NULL, {NULL}}, 0));
        char *advice = report_advice(in_folder("report.json"));
        cr_expect(advice && *advice, "case %zu: nothing to try", i);
        free(advice);
    }
}

REPORTS(rank, 2, 1, NULL, {"invalid_argument/rank [0]", "0 call p2p_send @rank peer any tag 0 4 bytes"})
REPORTS(tag, 2, 1, NULL, {"invalid_argument/tag [0]", "0 call p2p_send @tag peer 1"})
REPORTS(buffer, 2, 1, NULL, {"invalid_argument/buffer [0]", "0 call p2p_recv @buffer peer 1"})
REPORTS(size, 2, 1, NULL, {"invalid_argument/count [0]", "0 call p2p_send @size"})
REPORTS(request, 2, 1, NULL, {"invalid_argument/request [0]", "0 call p2p_isend @request"})
REPORTS(communicator, 2, 1, NULL, {"invalid_argument/communicator [0]", "0 call p2p_free @communicator"})
REPORTS(colour, 2, 1, NULL, {"invalid_argument/other [0]", "0 call p2p_split @colour"})
REPORTS(root, 2, 1, NULL, {"invalid_argument/root [0]", "0 call coll_broadcast #1 @root"})
REPORTS(type, 2, 1, NULL, {"invalid_argument/type [0]", "0 call coll_broadcast #1 @type"})
REPORTS(operator, 2, 1, NULL, {"invalid_argument/operator [0]", "0 call coll_all_reduce #1 @operator"})
REPORTS(count, 2, 1, NULL, {"invalid_argument/count [0]", "0 call coll_all_reduce #1 @count"})
REPORTS(overlap, 2, 1, NULL, {"buffer_conflict/overlap [0]", "0 call p2p_sendrecv @overlap"})
REPORTS(blocks, 2, 1, NULL, {"buffer_conflict/overlap [0]", "0 call coll_all_gather #1 @blocks"})
REPORTS(none, 1, 1, NULL, {"invalid_argument/communicator [0]", "0 call p2p_send @none"})

/* ---- Buffers and requests ---- */

static int body_changed(p2p_comm *world)
{
    p2p_request request;
    if (p2p_rank(world) == 1) return p2p_recv(world, data, 8, 0, 4, NULL);
    p2p_isend(world, data, 8, 1, 4, &request); /* @isend */
    data[0]++;
    return p2p_wait(&request, NULL); /* @changed */
}

Test(p2p_report, changed, .init = make_test_folder, .fini = remove_test_folder)
{
    setenv("PAIRWISE_DEBUG", "1", 1);
    check_case((report_case){
        body_changed,
        2,
        1,
        NULL,
        {"buffer_conflict [0]", "0 call p2p_wait @changed", "0 pending p2p_isend @isend peer 1 tag 4 8 bytes"}});
}

static int body_in_use(p2p_comm *world)
{
    void *buf;
    p2p_request request;
    p2p_alloc(world, 64, &buf);
    p2p_irecv(world, buf, 64, 0, 0, &request); /* @irecv */
    return p2p_release(world, buf);            /* @in_use */
}

REPORTS(in_use, 1, 1, "shm", {"buffer_conflict [0]", "0 call p2p_release @in_use", "0 pending p2p_irecv @irecv"})

static int body_pending(p2p_comm *world)
{
    p2p_comm *sub;
    p2p_request request;
    p2p_split(world, 0, 0, &sub);
    p2p_irecv(sub, data, 4, 0, 0, &request);
    return p2p_free(sub); /* @pending */
}

REPORTS(pending, 1, 1, NULL, {"request_state [0]", "0 call p2p_free @pending"})

/* ---- Messages, and what is left at the end ---- */

static int body_too_long(p2p_comm *world)
{
    if (p2p_rank(world) == 0) return p2p_send(world, data, 80, 1, 4); /* @long_send */
    return p2p_recv(world, data, 40, 0, 4, NULL);                     /* @too_long */
}

REPORTS(too_long, 2, 1, NULL,
        {"truncation [0,1]", "1 call p2p_recv @too_long peer 0 tag 4 40 bytes",
         "0 other p2p_send @long_send peer 1 tag 4 80 bytes"})

static int body_left(p2p_comm *world)
{
    void *buf;
    p2p_comm *sub;
    p2p_request request;
    p2p_split(world, 0, 0, &sub);                                     /* @sub */
    if (p2p_rank(world) == 0) return p2p_send(world, data, 80, 1, 4); /* @lost */
    p2p_irecv(world, data, 40, 0, 5, &request);                       /* @never */
    return p2p_alloc(world, 64, &buf);                                /* @alloc */
}

REPORTS(left, 2, 1, NULL,
        {"lost_message [0,1]", "1 message from 0 tag 4 80 bytes", "0 other p2p_send @lost peer 1 tag 4 80 bytes",
         "request_leak [1]", "1 pending p2p_irecv @never peer 0 tag 5 40 bytes", "resource_leak/communicator [1]"})
#define body_left_too body_left
REPORTS(left_too, 2, 1, NULL, {"1 made @sub", "resource_leak/memory [1]", "1 made p2p_alloc @alloc 64 bytes"})

static int body_told(p2p_comm *world)
{
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    if (p2p_send(world, data, 4, 9, 0) != P2P_ERR_RANK) return 1;
    return p2p_rank(world) == 0 ? p2p_send(world, data, 4, 1, 4) : P2P_OK;
}

/* What a program is told is its own affair; what it leaves behind is not. */
Test(p2p_report, told, .init = make_test_folder, .fini = remove_test_folder)
{
    report_case c = {body_told, 2, 1, NULL, {"lost_message [0,1]", "1 message from 0 tag 4 4 bytes"}};
    char *report = report_of(&c, 0);
    check_lines(&c, report);
    ASSERT_LACKS(report, "invalid_argument");
    free(report);
}

/* ---- Collectives that differ ---- */

#define DIFFERS(name, call_a, call_b)                      \
    static int body_##name(p2p_comm *world)                \
    {                                                      \
        return p2p_rank(world) == 0 ? (call_a) : (call_b); \
    }

#define CAST(count, type, root) coll_broadcast(world, data, count, DTYPE_##type, root)
#define ALL(op) coll_all_reduce(world, data, 4, DTYPE_I32, OP_##op)

DIFFERS(kind, CAST(4, I32, 0), coll_barrier(world)) /* @kind */
DIFFERS(types, CAST(4, I32, 0), CAST(4, F32, 0))    /* @types */
DIFFERS(operators, ALL(SUM), ALL(MAX))              /* @operators */
DIFFERS(roots, CAST(4, I32, 0), CAST(4, I32, 1))    /* @roots */
DIFFERS(counts, CAST(4, I32, 0), CAST(5, I32, 0))   /* @counts */

REPORTS(kind, 2, 1, NULL,
        {"collective_mismatch [0,1]", "0 call coll_broadcast #1 @kind", "1 call coll_barrier #1 @kind"})
REPORTS(types, 2, 1, NULL,
        {"type_mismatch [0,1]", "0 call coll_broadcast #1 @types", "1 call coll_broadcast #1 @types"})
REPORTS(operators, 2, 1, NULL,
        {"operator_mismatch [0,1]", "0 call coll_all_reduce #1 @operators", "1 call coll_all_reduce #1"})
REPORTS(roots, 2, 1, NULL,
        {"root_mismatch [0,1]", "0 call coll_broadcast #1 @roots", "1 call coll_broadcast #1 @roots"})
REPORTS(counts, 2, 1, NULL,
        {"count_mismatch [0,1]", "0 call coll_broadcast #1 @counts count 4",
         "1 call coll_broadcast #1 @counts count 5"})

static int body_algorithms(p2p_comm *world)
{
    const p2p_fingerprint what = {
        .operation = "own", .algorithm = p2p_rank(world) ? "ring" : "recursive-doubling", .count = 4, .root = -1};
    p2p_err err = p2p_layer_begin(world, &what);
    return err ? err : p2p_layer_end(world, P2P_OK);
}

REPORTS(algorithms, 2, 1, NULL,
        {"algorithm_mismatch [0,1]", "0 call own #1 count 4 algorithm recursive-doubling",
         "1 call own #1 count 4 algorithm ring"})

static int body_lengths(p2p_comm *world)
{
    const size_t counts[] = {4, 4}, offsets[] = {0, 4};
    return coll_gatherv(world, data, p2p_rank(world) ? 5 : 4, more, counts, offsets, DTYPE_I32, 0); /* @lengths */
}

REPORTS(lengths, 2, 1, NULL, {"count_mismatch [0,1]", "0 call coll_gatherv #1 @lengths", "1 other"})

/* ---- Ends, and time ---- */

static int body_killed(p2p_comm *world)
{
    if (p2p_rank(world) == 1) raise(SIGKILL);
    return p2p_recv(world, data, 4, 1, 0, NULL);
}

REPORTS(killed, 2, 128 + SIGKILL, NULL, {"death/signal [1] signal 9", "1 last"})

static int body_exits(p2p_comm *world)
{
    if (p2p_rank(world) == 1) p2p_send(world, data, 4, 0, 1); /* @exits */
    if (p2p_rank(world) == 1) _exit(3);
    return p2p_recv(world, data, 4, 1, 0, NULL);
}

REPORTS(exits, 2, 3, NULL, {"death/exit [1] exit 3", "1 last p2p_send @exits"})

static int body_aborts(p2p_comm *world)
{
    p2p_abort(world, 5); /* @aborts */
    return 0;
}

REPORTS(aborts, 1, 5, NULL, {"death/abort [0] exit 5", "0 call p2p_abort @aborts"})

static int body_late(p2p_comm *world)
{
    p2p_finalize(world);
    return p2p_send(world, data, 4, 0, 0); /* @late */
}

REPORTS(late, 1, 1, NULL, {"call_order [0]", "0 call p2p_send @late"})

static int body_stops(p2p_comm *world)
{
    if (p2p_rank(world) == 1) raise(SIGSTOP);
    return p2p_recv(world, data, 4, 1, 2, NULL); /* @stopped */
}

Test(p2p_report, stopped, .init = make_test_folder, .fini = remove_test_folder)
{
    setenv("PAIRWISE_TIMEOUT", "1", 1);
    check_case((report_case){body_stops, 2, 1, NULL, {"stopped/call [1]", "0 call p2p_recv @stopped", "1 doing"}});
}

static int body_computes(p2p_comm *world)
{
    if (p2p_rank(world) == 1) pause();
    return p2p_recv(world, data, 4, 1, 2, NULL); /* @timeout */
}

Test(p2p_report, timeout_of_a_call, .init = make_test_folder, .fini = remove_test_folder)
{
    setenv("PAIRWISE_TIMEOUT", "1", 1);
    check_case((report_case){body_computes, 2, 1, NULL, {"timeout/call [0]", "0 call p2p_recv @timeout", "1 doing"}});
}

Test(p2p_report, timeout_of_the_job, .init = make_test_folder, .fini = remove_test_folder)
{
    report_case c = {
        body_computes, 2, 124, NULL, {"timeout/job []", "0 doing p2p_recv @timeout", "1 doing state running"}};
    char *report = report_of(&c, 2);
    check_lines(&c, report);
    free(report);
}

/* ---- A rank that writes where it should not ---- */

static int body_garbage(p2p_comm *world)
{
    static const unsigned char patterns[] = {0xff, 0x22, 0x80, 0x01};
    scoreboard_row *row = world->row;
    for (size_t i = 0; i < sizeof patterns; i++) {
        if (p2p_rank(world) != (int)i) continue;
        memset(row->found, patterns[i], sizeof row->found);
        memset(row->error, patterns[i], sizeof row->error);
        memset(row->advice, patterns[i], sizeof row->advice);
        row->found[1].what.class = CLASS_DEATH;
        row->found[1].count = INT_MAX;
        row->found[2].count = 3;
        row->found_count = INT_MAX;
    }
    return 0;
}

Test(p2p_report, garbage_is_no_more_than_a_finding_of_that_rank, .init = make_test_folder, .fini = remove_test_folder)
{
    char *report = report_of(&(report_case){body_garbage, 4, 0, NULL, {NULL}}, 0);

    ASSERT_CONTAINS(report, "status 0\n");
    ASSERT_CONTAINS(report, "death");
    free(report);
}
