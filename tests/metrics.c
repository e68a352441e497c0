/* SPDX-License-Identifier: MIT */
// worlds: each; hosts
/*
 * metrics: what launch --metrics writes is Prometheus' format to the letter, says what the ranks did, and believes nothing
 * that a rank could have written there by mistake.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/message/internal.h"
#include "tests/util/exposition.h"
#include "tests/util/folder.h"
#include "tests/util/suite.h"
#include "tests/util/traced.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* cppcheck-suppress unknownMacro */
TestSuite(metrics, .init = make_test_folder, .fini = remove_test_folder);

/* The file that a job leaves, which is right; to be freed. */
static char *metrics_of(int size, job_main rank_main, int status)
{
    job_result result;
    size_t bytes;
    const char *path = in_folder("m.prom");

    job_run(size, &(p2p_options){.metrics = path}, rank_main, NULL, &result);
    cr_assert_eq(result.exit_status, status, "exit status %d: %s%s", result.exit_status, result.note,
                 result.process.err);
    job_free(&result);
    char *text = traced_read(path, &bytes);
    cr_assert_not_null(text, "there is no %s", path);
    const char *wrong = exposition_wrong(text, bytes);
    cr_assert_null(wrong, "%s in:\n%.2000s", wrong ? wrong : "", text);
    return text;
}

static void expect(const char *text, const char *series, double value)
{
    double got = exposition_value(text, series);

    cr_expect(got == value, "%s is %g, not %g, in:\n%.2000s", series, got, value, text);
}

/* ---- The checker itself ---- */

Test(metrics, the_checker_is_strict)
{
    static const char good[] = "# HELP a_total A.\n# TYPE a_total counter\na_total{r=\"0\"} 1\na_total{r=\"1\"} 2\n"
                               "# HELP h H.\n# TYPE h histogram\nh_bucket{r=\"0\",le=\"1\"} 1\n"
                               "h_bucket{r=\"0\",le=\"+Inf\"} 2\nh_sum{r=\"0\"} 3e-05\nh_count{r=\"0\"} 2\n";
    static const struct {
        const char *from, *to;                                 /* one of these differences */
    } wrong[] = {{"a_total{r=\"1\"} 2", "a_total{r=\"0\"} 2"}, /* twice */
                 {"a_total{r=\"1\"} 2", "a_total{r=\"1\"} -2"},
                 {"a_total{r=\"1\"} 2", "a_total{r=\"1\"} 2 3000"}, /* with a time */
                 {"a_total{r=\"1\"} 2", "a_total{r=\"1\"}  2"},
                 {"a_total{r=\"1\"} 2", "a_total{1r=\"1\"} 2"},
                 {"a_total{r=\"1\"} 2", "a_total{r=\"\\1\"} 2"},
                 {"a_total{r=\"1\"} 2", "a_total{r=\"1\" 2"},
                 {"a_total{r=\"1\"} 2", "b_total{r=\"1\"} 2"},
                 {"a_total{r=\"1\"} 2", "a_total{r=\"1\"} nan"},
                 {"# HELP h H.\n", ""},
                 {"# TYPE h histogram\n", ""},
                 {"# HELP h H.", "# HELP a_total A."},
                 {"# TYPE h histogram", "# TYPE h summary_"},
                 {"# TYPE a_total counter", "# TYPE a_total gauge"},
                 {"h_bucket{r=\"0\",le=\"+Inf\"} 2\n", ""},
                 {"h_bucket{r=\"0\",le=\"1\"} 1", "h_bucket{r=\"0\",le=\"1\"} 3"},
                 {"h_bucket{r=\"0\",le=\"+Inf\"} 2", "h_bucket{r=\"0\",le=\"+Inf\"} 3"},
                 {"h_sum{r=\"0\"} 3e-05\n", ""},
                 {"h_count{r=\"0\"} 2\n", ""},
                 {"h_count{r=\"0\"} 2\n", "h_count{r=\"0\"} 2"}};

    cr_assert_null(exposition_wrong(good, sizeof good - 1), "%s", exposition_wrong(good, sizeof good - 1));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char text[1000];
        const char *at = strstr(good, wrong[i].from);
        int used = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, wrong[i].to,
                            at + strlen(wrong[i].from));
        cr_expect_not_null(exposition_wrong(text, (size_t)used), "taken for right:\n%s", text);
    }
}

/* ---- What ranks did ---- */

static int a_ring(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), size = p2p_size(world), sum = 1;
    char out[100] = {0}, in[100];

    (void)arg;
    for (int i = 0; i < 5; i++)
        CALL(p2p_sendrecv(world, out, sizeof out, (rank + 1) % size, 0, in, sizeof in, (rank + size - 1) % size, 0,
                          P2P_STATUS_IGNORE));
    if (rank == 0) CALL(p2p_send(world, out, 8, 1, 1));
    if (rank == 1) CALL(p2p_recv(world, in, sizeof in, P2P_ANY_SOURCE, 1, P2P_STATUS_IGNORE));
    CALL(coll_all_reduce(world, &sum, 1, DTYPE_I32, OP_SUM));
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    if (rank == 2) RETURNS(P2P_ERR_RANK, p2p_send(world, out, 8, 77, 1));
    return 0;
}

