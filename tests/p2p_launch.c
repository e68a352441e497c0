/* SPDX-License-Identifier: MIT */
// worlds: each; hosts
/*
 * p2p_launch: the process that supervises. p2p_launch from a program, build/launch from a shell: exit statuses,
 * output, input, and nothing left behind. $L is the launcher, $T/right/actor a program whose ranks do as they are told.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/shared/config.h"
#include "p2p/shared/control.h"
#include "tests/util/suite.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- The control socket ---- */

/* A rank that ends with a message unread: the socket says that first, and then gives what the rank has sent. */
Test(control, what_a_rank_has_said_comes_though_it_left_a_message_unread)
{
    int ends[2];
    control_message message = {0, 0, 0};

    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    cr_expect(p2p__control_send(ends[0], (control_message){CONTROL_WAKE, 1, 0}, -1));
    cr_expect(p2p__control_send(ends[1], (control_message){CONTROL_FATAL, 2, 3}, -1));
    close(ends[1]);
    cr_expect_eq(p2p__control_receive(ends[0], &message, NULL, NULL), 1);
    cr_expect(message.type == CONTROL_FATAL && message.rank == 2 && message.value == 3);
    cr_expect_eq(p2p__control_receive(ends[0], &message, NULL, NULL), -1, "nothing is left");
    close(ends[0]);
}

/* ---- p2p_launch: results ---- */

static int rank_is_exit_code(p2p_comm *world, void *arg)
{
    int first_bad = *(int *)arg;
    int rank = p2p_rank(world);

    return rank >= first_bad ? 10 + rank : 0;
}

Test(p2p, launch_gives_each_rank_s_exit_code)
{
    int first_bad = 2;
    job_result result;

    job_run(4, NULL, rank_is_exit_code, &first_bad, &result);
    cr_expect_eq(result.err, P2P_ERR_RANK_FAILED);
    cr_expect(result.exit_status == 12 || result.exit_status == 13, "exit status %d", result.exit_status);
    for (int r = 0; r < 4; r++)
        cr_expect_eq(result.statuses[r], r < 2 ? 0 : 10 + r, "rank %d: %d", r, result.statuses[r]);
    job_free(&result);
}

static int fall_silent(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);
    char byte;

    (void)arg;
    p2p_set_errors(world, P2P_ERRORS_RETURN);
    if (rank == 1) raise(SIGKILL);
    RETURNS(P2P_ERR_PEER_DEAD, p2p_recv(world, &byte, 1, 1, 0, NULL));
    return 0;
}

Test(p2p, launch_gives_128_and_the_signal)
{
    job_result result;

    job_run(3, NULL, fall_silent, NULL, &result);
    cr_expect_eq(result.err, P2P_ERR_RANK_FAILED);
    cr_expect_eq(result.exit_status, 128 + SIGKILL, "exit status %d", result.exit_status);
    cr_expect_eq(result.statuses[1], 128 + SIGKILL, "rank 1: %d", result.statuses[1]);
    cr_expect_str_eq(result.note, "");
    job_free(&result);
}

static int do_nothing(p2p_comm *world, void *arg)
{
    (void)world, (void)arg;
    return 0;
}

/* Nothing is forked, so this can run in the test's own process. */
Test(p2p, launch_refuses_bad_arguments)
{
    p2p_options unknown = {.world = "carrier-pigeon"};

    cr_expect_eq(p2p_launch(0, do_nothing, NULL, NULL), P2P_ERR_ARG);
    cr_expect_eq(p2p_launch(-1, do_nothing, NULL, NULL), P2P_ERR_ARG);
    cr_expect_eq(p2p_launch(P2P_MAX_RANKS + 1, do_nothing, NULL, NULL), P2P_ERR_ARG);
    cr_expect_eq(p2p_launch(2, NULL, NULL, NULL), P2P_ERR_ARG);
    cr_expect_eq(p2p_launch(2, do_nothing, NULL, &unknown), P2P_ERR_ARG);
    cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "a child was forked");
}

static int refuse_to_nest(p2p_comm *world, void *arg)
{
    (void)world;
    RETURNS(P2P_ERR_STATE, p2p_launch(2, do_nothing, arg, NULL));
    return 0;
}

