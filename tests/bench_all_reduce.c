/* SPDX-License-Identifier: MIT */
// worlds: last; alone; plain
/*
 * bench_all_reduce: what bench/all_reduce prints can be parsed and is right: the header, the rows, nothing wrong,
 * counts as the algorithms' formulas have them, bandwidths in the right units, virtual times as the textbooks have
 * them. How fast anything is here is no test's business.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/util/bandwidth.h"
#include "tests/util/suite.h"

#define HEADER                                                                                                    \
    "world,algorithm,ranks,bytes,count,dtype,op,us_min,us_median,us_p99,algbw_GBps,busbw_GBps,max_messages_sent," \
    "max_bytes_sent,wrong"
#define LIMITS ",limit_us,x_limit"

enum {
    ALGORITHM = 1,
    RANKS,
    BYTES,
    COUNT,
    US_MIN = 7,
    US_MEDIAN,
    US_P99,
    ALGBW,
    BUSBW,
    MESSAGES,
    SENT,
    WRONG,
    VIRTUAL,
    LIMIT = VIRTUAL
};

static void run_bench(const char *options, process_result *result)
{
    char line[512];

    snprintf(line, sizeof line, "exec $T/../bench/all_reduce %s", options);
    setenv("COLUMNS", "200", 1); /* whole tables */
    shell_run(line, NULL, result);
}

/* Where this column (from 0) of this line (from 1, behind the header) of CSV begins; "" if there is no such line. */
static const char *text(const char *csv, int line, int column)
{
    const char *at = csv;

    for (; line > 0 && at; line--) at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
    for (; column > 0 && at; column--) at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
    return at ? at : "";
}

static double cell(const char *csv, int line, int column)
{
    return strtod(text(csv, line, column), NULL);
}

static int count_lines(const char *csv)
{
    int lines = 0;

    for (; *csv; csv++) lines += *csv == '\n';
    return lines;
}

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

/* The factor of all-reduce is that of the operation: 2(n-1)/n. */
Test(bench_all_reduce, busbw_factor)
{
    cr_expect_eq(bandwidth_all_reduce_factor(1), 0);
    cr_expect_eq(bandwidth_all_reduce_factor(2), 1);
    cr_expect(is_near(bandwidth_all_reduce_factor(3), 4.0 / 3, 1e-12));
    cr_expect_eq(bandwidth_all_reduce_factor(4), 1.5);
    cr_expect_eq(bandwidth_all_reduce_factor(8), 1.75);
    cr_expect_eq(bandwidth_GBps(1000000000, 1e6), 1);
}

