/* SPDX-License-Identifier: MIT */
// worlds: last
/*
 * orders: launch --explore runs a program in every order that its messages may come in, each once (tests/right/orders.c has
 * programs whose orders can be counted); --schedule plays one again. What takes longer is in tests/all/orders.sh.
 */
#include <stdio.h>

#include "tests/util/report.h"
#include "tests/util/suite.h"

static void explore(const char *options, int ranks, const char *program, process_result *result)
{
    char line[500];

    snprintf(line, sizeof line, "exec $L --explore%s -n %d $T/right/orders %s", options, ranks, program);
    shell_run(line, NULL, result);
}

/* ---- Counts ---- */

static void expect_count(int ranks, const char *program, int count)
{
    process_result result;
    char words[80];

    explore("", ranks, program, &result);
    ASSERT_STATUS(result, 0);
    snprintf(words, sizeof words, count == 1 ? "there is one order, and it is right" : "all %d orders are right\n",
             count);
    ASSERT_CONTAINS(result.out, words);
    process_free(&result);
}

Test(orders, of_receives_from_any_source)
{
    expect_count(4, "gather 1", 6);  /* 3! */
    expect_count(3, "gather 2", 6);  /* 4! / (2! 2!): messages of one sender do not overtake */
    expect_count(3, "gather 3", 20); /* 6! / (3! 3!) */
    expect_count(4, "apart", 4);     /* 2! on each of two ranks */
    expect_count(3, "selective", 2);
}

Test(orders, of_receives_posted_before)
{
    expect_count(4, "posted 1", 6);
    expect_count(3, "posted 2", 6);
}

Test(orders, of_probes_and_waits_for_any)
{
    expect_count(4, "probed 1", 6);
    expect_count(4, "any 1", 6);
}

Test(orders, of_polls)
{
    expect_count(2, "poll", 2);
    expect_count(2, "test", 2);
    expect_count(2, "until", 5); /* found at once, after one look in vain, two, three, or as late as can be */
    expect_count(3, "asks", 5);  /* what sleeps while a rank looks in vain: that run is like another one */
}

/* A sender may be slow: the first order that is not the first one overlooks its message for as long as rank 0 looks. */
Test(orders, in_which_a_poll_gives_up)
{
    static const char *const looks[] = {"patient 1", "patient 4", "patient 1000"};

    for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
        process_result result;
        explore("", 2, looks[i], &result);
        ASSERT_STATUS(result, 1);
        ASSERT_CONTAINS(result.out, "order 2 of this program is wrong");
        ASSERT_CONTAINS(result.out, "then it printed\n    given up\n");
        process_free(&result);
    }
}

Test(orders, polls_that_are_bounded_are_told)
{
    process_result result;

    explore("", 2, "until", &result);
    ASSERT_CONTAINS(result.out, "polls are bounded: each sees what has come at once, after one to three looks in vain, "
                                "or as late as can be\n");
    process_free(&result);
    explore("", 2, "poll", &result);
    cr_expect(!strstr(result.out, "bounded"), "%s", result.out);
    process_free(&result);
}

/* Each sends to the next one, and receives what a probe has found, until a barrier says that all has been received. */
Test(orders, of_a_sparse_exchange)
{
    process_result result;

    shell_run("exec $L --explore=130 -n 2 $T/mpi/right/any_source exchange", NULL, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, " orders are right\npolls are bounded: ");
    process_free(&result);
    /* With sends that do not wait for their receives the barrier says nothing. */
    shell_run("exec $L --explore -n 2 $T/mpi/right/any_source exchange_early", NULL, &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "1 unreceived message");
    cr_expect(strlen(strstr(result.out, "to see it again")) < 400, "%s", result.out);
    process_free(&result);
}

Test(orders, of_what_comes_later)
{
    expect_count(4, "caused", 6);   /* the first message was sent before the others, but may come after them */
    expect_count(4, "answered", 2); /* it was received before the others were sent */
    expect_count(5, "behind", 4);
}

Test(orders, one_where_nothing_is_left_open)
{
    expect_count(2, "tags", 1);
}

Test(orders, of_mpi_programs)
{
    /* Of polls as many orders as there are looks in vain in the time that searches have (0: not counted). */
    static const struct {
        const char *how;
        int count;
    } list[] = {
        {"receive", 6}, {"any", 6}, {"probe", 6}, {"poll", 0}, {"some", 13}, /* the ordered partitions of 3 */
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        process_result result;
        char line[200], words[80] = " orders are right\n";
        snprintf(line, sizeof line, "exec $L --explore -n 4 $T/mpi/right/any_source %s", list[i].how);
        if (list[i].count) snprintf(words, sizeof words, "all %d orders are right\n", list[i].count);
        shell_run(line, NULL, &result);
        ASSERT_STATUS(result, 0);
        ASSERT_CONTAINS(result.out, words);
        process_free(&result);
    }
}