Test(p2p, launch_inside_a_rank_is_refused)
{
    job_result result;

    job_run(2, NULL, refuse_to_nest, NULL, &result);
    cr_expect_eq(result.err, P2P_OK, "%s: %s", p2p_strerror(result.err), result.note);
    job_free(&result);
}

/* ---- p2p_launch: the caller is as it was ---- */

static int talk(p2p_comm *world, void *arg)
{
    int size = p2p_size(world), rank = p2p_rank(world), got;

    (void)arg;
    for (int d = 1; d < size; d++)
        CALL(p2p_sendrecv(world, &rank, sizeof rank, (rank + d) % size, 0, &got, sizeof got, (rank + size - d) % size,
                          0, NULL));
    return 0;
}

/* In a child, for the launcher may want to see every descriptor of its own. Code: what has changed. */
static int launch_often(void *arg)
{
    struct sigaction before[NSIG], after;
    int files = process_open_files();
    sigset_t blocked, now_blocked;

    sigprocmask(SIG_BLOCK, NULL, &blocked);
    for (int s = 1; s < NSIG; s++) sigaction(s, NULL, &before[s]);
    for (int i = 0; i < 20; i++)
        if (p2p_launch(4, talk, arg, NULL)) return 10;
    if (process_open_files() != files) return 11;
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) return 12;
    sigprocmask(SIG_BLOCK, NULL, &now_blocked);
    if (memcmp(&blocked, &now_blocked, sizeof blocked) != 0) return 13;
    for (int s = 1; s < NSIG; s++)
        if (sigaction(s, NULL, &after) == 0 && after.sa_handler != before[s].sa_handler) return 14;
    return 0;
}