Test(metrics, says_what_ranks_did)
{
    for (int size = 3; size <= 5; size += 2) {
        char *text = metrics_of(size, a_ring, 0);
        expect(text, "pairwise_ranks", size);
        expect(text, "pairwise_rank_alive{rank=\"1\"}", 0);
        expect(text, "pairwise_messages_waiting{rank=\"1\"}", 0);
        expect(text, "pairwise_calls_total{rank=\"0\",operation=\"p2p_sendrecv\"}", 5);
        expect(text, "pairwise_sent_bytes_total{rank=\"0\",operation=\"p2p_sendrecv\"}", 500);
        expect(text, "pairwise_received_bytes_total{rank=\"2\",operation=\"p2p_sendrecv\"}", 500);
        expect(text, "pairwise_sent_bytes_total{rank=\"0\",operation=\"p2p_send\"}", 8);
        expect(text, "pairwise_received_bytes_total{rank=\"1\",operation=\"p2p_recv\"}", 8);
        expect(text, "pairwise_calls_total{rank=\"2\",operation=\"coll_all_reduce\"}", 1);
        expect(text, "pairwise_call_errors_total{rank=\"2\",operation=\"p2p_send\"}", 1);
        expect(text, "pairwise_call_errors_total{rank=\"0\",operation=\"p2p_send\"}", 0);
        expect(text, "pairwise_call_duration_seconds_count{rank=\"0\",operation=\"p2p_sendrecv\"}", 5);
        cr_expect(exposition_sum(text, "pairwise_sent_bytes_total") ==
                  exposition_sum(text, "pairwise_received_bytes_total"));
        cr_expect_null(strstr(text, "peer"), "a sample is of a pair");
        free(text);
    }
}

/* Rank 1 waits in its last receive for three tenths of a second, which no sample of the short ones may miss. What it polls
 * before it sleeps is not timed. */
static int many_then_one_that_waits(p2p_comm *world, void *arg)
{
    enum { MANY = 20000 };
    int number = 0;

    (void)arg;
    for (int i = 0; i < MANY; i++) {
        if (p2p_rank(world) == 0) CALL(p2p_send(world, &number, sizeof number, 1, 0));
        if (p2p_rank(world) == 1) CALL(p2p_recv(world, &number, sizeof number, 0, 0, P2P_STATUS_IGNORE));
    }
    if (p2p_rank(world) == 1) CALL(p2p_send(world, &number, sizeof number, 0, 1)); /* all of them are here */
    if (p2p_rank(world) == 1) return p2p_recv(world, &number, sizeof number, 0, 1, P2P_STATUS_IGNORE);
    CALL(p2p_recv(world, &number, sizeof number, 1, 1, P2P_STATUS_IGNORE));
    usleep(300000);
    return p2p_send(world, &number, sizeof number, 1, 1);
}

Test(metrics, every_call_that_sleeps_is_timed)
{
    char *text = metrics_of(2, many_then_one_that_waits, 0);
    double within = exposition_value(
        text, "pairwise_call_duration_seconds_bucket{rank=\"1\",operation=\"p2p_recv\",le=\"0.065536\"}");
    double all = exposition_value(text, "pairwise_call_duration_seconds_count{rank=\"1\",operation=\"p2p_recv\"}");

    expect(text, "pairwise_calls_total{rank=\"1\",operation=\"p2p_recv\"}", 20001);
    cr_expect(all > 15000 && all <= 20001, "%g durations", all);
    cr_expect(all - within >= 1, "the long one is missing:\n%.2000s", text);
    double sum = exposition_value(text, "pairwise_call_duration_seconds_sum{rank=\"1\",operation=\"p2p_recv\"}");
    cr_expect(sum > 0.065, "%g s, of a call of 0.3 s", sum);
    free(text);
}

/* The last message has no receive; the program ends all the same. */
static int leaves_some(p2p_comm *world, void *arg)
{
    int number = 0;

    (void)arg;
    if (p2p_rank(world) == 0)
        for (int i = 0; i < 4; i++) CALL(p2p_send(world, &number, sizeof number, 1, i == 3));
    if (p2p_rank(world) == 1) CALL(p2p_recv(world, &number, sizeof number, 0, 1, P2P_STATUS_IGNORE));
    raise(SIGKILL);
    return 0;
}

Test(metrics, messages_that_wait)
{
    char *text = metrics_of(2, leaves_some, 137);

    expect(text, "pairwise_messages_waiting{rank=\"1\"}", 3);
    free(text);
}

/* ---- A number of the program ---- */