/* ---- What is wrong ---- */

Test(orders, a_deadlock_in_one_of_them_is_found_and_played_again)
{
    process_result result;

    explore("", 5, "last", &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "order 24 of this program is wrong");
    ASSERT_CONTAINS(result.out, "tests/right/orders.c:");
    ASSERT_CONTAINS(result.out, "took the message of rank 4; there as well: of ranks 1-3");
    ASSERT_CONTAINS(result.out, "rank 0 waits in p2p_recv(source 1, any tag)");
    process_free(&result);
    shell_run("s=$($L --explore --quiet -n 5 $T/right/orders last); [ $? = 1 ] || exit 9\n"
              "for i in 1 2 3 4 5; do $L --schedule $s -n 5 $T/right/orders last 2>/dev/null; echo $?; done",
              NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_expect_str_eq(result.out, "1\n1\n1\n1\n1\n");
    process_free(&result);
}

Test(orders, output_that_differs)
{
    process_result result;

    shell_run("$L --explore --report $$.json -n 3 $T/right/orders prints; e=$?\n"
              "grep -o '\"class\":\"message_race\"' $$.json; rm $$.json; exit $e",
              NULL, &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "then it printed\n    from 2\n    from 1\n");
    ASSERT_CONTAINS(result.out, "in the first order\n    from 1\n    from 2\n");
    ASSERT_CONTAINS(result.out, "\"class\":\"message_race\"");
    process_free(&result);
    shell_run("$L --schedule $($L --explore --quiet -n 3 $T/right/orders prints) -n 3 $T/right/orders prints", NULL,
              &result);
    ASSERT_STATUS(result, 0);
    cr_expect_str_eq(result.out, "from 2\nfrom 1\n3\n");
    process_free(&result);
}

Test(orders, a_trace_of_an_order_shows_its_choices)
{
    process_result result;

    shell_run("s=$($L --explore --quiet -n 3 $T/right/orders prints)\n"
              "$L --schedule $s --trace $$.json -n 3 $T/right/orders prints\n"
              "grep -o '\"chosen\":[0-9]*,\"options\":[^]]*]' $$.json; rm $$.json",
              NULL, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "\"chosen\":2,\"options\":[1,2]\n\"chosen\":1,\"options\":[1]\n");
    process_free(&result);
}

Test(orders, a_race_of_an_mpi_program)
{
    process_result result;

    shell_run("exec $L --explore -n 3 $T/mpi/wrong/race", NULL, &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "did not wait for its receive: it was buffered");
    ASSERT_CONTAINS(result.out, "took the message of rank 2");
    ASSERT_CONTAINS(result.out, "rank 0 waits in MPI_Recv(source 2, tag 0)");
    process_free(&result);
}

Test(orders, a_race_that_does_not_matter_is_benign)
{
    process_result result;

    explore("", 3, "gather 1", &result);
    ASSERT_CONTAINS(result.out, "a benign message race: the output is the same in each\n");
    process_free(&result);
}

Test(orders, output_that_is_not_the_same_twice_is_not_compared)
{
    process_result result;

    explore("", 3, "unsteady", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "all 2 orders are right\n");
    ASSERT_CONTAINS(result.out, "what it prints was not compared: it is not the same twice in the same order\n");
    process_free(&result);
}

Test(orders, a_program_that_depends_on_more_is_told)
{
    process_result result;

    shell_run("touch $$.there; $L --explore -n 3 $T/right/orders toggles $$.there; e=$?; rm -f $$.there; exit $e", NULL,
              &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.err, "the program did something else in the same order");
    process_free(&result);
}

Test(orders, ranks_that_poll_for_ever)
{
    process_result result;

    /* For an hour: however slow the machine is, the launcher has counted its polls before. */
    shell_run("exec $L --explore -n 3 $T/wrong/only_polling 3600", NULL, &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "deadlock: every rank polls or waits, and nothing is on its way:");
    process_free(&result);
}

Test(orders, a_send_need_not_be_buffered)
{
    process_result result;

    explore("", 2, "exchange", &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "the first order that was run is wrong already");
    ASSERT_CONTAINS(result.out, "deadlock: ranks 0 and 1 wait for each other");
    process_free(&result);
}

Test(orders, one_at_random)
{
    process_result result;

    /* The same seed gives the same order; of 4! some seed gives another. */
    shell_run("for i in 1 1 2 3 4 5 6 7 8; do $L --seed $i -n 5 $T/right/orders prints | tr '\\n' ' '; echo; done",
              NULL, &result);
    ASSERT_STATUS(result, 0);
    size_t line = strcspn(result.out, "\n") + 1;
    cr_assert(strncmp(result.out, result.out + line, line) == 0, "%s", result.out);
    bool differs = false;
    for (const char *at = result.out; *at; at += line) differs = differs || strncmp(at, result.out, line) != 0;
    cr_expect(differs, "%s", result.out);
    process_free(&result);
}

/* ---- Bounds, and what is refused ---- */

Test(orders, not_all_of_them)
{
    process_result result;

    explore("=3", 4, "gather 1", &result);
    ASSERT_STATUS(result, 3);
    ASSERT_CONTAINS(result.out, "not finished: 3 of at least");
    process_free(&result);
    explore("=10 --seed 1", 4, "gather 1", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "10 runs in random order");
    process_free(&result);
}

/* The second order never ends. */
Test(orders, the_time_is_over_in_the_middle_of_one)
{
    process_result result;

    explore(" 1s", 3, "spins", &result);
    ASSERT_STATUS(result, 3);
    ASSERT_CONTAINS(result.out,
                    "not finished: 1 of at least 2 orders are right\nin the next one the time was over; there\n");
    ASSERT_CONTAINS(result.out, "computes; its last call was p2p_recv(any source");
    process_free(&result);
    explore(" --timeout 1", 3, "spins", &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "order 2 of this program is wrong");
    ASSERT_CONTAINS(result.out, "the time limit of 1 s is over");
    process_free(&result);
}

Test(orders, a_schedule_of_something_else_is_refused)
{
    static const struct {
        const char *command, *words;
    } list[] = {
        {"$L --schedule $s -n 4 $T/right/orders gather 1", "this schedule is of 3 ranks, not of 4\n  try: -n 3"},
        {"$L --schedule $s -n 3 $T/right/orders gather 2", "of another program than "},
        {"$L --schedule $s -n 3 $T/right/actor lines 1 1", "of another program than "},
        {"$L --schedule ${s}! -n 3 $T/right/orders gather 1", "is a schedule that was changed"},
        {"$L --schedule ${s}.12 -n 3 $T/right/orders gather 1", "is a schedule that was changed"},
        {"$L --schedule ${s}.9999999. -n 3 $T/right/orders gather 1", "is a schedule that was changed"},
        {"$L --schedule ${s}_ -n 3 $T/right/orders gather 1", "is a schedule that was changed"},
        {"$L --schedule ${s}_75_ -n 3 $T/right/orders gather 1",
         "the schedule asks for what this program cannot do there"},
        {"$L --schedule ${s}z -n 3 $T/right/orders gather 1",
         "the schedule asks for what this program cannot do there"},
        {"$L --schedule x -n 3 $T/right/orders gather 1", "\"x\" is no schedule"},
        {"$L --schedule o9${s#o2} -n 3 $T/right/orders gather 1", "of another version of Pairwise"},
        {"$L --explore --schedule $s -n 3 $T/right/orders", "one of them"},
        {"$L --explore -n 3 true", "no rank has called p2p_init"},
        {"$L --explore=soon -n 3 $T/right/orders", "a number of runs, such as 500, or a time, such as 30s"},
        {"$L --quiet -n 3 $T/right/orders", "--quiet goes with --explore"},
        {"$L --seed 3 --schedule $s -n 3 $T/right/orders", "one of them"},
        {"$L --explore --trace t.json -n 3 $T/right/orders", "--trace and the like go with --schedule"},
        {"$L --explore --strict -n 3 $T/right/orders", "not with --strict"},
        {"$L --seed 1 --repair 2 -n 3 $T/right/orders", "not with --repair"},
        {"PAIRWISE_HOSTS=2 $L --explore -n 3 $T/right/orders", "orders are explored on one host"},
    };

    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        process_result result;
        char line[1000];
        snprintf(line, sizeof line, "s=$($L --explore --quiet -n 3 $T/right/orders gather 1)\n%s", list[i].command);
        shell_run(line, NULL, &result);
        ASSERT_STATUS(result, 2);
        ASSERT_CONTAINS(result.err, list[i].words);
        process_free(&result);
    }
}
