/* SPDX-License-Identifier: MIT */
/*
 * bench: the programs of bench/ print what others parse, refuse what they do not understand, and their figures are
 * within ten times of what is meant. Figures themselves are no test's business.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/util/suite.h"

#define HEADER "world,bytes,us_min,us_median,us_p99,GBps,limit_us,x_limit\n"

static void run_bench(const char *command, process_result *result)
{
    char line[512];

    snprintf(line, sizeof line, "exec $T/../bench/%s", command);
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
    cr_assert_eq(result.err_bytes, 0, "%s", result.err);
    for (int line = 1; line <= 8; line += 2, bytes *= 8)
        for (int i = 0; i < 2; i++) {
            cr_expect_eq(cell(result.out, line + i, 1), bytes, "size of line %d:\n%s", line + i, result.out);
            cr_expect_leq(cell(result.out, line + i, 2), cell(result.out, line + i, 3));
            cr_expect_leq(cell(result.out, line + i, 3), cell(result.out, line + i, 4));
        }
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