static int gauges(p2p_comm *world, void *arg)
{
    (void)arg;
    p2p_layer_gauge(world, "loss", 0.25);
    p2p_layer_gauge(world, "loss", 0.125 + p2p_rank(world));
    p2p_layer_gauge(world, "never", NAN);
    p2p_layer_gauge(world, "not a name", 1);
    p2p_layer_gauge(world, "1st", 1);
    p2p_layer_gauge(world, "", 1);
    p2p_layer_gauge(world, NULL, 1);
    p2p_layer_gauge(NULL, "loss", 1);
    if (p2p_rank(world) == 0) p2p_layer_gauge(world, "limit", -INFINITY);
    return 0;
}

Test(metrics, numbers_of_the_program)
{
    char *text = metrics_of(2, gauges, 0);

    expect(text, "pairwise_program_loss{rank=\"0\"}", 0.125);
    expect(text, "pairwise_program_loss{rank=\"1\"}", 1.125);
    expect(text, "pairwise_program_limit{rank=\"0\"}", -INFINITY);
    ASSERT_CONTAINS(text, "pairwise_program_never{rank=\"1\"} NaN\n");
    cr_expect_null(strstr(text, "1st"));
    free(text);
}

/* ---- What is not to be trusted ---- */

/* Every byte of a rank's notes may be anything. */
static int overwrites(p2p_comm *world, void *arg)
{
    static unsigned round;
    scoreboard *b = world->engine->scoreboard;
    unsigned char *notes = (unsigned char *)p2p__notes_metrics(b, 1 - p2p_rank(world));
    uint32_t random = 17u + (unsigned)p2p_rank(world) + round++;

    (void)arg;
    for (int i = 0; i < 3; i++) p2p_layer_gauge(world, (const char *[]){"a", "b", "c"}[i], i);
    CALL(coll_barrier(world));
    if (p2p_rank(world) == 1) return 0;
    for (size_t i = 0; i < sizeof(notes_metrics); i++) {
        random = random * 1664525u + 1013904223u;
        if (random >> 30) notes[i] = (unsigned char)(random >> 16);
    }
    notes_metrics *own = p2p__notes_metrics(b, 0), *other = (notes_metrics *)(void *)notes;
    atomic_store(&other->operations, UINT32_MAX);
    atomic_store(&other->gauges, UINT32_MAX);
    for (int i = 0; i < NOTES_OPERATIONS; i++) {
        if (i % 2) memcpy(&other->operation[i], &own->operation[i % 3], sizeof *own->operation);
        if (i % 5 == 0) memset(other->operation[i].name, 'x', NOTES_NAME);
    }
    for (int i = 0; i < NOTES_GAUGES; i++)
        snprintf(other->gauge[i].name, sizeof other->gauge[i].name, "%s", i % 2 ? "a" : "quote\"\n");
    return 0;
}

Test(metrics, nothing_that_a_rank_writes_is_trusted)
{
    for (int i = 0; i < 3; i++) free(metrics_of(2, overwrites, 0));
}

/* ---- The file ---- */

Test(metrics, a_run_that_is_over_at_once)
{
    process_result result;
    char command[600];
    size_t bytes;

    snprintf(command, sizeof command,
             "$L -n 4 --metrics %s $T/right/actor; command -v promtool >/dev/null || exit 0; "
             "promtool check metrics <%s",
             in_folder("m.prom"), in_folder("m.prom"));
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
    char *text = traced_read(in_folder("m.prom"), &bytes);
    cr_assert_null(exposition_wrong(text, bytes), "%s", exposition_wrong(text, bytes));
    expect(text, "pairwise_calls_total{rank=\"3\",operation=\"p2p_finalize\"}", 1);
    free(text);
}

/* Ranks that sit outside of Pairwise: the file is there before they end, and whole each time that it is read. */
Test(metrics, written_while_the_job_runs)
{
    process_result result;
    char command[600];
    size_t bytes;
    const char *path = in_folder("m.prom");

    snprintf(command, sizeof command,
             "$L -n 2 --metrics %s $T/right/actor busy >/dev/null & until [ -e %s ]; do sleep 0.01; done; "
             "first=$(stat -c %%i %s); until [ $(stat -c %%i %s) != $first ]; do sleep 0.01; done; "
             "cp %s %s; kill $!; wait $!",
             path, path, path, path, path, in_folder("while"));
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 143);
    process_free(&result);
    char *text = traced_read(in_folder("while"), &bytes);
    cr_assert_null(exposition_wrong(text, bytes), "%s", exposition_wrong(text, bytes));
    expect(text, "pairwise_rank_alive{rank=\"1\"}", 1);
    free(text);
    text = traced_read(path, &bytes);
    cr_assert_null(exposition_wrong(text, bytes), "%s", exposition_wrong(text, bytes));
    expect(text, "pairwise_rank_alive{rank=\"1\"}", 0);
    free(text);
}

Test(metrics, a_file_that_cannot_be_written)
{
    process_result result;

    shell_run("$L -n 2 --metrics /nowhere/m $T/right/actor", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "the metrics cannot be written to \"/nowhere/m\"");
    process_free(&result);
}
