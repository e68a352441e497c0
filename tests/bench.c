/* SPDX-License-Identifier: MIT */
// worlds: last; alone; plain
/*
 * bench: the programs of bench/ print what others parse, refuse what they do not understand, and their figures are
 * within ten times of what is meant. Figures themselves are no test's business.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/util/busy.h"
#include "tests/util/suite.h"

#define HEADER "world,bytes,us_min,us_median,us_p99,GBps,limit_us,x_limit\n"

static void run_bench(const char *command, process_result *result)
{
    char line[512];

    snprintf(line, sizeof line, "exec $T/../bench/%s", command);
    setenv("COLUMNS", "200", 1); /* whole tables */
    shell_run(line, NULL, result);
}

/* The number in this column (from 0) of this line (from 1, behind the header) of CSV. */
static double cell(const char *csv, int line, int column)
{
    for (; line > 0; line--) csv = strchr(csv, '\n') + 1;
    for (; column > 0; column--) csv = strchr(csv, ',') + 1;
    return strtod(csv, NULL);
}

Test(bench, ping_pong_csv)
{
    process_result result;
    double bytes = 8;

    run_bench("ping_pong --world raw,socket --max 4K --iters 50 --csv", &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(strncmp(result.out, HEADER, strlen(HEADER)), 0, "first line: %.80s", result.out);
    cr_assert(!result.err_bytes || strncmp(result.err, "note: other programs", 20) == 0, "%s", result.err);
    for (int line = 1; line <= 8; line += 2, bytes *= 8)
        for (int i = 0; i < 2; i++) {
            cr_expect_eq(cell(result.out, line + i, 1), bytes, "size of line %d:\n%s", line + i, result.out);
            cr_expect_leq(cell(result.out, line + i, 2), cell(result.out, line + i, 3));
            cr_expect_leq(cell(result.out, line + i, 3), cell(result.out, line + i, 4));
        }
    process_free(&result);
}

/* With ranks that a launcher has started: those that can use them do, on several hosts too; the others say why not. */
Test(bench, launched)
{
    static const char *const own[] = {"agreement", "death", "growth", "idle", "observing", "tracing", "waiting"};
    process_result result;
    char line[200];

    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        snprintf(line, sizeof line, "exec $L -n 2 $T/../bench/%s", own[i]);
        shell_run(line, NULL, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, "cannot use the launcher's ranks\n  try: it without a launcher");
        process_free(&result);
    }
    shell_run("exec $L -n 3 --world shm $T/../bench/ping_pong", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "is for 2 ranks, and the launcher has started 3\n  try: launch -n 2");
    process_free(&result);
    shell_run("exec $L -n 2 --world shm $T/../bench/ping_pong --max 8 --iters 5 --csv", NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_expect_gt(cell(result.out, 1, 3), 0, "%s", result.out);
    process_free(&result);
    shell_run("PAIRWISE_HOSTS=2 exec $L -n 4 --world shm $T/../bench/all_reduce --deal --algorithm ring,hierarchical "
              "--min 4K --max 4K --iters 2 --csv",
              NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_expect_eq(cell(result.out, 1, 17), 12288, "a ring that is dealt out: %s", result.out);
    cr_expect_eq(cell(result.out, 2, 17), 4096, "2(H-1)/H: %s", result.out);
    process_free(&result);
    shell_run("exec $L -n 2 --world shm $T/../bench/all_reduce --network 10GbE --max 8", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "the launcher's world has no virtual network\n  try: launch --network 10GbE");
    process_free(&result);
    shell_run("exec $L -n 2 --world shm $T/../bench/all_reduce --ranks 3 --max 8", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "the launcher has started 2\n  try: --ranks 2, or without it");
    cr_expect_null(strstr(strstr(result.err, "p2p_launch:") + 1, "p2p_launch:"), "said twice: %s", result.err);
    process_free(&result);
}

/* Figures are of the network that the ranks are on: a launcher's, which the program is told, and no other one. */
Test(bench, the_launchers_network)
{
    static const struct {
        const char *launcher, *program, *error;
    } cases[] = {
        {"--network 1GbE", "--network 100GbE", "the launcher's network is 1GbE, not 100GbE\n  try: launch --network"},
        {"--network 10GbE,hosts=2", "--network 10GbE", "the launcher's network is 10GbE,hosts=2, not 10GbE"},
        {"--network 10GbE,hosts=2", "--network 10GbE,hosts=1:3", "not 10GbE,hosts=1:3"},
        {"--network 10GbE,hosts=2", "--network 10GbE,hosts=2:2", NULL},
        {"--network 10GbE", "--network latency=20us,bandwidth=1.25G", NULL},
        {"--network 10GbE,hosts=2", "", NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        process_result result;
        char line[300];
        snprintf(line, sizeof line, "exec $L -n 4 %s $T/../bench/all_reduce %s --max 8 --iters 1", cases[i].launcher,
                 cases[i].program);
        shell_run(line, NULL, &result);
        ASSERT_STATUS(result, cases[i].error ? 2 : 0);
        if (cases[i].error) ASSERT_CONTAINS(result.err, cases[i].error);
        if (!cases[i].error) ASSERT_CONTAINS(result.out, *cases[i].program ? "network" : "10GbE,hosts=2");
        process_free(&result);
    }
}

/* Ranks that nothing observes beside those of --metrics and --record. */
Test(bench, observing)
{
    process_result result;

    run_bench("observing --laps 3 --csv", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "observed_by,bytes,us_median,ratio,ratio_q1,ratio_q3\n");
    cr_expect_eq(cell(result.out, 1, 3), 1, "%s", result.out);
    cr_expect_gt(cell(result.out, 2, 3), 0, "%s", result.out);
    process_free(&result);
}

Test(bench, growth)
{
    process_result result;

    run_bench("growth --ranks 1,5 --rounds 1 --csv", &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(strncmp(result.out, "ranks,start_ms,end_ms,us,least_us,memory_kib\n1,", 47), 0, "%s", result.out);
    cr_expect_eq(cell(result.out, 2, 0), 5);
    for (int column = 1; column <= 5; column++) cr_expect_gt(cell(result.out, 2, column), 0, "%s", result.out);
    process_free(&result);
}

/* Four ways to wait, and the hops that were timed. */
Test(bench, waiting)
{
    process_result result;

    run_bench("waiting --ranks 2 --csv", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "world,ranks,wait,us_hop,us_p99,cores,idle\n");
    ASSERT_CONTAINS(result.out, ",2,auto,");
    ASSERT_CONTAINS(result.out, ",2,sleep,");
    for (int line = 1; line <= 4; line++) cr_expect_gt(cell(result.out, line, 3), 0, "%s", result.out);
    process_free(&result);
}

Test(bench, ping_pong_for_people_and_as_json)
{
    process_result result;

    run_bench("ping_pong --world raw,socket --min 64K --max 1M --factor 16 --iters 5 --warmup 1", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "# ");
    ASSERT_CONTAINS(result.out, "socket against raw");
    process_free(&result);
    run_bench("ping_pong --world socket --max 8 --iters 5 --json", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "[\n  {\"world\": \"socket\", \"bytes\": 8, ");
    process_free(&result);
}

/* A name with commas is one field. */
Test(bench, texts_for_programs)
{
    process_result result;

    run_bench(
        "all_reduce --network latency=2us,bandwidth=12G --ranks 2 --max 8 --iters 2 --algorithm ring --csv --model "
        "/dev/fd/2",
        &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.err, "\n\"latency=2us,bandwidth=12G\",ring,2,8,");
    process_free(&result);
}

/* On one core, with a process that computes beside this one. */
Test(bench, a_busy_machine_is_told)
{
    char words[200] = "";
    cpu_set_t cores, one;
    size_t first = 0;

    cr_assert_eq(sched_getaffinity(0, sizeof cores, &cores), 0);
    while (!CPU_ISSET(first, &cores)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;) continue;
    }
    busy_begin();
    for (double end = process_now() + 1; process_now() < end;) continue;
    bool told = busy_words(words, sizeof words);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    cr_expect(told && strstr(words, " of 1 cores busy meanwhile"), "%s", words);
}

/* The header says which of both ways was measured; nothing is wrong in either. */
Test(bench, cold)
{
    static const char *const benches[][3] = {
        {"ping_pong --world shm --max 4K --factor 512 --iters 5", "# ping_pong: ", "# ping_pong, cold: "},
        {"all_reduce --world shm --ranks 2 --max 4K --factor 512 --iters 5",
         "# all_reduce, in place: ", "# all_reduce, in place, cold: "},
    };
    process_result result;
    char line[200];

    for (size_t i = 0; i < 4; i++) {
        snprintf(line, sizeof line, "%s%s", benches[i / 2][0], i % 2 ? " --cold" : "");
        run_bench(line, &result);
        ASSERT_STATUS(result, 0);
        ASSERT_CONTAINS(result.out, benches[i / 2][1 + i % 2]);
        if (i / 2 == 1) {
            ASSERT_CONTAINS(result.out, "# wrong elements: 0\n");
        } else {
            const char *row = strstr(result.out, "shm ");
            int wrong = -1;
            cr_assert(row && sscanf(row, "shm %*s %*s %*s %*s %*s %d", &wrong) == 1, "%s", result.out);
            cr_expect_eq(wrong, 0, "%s", result.out);
        }
        process_free(&result);
    }
}

Test(bench, wrong_arguments_exit_2_and_say_which)
{
    static const char *const commands[][2] = {
        {"ping_pong --world moon", "moon"},
        {"ping_pong --min 0", "--min"},
        {"ping_pong --min 4K --max 1K", "4096"},
        {"ping_pong --max 3Q", "3Q"},
        {"ping_pong --factor 1", "--factor"},
        {"ping_pong --iters -3", "--iters"},
        {"ping_pong extra", "extra"},
        {"ping_pong --bogus", "bogus"},
        {"death --repeat 0", "--repeat"},
        {"idle --ranks 0", "--ranks"},
    };
    process_result result;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        run_bench(commands[i][0], &result);
        cr_expect_eq(result.status, 2, "%s: status %d", commands[i][0], result.status);
        cr_expect(strstr(result.err, commands[i][1]), "%s: %s", commands[i][0], result.err);
        process_free(&result);
    }
}

/* Meant: under 100 ms for a death, under a second for a deadlock. */
Test(bench, death_is_known_in_time)
{
    process_result result;

    run_bench("death --repeat 1 --csv", &result);
    ASSERT_STATUS(result, 0);
    for (int line = 1; line <= 6; line++)
        cr_expect_lt(cell(result.out, line, 4), line <= 3 ? 1000 : 10000, "line %d of:\n%s", line, result.out);
    process_free(&result);
}

/* Meant: under 2 % of a core. */
Test(bench, waiting_is_cheap)
{
    process_result result;

    run_bench("idle --seconds 1 --csv", &result);
    ASSERT_STATUS(result, 0);
    cr_expect_lt(cell(result.out, 1, 4), 20, "%s", result.out);
    process_free(&result);
}