Test(p2p, twenty_launches_leave_nothing_changed)
{
    process_result result;

    process_run(launch_often, NULL, NULL, 60, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

static int have_a_child(p2p_comm *world, void *arg)
{
    (void)world, (void)arg;
    if (fork() == 0)
        for (;;) pause();
    return 0;
}

Test(p2p, what_ranks_forked_goes_with_them)
{
    ASSERT_RIGHT(job_right(3, false, have_a_child, NULL));
}

/* The supervisor dies: its ranks must not outlive it. */
static int sit(p2p_comm *world, void *arg)
{
    (void)arg;
    if (p2p_rank(world) == 0) printf("ready\n");
    while (pause()) continue;
    return 0;
}

static int launch_sitters(void *arg)
{
    return p2p_launch(4, sit, arg, NULL) ? 1 : 0;
}

Test(p2p, ranks_do_not_outlive_their_supervisor)
{
    process program;
    process_result result;

    process_start(launch_sitters, NULL, &program);
    cr_assert(process_read_until(program.out, "ready\n"));
    kill(program.pid, SIGKILL);
    process_finish(&program, &result);
    ASSERT_STATUS(result, 128 + SIGKILL);
    process_free(&result);
}

/* ---- build/launch: exit status ---- */

typedef struct {
    int status;
    const char *command;
    const char *says; /* in what it writes to stderr; NULL: nothing in particular */
} outcome;

static void expect_outcomes(const outcome *list, size_t count)
{
    process_result result;

    for (size_t i = 0; i < count; i++) {
        shell_run(list[i].command, NULL, &result);
        cr_expect(result.status == list[i].status && !result.late && result.left_behind == 0,
                  "%s\nstatus %d, expected %d; %d left behind\n%.3000s", list[i].command, result.status, list[i].status,
                  result.left_behind, result.err);
        cr_expect(!list[i].says || strstr(result.err, list[i].says), "%s\nexpected to see \"%s\" in:\n%.3000s",
                  list[i].command, list[i].says, result.err);
        process_free(&result);
    }
}

Test(p2p, status_of_ranks_that_end_well_or_badly)
{
    static const outcome list[] = {
        {0, "exec $L -n 3 $T/right/actor exit 1 0", NULL},
        {3, "exec $L -n 3 $T/right/actor exit 1 3", NULL},
        {3, "exec $L -n 3 $T/right/actor leave 1 3", "rank 1"},
        {1, "exec $L -n 3 $T/right/actor leave 1 0", "finalize"},
        {128 + SIGKILL, "exec $L -n 3 $T/right/actor kill 2 9", "rank 2"},
        {128 + SIGSEGV, "exec $L -n 3 $T/right/actor kill 0 11", "rank 0"},
        {128 + SIGABRT, "exec $L -n 2 $T/right/actor kill 1 6", "signal 6"},
        {1, "exec $L -n 2 $T/right/actor mistake", "4242"},
        {1, "exec $L -n 3 $T/right/actor deadlock", "deadlock"},
        {9, "exec $L -n 3 $T/right/actor abort 1 9", "rank 1"},
        {1, "exec $L -n 3 $T/right/actor abort 1 0", "rank 1"},
    };

    expect_outcomes(list, COUNT(list));
}

Test(p2p, status_2_for_a_wrong_command_line)
{
    static const outcome list[] = {
        {2, "exec $L -n abc $T/right/actor exit 0 0", "abc"},
        {2, "exec $L -n 0 $T/right/actor exit 0 0", "0"},
        {2, "exec $L -n -1 $T/right/actor exit 0 0", "-1"},
        {2, "exec $L -n 1025 $T/right/actor exit 0 0", "1024"},
        {2, "exec $L -n 99999999999999999999 $T/right/actor exit 0 0", NULL},
        {2, "exec $L -n 2x $T/right/actor exit 0 0", "2x"},
        {2, "exec $L -n 2", NULL},
        {2, "exec $L", NULL},
        {2, "exec $L -n 2 --no-such-option $T/right/actor exit 0 0", "no-such-option"},
        {2, "exec $L -n 2 --world carrier-pigeon $T/right/actor exit 0 0", "carrier-pigeon"},
        {2, "exec $L -n 2 --timeout soon $T/right/actor exit 0 0", "soon"},
        {2, "exec $L -n 2 --debug 2 $T/right/actor exit 0 0", "2"},
    };

    expect_outcomes(list, COUNT(list));
}

Test(p2p, bad_settings_are_named)
{
    static const outcome list[] = {
        {2, "PAIRWISE_TIMEOUT=abc exec $L -n 2 $T/right/actor exit 0 0", "PAIRWISE_TIMEOUT"},
        {2, "PAIRWISE_STRICT=perhaps exec $L -n 2 $T/right/actor exit 0 0", "PAIRWISE_STRICT"},
        {2, "PAIRWISE_EAGER=-1 exec $L -n 2 $T/right/actor exit 0 0", "PAIRWISE_EAGER"},
        {2, "PAIRWISE_WORLD=moon exec $L -n 2 $T/right/actor exit 0 0", "moon"},
        {2, "PAIRWISE_TIMOUT=1 exec $L -n 2 $T/right/actor exit 0 0", "did you mean PAIRWISE_TIMEOUT?"},
        {2, "PAIRWISE_WORDL=shm exec $L -n 2 $T/right/actor exit 0 0", "did you mean PAIRWISE_WORLD?"},
        {2, "PAIRWISE_SOMETHING_ELSE=1 exec $L -n 2 $T/right/actor exit 0 0", "PAIRWISE_SOMETHING_ELSE"},
        {0, "PAIRWISE_DEVICE=cpu PAIRWISE_CACHE=/tmp exec $L -n 2 $T/right/actor exit 0 0", NULL},
    };

    expect_outcomes(list, COUNT(list));
}

static int never(p2p_comm *world, void *arg)
{
    (void)world, (void)arg;
    return 1;
}

Test(p2p, a_job_too_large_for_the_machine_is_refused)
{
    p2p_options options = {.memory_each = (size_t)1 << 50};
    job_result result;

    job_run(1000, &options, never, NULL, &result);
    cr_expect_eq(result.err, P2P_ERR_SYS);
    ASSERT_CONTAINS(result.process.err, "1000 ranks need at least 1048576");
    job_free(&result);
}

Test(p2p, status_124_for_the_time_limit)
{
    static const outcome list[] = {
        {124, "exec $L -n 3 --timeout 0.3 $T/right/actor busy", "rank 2"},
        {0, "exec $L -n 3 --timeout 50 $T/right/actor exit 0 0", NULL},
        {124, "exec $L -n 3 --timeout 0.1 --patience 1000 $T/right/actor busy", "the time limit of 0.1 s is over"},
    };

    expect_outcomes(list, COUNT(list));
}

/* Ranks that get no processor, here because they are stopped, have so many times as long; those that sleep have not. */
Test(p2p, a_time_limit_may_be_for_an_idle_machine)
{
    process_result result;

    shell_run("exec $L -n 2 --timeout 0.1 --patience 5 sh -c 'kill -STOP $$'", NULL, &result);
    ASSERT_STATUS(result, 124);
    cr_expect_geq(result.seconds, 0.5);
    process_free(&result);
    shell_run("exec $L -n 2 --timeout 0.1 --patience 1000 sleep 100", NULL, &result);
    ASSERT_STATUS(result, 124);
    process_free(&result);
}

Test(p2p, status_127_for_a_program_that_cannot_start)
{
    static const outcome list[] = {
        {127, "exec $L -n 3 ./no/such/program", "no/such/program"},
        {127, "exec $L -n 3 no-such-program-on-the-path", "no-such-program-on-the-path"},
        {127, "exec $L -n 3 tests/p2p_launch.c", "compile it first"},
        {127, "exec $L -n 3 README.md", "launch -n 4 build/examples/hello"},
        {127, "exec $L -n 3 examples", "it is a folder"},
        {127, "cd $T/right && exec $L -n 3 actor exit 0 0", "./actor"},
        {127, "exec $L -n 3 --wrap 'no-such-wrapper -q' $T/right/actor exit 0 0", "no-such-wrapper"},
        {127, "f=$(mktemp) && echo text >$f && chmod +x $f; $L -n 2 $f; s=$?; rm $f; exit $s",
         "neither compiled nor a script"},
        {127, "exec $L -n 2 /$(printf '%0200d' 1)/$(printf '%0200d' 2)/$(printf '%0200d' 3)", "0003: No such"},
    };

    expect_outcomes(list, COUNT(list));
}

Test(p2p, a_program_that_never_calls_init_passes_its_status_through)
{
    static const outcome list[] = {
        {0, "exec $L -n 3 true", NULL},
        {1, "exec $L -n 3 false", NULL},
        {7, "exec $L -n 3 sh -c 'exit 7'", NULL},
        {128 + SIGTERM, "exec $L -n 1 sh -c 'kill -TERM $$'", NULL},
    };

    expect_outcomes(list, COUNT(list));
}

Test(p2p, a_launch_inside_a_launch_says_so)
{
    process_result result;

    shell_run("exec $L -n 2 $L -n 2 $T/right/actor exit 0 0", NULL, &result);
    cr_expect_neq(result.status, 0);
    ASSERT_CONTAINS(result.err, "launch");
    process_free(&result);
    shell_run("exec $L -n 2 $T/right/actor twice", NULL, &result);
    ASSERT_STATUS(result, 3);
    process_free(&result);
}

static void expect_interrupted(int signal)
{
    process_result result;
    process program;

    shell_start("exec $L -n 4 $T/right/actor busy", &program);
    cr_assert(process_read_until(program.out, "ready\n"));
    kill(program.pid, signal);
    process_finish(&program, &result);
    ASSERT_STATUS(result, 128 + signal);
    process_free(&result);
}

Test(p2p, status_130_and_143_when_interrupted)
{
    expect_interrupted(SIGINT);
    expect_interrupted(SIGTERM);
}

Test(p2p, a_killed_launcher_leaves_nobody)
{
    expect_interrupted(SIGKILL);
}

/* Each program of the project, and those of the trainer where they can be built. */
Test(p2p, every_program_says_its_version_and_answers_h)
{
    static const char command[] = "for p in launch replay demo learn train bench/all_reduce bench/death bench/idle "
                                  "bench/ping_pong bench/train; do"
                                  "  p=$(dirname $L)/$p; test -x $p || continue;"
                                  "  $p --version | grep -q '^Pairwise .*, build ' || { echo $p --version; exit 1; };"
                                  "  $p -h | grep -q '^Usage:' || { echo $p -h; exit 1; };"
                                  "done";
    process_result result;

    shell_run(command, NULL, &result);
    cr_expect_eq(result.status, 0, "%s%s", result.out, result.err);
    process_free(&result);
}

Test(p2p, help_goes_to_stdout)
{
    process_result result;

    shell_run("exec $L --help", NULL, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "--strict");
    ASSERT_CONTAINS(result.out, "socket");
    for (size_t i = 0; p2p__config_variable(i); i++) ASSERT_CONTAINS(result.out, p2p__config_variable(i)->name);
    ASSERT_CONTAINS(result.out, "PAIRWISE_WAIT");
    ASSERT_CONTAINS(result.out, "PAIRWISE_DIRECT");
    process_free(&result);
}

Test(p2p, machine_is_measured)
{
    process_result result;

    shell_run("exec $L --machine", NULL, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "8 bytes from one rank to another: ");
    ASSERT_CONTAINS(result.out, "through the queue");
    ASSERT_CONTAINS(result.out, "       16384 ");
    ASSERT_CONTAINS(result.out, "     1048576 ");
    ASSERT_CONTAINS(result.out, " cores: up to ");
    ASSERT_CONTAINS(result.out, "16 KiB copied by libc: ");
    if (sysconf(_SC_NPROCESSORS_ONLN) > 1 && !getenv("PAIRWISE_SNDBUF")) { /* a queue of a few lines times no copy */
        ASSERT_CONTAINS(result.out, "1 KiB that the other core has written: ");
        ASSERT_CONTAINS(result.out, " near cache (limit: ");
        bool is_slow = strstr(result.out, "share no near cache"),
             is_written = strstr(result.out, "8 to 64 KiB: written");
        cr_expect(is_slow || !is_written, "%s", result.out);
    }
    const char *all_reduce = strstr(result.out, "\nAll-reduce (");
    cr_assert(all_reduce, "%s", result.out);
    size_t rows;
    const coll_choice *choices = coll_choices(&rows);
    for (size_t i = 0; i < rows; i++)
        if (choices[i].shared) ASSERT_CONTAINS(all_reduce, choices[i].algorithm);
    process_free(&result);
    shell_run("exec $L --machine -n 2 true", NULL, &result);
    ASSERT_STATUS(result, 2);
    ASSERT_CONTAINS(result.err, "--machine stands alone");
    process_free(&result);
}

/* ---- Output ---- */

enum { RANKS = 4, LINES = 200, LENGTH = 300 };

/* Is this line of output what `actor lines` prints, and the next one of its rank? */
static bool right_line(const char *line, size_t length, int next[RANKS])
{
    char want[LENGTH + 64];
    int rank = -1, number = -1, at;

    if (sscanf(line, "rank %d line %d ", &rank, &number) != 2 || rank < 0 || rank >= RANKS) return false;
    if (number != next[rank]++) return false;
    at = snprintf(want, sizeof want, "rank %d line %d ", rank, number);
    for (int j = 0; j < LENGTH; j++) want[at++] = (char)('a' + (rank + number + j) % 26);
    return length == (size_t)at && memcmp(line, want, length) == 0;
}

/* Every line is whole, in its rank's order, with `prefix` characters before it; ordered: one rank after the other. */
static void check_lines(const char *text, bool tag, bool ordered)
{
    int next[RANKS] = {0}, count = 0;

    for (const char *end; (end = strchr(text, '\n')) != NULL; text = end + 1, count++) {
        int tagged = -1;
        if (tag) cr_assert(sscanf(text, "[%d] ", &tagged) == 1, "line %d has no tag: %.60s", count, text);
        const char *line = tag ? strstr(text, "] ") + 2 : text;
        cr_assert(right_line(line, (size_t)(end - line), next), "line %d is broken: %.80s", count, text);
        int rank = line[5] - '0';
        cr_assert(!tag || tagged == rank, "line %d of rank %d is tagged %d", count, rank, tagged);
        cr_assert(!ordered || count / LINES == rank, "line %d is of rank %d", count, rank);
    }
    cr_assert(*text == '\0', "text after the last line: %.80s", text);
    cr_assert_eq(count, RANKS * LINES, "%d lines", count);
}

static void expect_lines(const char *options, bool tag, bool ordered)
{
    process_result result;
    char command[256];

    snprintf(command, sizeof command, "exec $L -n %d %s $T/right/actor lines %d %d", RANKS, options, LINES, LENGTH);
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(result.err_bytes, 0, "on stderr: %s", result.err);
    check_lines(result.out, tag, ordered);
    process_free(&result);
}

Test(p2p, output_is_forwarded_line_by_line)
{
    expect_lines("", false, false);
}

Test(p2p, output_tagged)
{
    expect_lines("--tag", true, false);
}

Test(p2p, output_ordered)
{
    expect_lines("--ordered", false, true);
    expect_lines("--ordered --tag", true, true);
}

static int print_lines(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world);

    (void)arg;
    for (int i = 0; i < LINES; i++) {
        printf("rank %d line %d ", rank, i);
        for (int j = 0; j < LENGTH; j++) putchar('a' + (rank + i + j) % 26);
        putchar('\n');
    }
    return 0;
}

Test(p2p, output_options_of_p2p_launch)
{
    for (int mode = 0; mode < 4; mode++) {
        p2p_options options = {.tag_output = mode & 1, .ordered_output = mode & 2};
        job_result result;
        job_run(RANKS, &options, print_lines, NULL, &result);
        cr_assert_eq(result.err, P2P_OK, "%s", p2p_strerror(result.err));
        check_lines(result.process.out, mode & 1, mode & 2);
        job_free(&result);
    }
}

Test(p2p, output_without_a_last_newline_is_not_lost)
{
    process_result result;
    char line[16];

    shell_run("exec $L -n 4 $T/right/actor unfinished", NULL, &result);
    ASSERT_STATUS(result, 0);
    for (int r = 0; r < 4; r++) {
        snprintf(line, sizeof line, "start %d\n", r);
        ASSERT_CONTAINS(result.out, line);
        snprintf(line, sizeof line, "end %d", r);
        ASSERT_CONTAINS(result.out, line);
    }
    process_free(&result);
}

Test(p2p, output_and_errors_go_their_own_ways)
{
    process_result result;
    char line[16];

    shell_run("exec $L -n 3 $T/right/actor both", NULL, &result);
    ASSERT_STATUS(result, 0);
    for (int r = 0; r < 3; r++) {
        snprintf(line, sizeof line, "out of %d\n", r);
        ASSERT_CONTAINS(result.out, line);
        snprintf(line, sizeof line, "err of %d\n", r);
        ASSERT_CONTAINS(result.err, line);
    }
    ASSERT_LACKS(result.out, "err of");
    ASSERT_LACKS(result.err, "out of");
    process_free(&result);
}

Test(p2p, output_of_one_long_line)
{
    process_result result;

    shell_run("exec $L -n 1 $T/right/actor lines 1 3000000", NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(result.out_bytes, strlen("rank 0 line 0 \n") + 3000000, "%zu bytes", result.out_bytes);
    process_free(&result);
}

Test(p2p, output_of_a_program_that_never_calls_init)
{
    process_result result;

    shell_run("exec $L -n 3 --tag sh -c 'echo hello; echo oh >&2'", NULL, &result);
    ASSERT_STATUS(result, 0);
    for (int r = 0; r < 3; r++) {
        char line[] = "[?] hello\n";
        line[1] = (char)('0' + r);
        ASSERT_CONTAINS(result.out, line);
    }
    process_free(&result);
}

/* A progress bar must be seen before its line is complete. */
Test(p2p, output_up_to_a_carriage_return_is_shown_at_once)
{
    process_result result;
    process program;

    shell_start("exec $L -n 2 $T/right/actor bar", &program);
    cr_assert(process_read_until(program.out, "half\r"), "the part before \\r did not come");
    process_finish(&program, &result); /* closes its input, for which the program waits */
    ASSERT_STATUS(result, 0);
    cr_assert_str_eq(result.out, "done\n");
    process_free(&result);
}

/* The output is not read: messages and diagnosis go on all the same. */
Test(p2p, blocked_output_does_not_stop_messages)
{
    process_result result;
    process program;

    shell_start("exec $L -n 3 $T/right/actor flood 4194304", &program);
    cr_assert(process_read_until(program.err, "exchanged\n"));
    process_finish(&program, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_eq(result.out_bytes, 4194304, "%zu bytes", result.out_bytes);
    process_free(&result);
}

Test(p2p, blocked_output_does_not_stop_diagnosis)
{
    process_result result;
    process program;

    shell_start("exec $L -n 3 $T/right/actor clogged 4194304", &program);
    cr_assert(process_read_until(program.err, "deadlock"));
    process_finish(&program, &result);
    ASSERT_STATUS(result, 1);
    process_free(&result);
}

/* A full disk, a closed output: the ranks go on, the status tells. */
Test(p2p, output_that_cannot_be_written_is_an_error_in_the_end)
{
    process_result result;

    shell_run("exec $L -n 2 $T/right/actor lines 10 10 >/dev/full", NULL, &result);
    cr_expect_neq(result.status, 0);
    cr_expect(!result.late && result.left_behind == 0);
    process_free(&result);
}

static bool run_on_terminal(const char *command, char *text, size_t room)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    char line[512];
    process_result result;
    process program;

    if (master < 0 || grantpt(master) || unlockpt(master)) return false;
    snprintf(line, sizeof line, "%s >%s", command, ptsname(master));
    shell_start(line, &program);
    ssize_t got = read(master, text, room - 1);
    text[got > 0 ? got : 0] = '\0';
    process_finish(&program, &result);
    process_free(&result);
    close(master);
    return true;
}

Test(p2p, ranks_know_whether_the_output_is_a_terminal)
{
    process_result result;
    char text[256];

    shell_run("exec $L -n 2 $T/right/actor terminal", NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_str_eq(result.out, "terminal 0\n");
    process_free(&result);
    if (run_on_terminal("exec $L -n 2 $T/right/actor terminal", text, sizeof text)) ASSERT_CONTAINS(text, "terminal 1");
}

/* ---- Input ---- */

Test(p2p, input_goes_to_rank_0)
{
    process_result result;

    shell_run("exec $L -n 3 $T/right/actor cat", "one\ntwo\nthree", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "one\n");
    ASSERT_CONTAINS(result.out, "two\n");
    ASSERT_CONTAINS(result.out, "three");
    ASSERT_CONTAINS(result.out, "rank 1 read 0 bytes\n");
    ASSERT_CONTAINS(result.out, "rank 2 read 0 bytes\n");
    process_free(&result);
}

/* ---- Nothing left behind ---- */

Test(p2p, launch_leaves_no_process)
{
    static const outcome list[] = {
        {0, "exec $L -n 3 $T/right/actor orphan", NULL},
        {0, "exec $L -n 3 sh -c 'sleep 1000 & exit 0'", NULL},
        {5, "exec $L -n 3 sh -c 'sleep 1000 & exit 5'", NULL},
        {124, "exec $L -n 3 --timeout 0.2 sh -c 'sleep 1000 & sleep 1000'", NULL},
    };

    expect_outcomes(list, COUNT(list));
}

Test(p2p, wrap_runs_each_rank_under_a_command)
{
    process_result result;

    shell_run("exec $L -n 3 --wrap \"env WRAPPED=yes\" sh -c 'echo $WRAPPED'", NULL, &result);
    ASSERT_STATUS(result, 0);
    cr_assert_str_eq(result.out, "yes\nyes\nyes\n");
    process_free(&result);
}

/* ---- launch --repair; the rest is in faultlab ---- */

/* Programs that know nothing of Pairwise are started again if they are killed; their exit statuses are their own. */
Test(p2p, launch_starts_again_what_is_killed)
{
    static const struct {
        const char *command, *says;
        int status;
    } list[] = {{"exec $L -n 2 --repair 2 sh -c 'kill -9 $$'", "of at most 2 have been started already", 137},
                {"exec $L -n 2 --repair=2 sh -c 'kill -9 $$'", "of at most 2 have been started already", 137},
                {"exec $L -n 2 --repair sh -c 'exit 3'", "exited with status 3", 3},
                {"exec $L -n 2 --repair true", "", 0},
                {"exec $L -n 2 --repair 0 true", "--repair is a whole number from 1 to ", 2},
                {"export PAIRWISE_HOSTS=2; exec $L -n 2 --repair 2 sh -c 'kill -9 $$'",
                 "of at most 2 have been started already", 137},
                {"export PAIRWISE_HOSTS=2; exec $L -n 2 --repair sh -c 'exit 3'", "exited with status 3", 3},
                {"export PAIRWISE_HOSTS=2; exec $L -n 2 --repair true", "", 0}};
    process_result result;

    for (size_t i = 0; i < COUNT(list); i++) {
        shell_run(list[i].command, NULL, &result);
        ASSERT_STATUS(result, list[i].status);
        ASSERT_CONTAINS(result.err, list[i].says);
        process_free(&result);
    }
}