Test(bench_all_reduce, csv)
{
    process_result result;

    run_bench("--ranks 3 --max 4K --iters 6 --csv", &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(strncmp(result.out, HEADER LIMITS "\n", strlen(HEADER LIMITS "\n")), 0, "first line: %.200s",
                 result.out);
    cr_assert(!result.err_bytes || strncmp(result.err, "note: other programs", 20) == 0, "%s", result.err);
    cr_assert_eq(count_lines(result.out), 1 + 4 * 5, "%s", result.out);
    for (int line = 1; line <= 20; line++) {
        double bytes = cell(result.out, line, BYTES), us = cell(result.out, line, US_MEDIAN);
        cr_expect_eq(cell(result.out, line, WRONG), 0);
        cr_expect_eq(cell(result.out, line, COUNT) * 4, bytes);
        cr_expect(cell(result.out, line, US_MIN) <= us && us <= cell(result.out, line, US_P99));
        cr_expect(fabs(cell(result.out, line, ALGBW) - bandwidth_GBps((size_t)bytes, us)) <
                  2e-6 + 1e-3 * bytes / us * 1e-3);
        cr_expect_gt(cell(result.out, line, LIMIT), 0);
        cr_expect(is_near(cell(result.out, line, LIMIT + 1), us / cell(result.out, line, LIMIT), 0.2),
                  "distance from the limit:\n%s", result.out);
        cr_expect(fabs(cell(result.out, line, BUSBW) - cell(result.out, line, ALGBW) * 4 / 3) < 2e-6);
    }
    process_free(&result);
}

/* Worlds side by side: a table with both, and the plain name says what it took. */
Test(bench_all_reduce, two_worlds)
{
    process_result result;

    run_bench("--ranks 2 --world socket,shm --algorithm auto --max 64 --iters 5 --csv", &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(count_lines(result.out), 1 + 2 * 2, "%s", result.out);
    ASSERT_CONTAINS(result.out, "\nsocket,auto,2,8,");
    ASSERT_CONTAINS(result.out, "\nshm,auto,2,64,");
    process_free(&result);
    run_bench("--ranks 2 --world shm --algorithm auto --max 64 --iters 5", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "# auto took one-shot (8 B), one-shot (64 B)\n");
    ASSERT_CONTAINS(result.out, "# limit, measured in this run");
    process_free(&result);
}

/* Of one operation's payload, by the busiest rank; 4 ranks and 4096 bytes. */
Test(bench_all_reduce, counts)
{
    static const double want[][2] = {{3, 3 * 4096}, {2, 2 * 4096}, {2, 2 * 4096}, {6, 6 * 1024}};
    process_result result;

    run_bench("--ranks 4 --algorithm naive,tree,recursive-doubling,ring --min 4K --max 4K --iters 1 --csv", &result);
    ASSERT_STATUS(result, 0);
    for (int line = 1; line <= 4; line++) {
        cr_expect_eq(cell(result.out, line, MESSAGES), want[line - 1][0], "line %d of:\n%s", line, result.out);
        cr_expect_eq(cell(result.out, line, SENT), want[line - 1][1], "line %d of:\n%s", line, result.out);
    }
    process_free(&result);
}

/* 1 us and 1 GB/s, combining for nothing: 8 ranks, 1 MiB. The ring's factor over naive comes to nearly n. */
Test(bench_all_reduce, virtual_time)
{
    const double bytes = 1048576, message = 1 + bytes / 1e3, chunk = 1 + bytes / 8 / 1e3;
    process_result result;

    run_bench(
        "--ranks 8 --algorithm naive,ring --min 1M --max 1M --network latency=1us,bandwidth=1G,reduce=1000000G --csv",
        &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(strncmp(result.out, HEADER ",virtual_us\n", strlen(HEADER ",virtual_us\n")), 0, "%.200s", result.out);
    cr_expect(is_near(cell(result.out, 1, VIRTUAL), 14 * message, 0.01), "%s", result.out);
    cr_expect(is_near(cell(result.out, 2, VIRTUAL), 14 * chunk, 0.01), "%s", result.out);
    process_free(&result);
}

/* Two hosts of two ranks: a ring numbered host by host sends 2(n-1)/n of 4096 bytes out of each host, a dealt-out one twice
 * that, and takes about twice as long; hierarchical 2(H-1)/H in any case, and auto is hierarchical for long buffers. */
Test(bench_all_reduce, hosts)
{
    enum { LEFT = VIRTUAL + 1 };
    static const char head[] = HEADER ",virtual_us,max_bytes_left_host\n";
    static const double want[][2] = {{6144, 12288}, {4096, 4096}};
    double took[2];

    for (int dealt = 0; dealt < 2; dealt++) {
        process_result result;
        run_bench(dealt
                      ? "--ranks 4 --algorithm ring,hierarchical --min 4K --max 4K --network 10GbE,hosts=2 --csv --deal"
                      : "--ranks 4 --algorithm ring,hierarchical --min 4K --max 4K --network 10GbE,hosts=2 --csv",
                  &result);
        ASSERT_STATUS(result, 0);
        cr_assert_eq(strncmp(result.out, head, strlen(head)), 0, "%.200s", result.out);
        for (int line = 1; line <= 2; line++)
            cr_expect_eq(cell(result.out, line, LEFT), want[line - 1][dealt], "line %d of:\n%s", line, result.out);
        took[dealt] = cell(result.out, 1, VIRTUAL);
        process_free(&result);
    }
    cr_expect(took[1] > 1.5 * took[0], "dealt out a ring takes %g us, host by host %g us", took[1], took[0]);
    process_result result;
    run_bench("--ranks 4 --algorithm ring,auto --min 1M --max 1M --network 10GbE,hosts=2", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "# auto took hierarchical (1048576 B)");
    ASSERT_CONTAINS(result.out, "numbered host by host");
    ASSERT_CONTAINS(result.out, "#     auto               1.000 buffers");
    process_free(&result);
}

Test(bench_all_reduce, types_and_operators_for_people_and_as_json)
{
    process_result result;

    run_bench("--ranks 3 --world socket --max 1K --dtype i64 --op max --iters 2 --json", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out,
                    "[\n  {\"world\": \"socket\", \"algorithm\": \"naive\", \"ranks\": 3, \"bytes\": 8, \"count\": 1, "
                    "\"dtype\": \"i64\", \"op\": \"max\"");
    process_free(&result);
    run_bench("--ranks 2 --dtype u8 --op prod --algorithm naive,ring --min 5 --max 1K --iters 2", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "#wrong");
    ASSERT_CONTAINS(result.out, "busbw is algbw x 2(n-1)/n = 1.000");
    ASSERT_CONTAINS(result.out, "The ring's factor over naive is");
    process_free(&result);
}

Test(bench_all_reduce, every_type_with_every_operator)
{
    static const char *const types[] = {"f32", "f64", "i32", "i64", "u8"};
    static const char *const ops[] = {"sum", "min", "max", "prod", "mean"};
    process_result result;
    char options[100];

    for (int i = 0; i < 5; i++)
        for (int k = 0; k < (i < 2 ? 5 : 4); k++) {
            snprintf(options, sizeof options, "--ranks 3 --dtype %s --op %s --min 9K --max 9K --iters 1 --csv",
                     types[i], ops[k]);
            run_bench(options, &result);
            ASSERT_STATUS(result, 0);
            cr_expect_eq(count_lines(result.out), 6, "%s", result.out);
            process_free(&result);
        }
}

Test(bench_all_reduce, wrong_arguments_exit_2_and_say_which)
{
    static const char *const commands[][2] = {
        {"--algorithm moon", "moon"},
        {"--ranks 0", "--ranks"},
        {"--world moon", "moon"},
        {"--network moon", "moon"},
        {"--dtype f31", "f31"},
        {"--op xor", "xor"},
        {"--op mean --dtype i32", "mean"},
        {"--min 2", "one element"},
        {"--min 4K --max 1K", "4096"},
        {"--max 3Q", "3Q"},
        {"--factor 1", "--factor"},
        {"--iters 0", "--iters"},
        {"extra", "extra"},
        {"--bogus", "bogus"},
        {"--algorithm ,", "--algorithm"},
    };
    process_result result;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        run_bench(commands[i][0], &result);
        cr_expect_eq(result.status, 2, "%s: status %d", commands[i][0], result.status);
        cr_expect(strstr(result.err, commands[i][1]), "%s: %s", commands[i][0], result.err);
        cr_expect_eq(result.out_bytes, 0, "%s: %s", commands[i][0], result.out);
        process_free(&result);
    }
}
