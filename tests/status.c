/* SPDX-License-Identifier: MIT */
// worlds: each
/* status: launch --status shows what ranks do, to those who may know, and says why where it does not. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "tests/util/commands.h"

/* ---- The table ---- */

/* A job that is held, $job, until the table has two ranks that wait; what then happens to it. */
static void with_job(const char *settings, const char *command, process_result *result)
{
    char line[1000];

    snprintf(line, sizeof line,
             "%s $L -n 3 $T/right/actor held >/dev/null & job=$!\n"
             "until [ $($L --status $job 2>/dev/null | grep -c ' waits  p2p') = 2 ]; do kill -0 $job || exit 9; sleep "
             "0.02; done\n"
             "%s\nkill $job; wait $job",
             settings, command);
    shell_run(line, NULL, result);
}

Test(status, what_each_rank_does)
{
    process_result result;
    char host[256] = "";

    gethostname(host, sizeof host - 1);
    for (int hosts = 1; hosts <= 2; hosts++) {
        with_job(hosts == 1 ? "" : "PAIRWISE_HOSTS=2", "$L --status $job", &result);
        ASSERT_STATUS(result, 143);
        ASSERT_CONTAINS(result.out,
                        hosts == 1 ? "actor: 3 ranks on 1 host, world " : "actor: 3 ranks on 2 hosts, world ");
        ASSERT_CONTAINS(result.out, "waits  p2p_recv(source 0, tag 0)");
        ASSERT_CONTAINS(result.out, "tests/right/actor.c:");
        ASSERT_CONTAINS(result.out, "\n0 ");
        ASSERT_CONTAINS(result.out, " runs ");
        ASSERT_CONTAINS(result.out, " s\n");
        if (hosts == 2) { /* two launchers on one machine have one name */
            char hosts_told[2][300];
            for (int h = 0; h < 2; h++) {
                snprintf(hosts_told[h], sizeof *hosts_told, " %d (%s) ", h, host);
                ASSERT_CONTAINS(result.out, hosts_told[h]);
            }
        }
        process_free(&result);
    }
}

/* The launcher of another host says which one knows it all: the one of host 0, $job. */
Test(status, which_launcher_to_ask)
{
    process_result result;

    with_job("PAIRWISE_HOSTS=2",
             CHILDREN
             "for child in $(children $job); do [ \"$(children $child)\" ] && other=$child; done\n"
             "$L --status $other; echo status $?; $L --ranks-of $other >/dev/null; echo status $?; echo try $job",
             &result);
    const char *last = strstr(result.out, "try ");
    char direction[100];
    cr_assert_not_null(last, "%s", result.err);
    snprintf(direction, sizeof direction, " answers for all\n  try: there, with process %d\n", atoi(last + 4));
    ASSERT_CONTAINS(result.err, "is the launcher of host 1 (");
    ASSERT_CONTAINS(result.err, direction);
    ASSERT_CONTAINS(result.out, "status 2\nstatus 2\n");
    process_free(&result);
}

Test(status, many_ask_at_once)
{
    process_result result;

    with_job("",
             "for i in 1 2 3 4 5 6; do $L --status $job & asked=\"$asked $!\"; done\n"
             "for i in $asked; do wait $i || echo no answer; done; $L --status $job",
             &result);
    ASSERT_STATUS(result, 143);
    ASSERT_LACKS(result.out, "no answer");
    process_free(&result);
}

Test(status, the_processes_of_ranks)
{
    process_result result;

    with_job("", "for rank in $($L --ranks-of $job); do kill -0 $rank && echo runs; done", &result);
    ASSERT_STATUS(result, 143);
    cr_expect_str_eq(result.out, "runs\nruns\nruns\n");
    process_free(&result);
}

/* ---- Who may not know, and what is no job ---- */

static int is_told_nothing(pid_t launcher)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "pairwise-status-%d", launcher);
    socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    char message[100];

    if (setgid(65534) != 0 || setuid(65534) != 0) return 1;
    if (connect(fd, (const struct sockaddr *)&address, bytes) != 0) return 2;
    return recv(fd, message, sizeof message, 0) == 0 ? 0 : 3; /* it was closed */
}

static int another_user_asks(p2p_comm *world, void *arg)
{
    pid_t launcher = getppid(), other = p2p_rank(world) == 0 ? fork() : -1;
    int status = 0;

    (void)arg;
    if (other == 0) _exit(is_told_nothing(launcher));
    CHECK(other < 0 || waitpid(other, &status, 0) == other, "fork");
    CHECK(status == 0, "another user: %d", WEXITSTATUS(status));
    return 0;
}

Test(status, another_user_is_told_nothing)
{
    if (geteuid() != 0) cr_skip_test("only root can be another user");
    ASSERT_RIGHT(job_right(2, false, another_user_asks, NULL));
}

Test(status, what_is_no_launcher)
{
    static const struct {
        const char *command, *error;
        int status;
    } wrong[] = {{"$L --status 999999999", "there is no process 999999999", 2},
                 {"$L --status $$", "is no launcher of Pairwise\n  try: ", 2},
                 {"$L --status 0", "--status is a whole number from 1", 2},
                 {"$L --status self", "--status is a whole number from 1", 2},
                 {"$L --status 1 -n 2 ls", "--status 1 stands alone", 2},
                 {"$L --ranks-of 1 -n 2 ls", "--ranks-of 1 stands alone", 2},
                 {"$L --ranks-of $$", "is no launcher of Pairwise\n  try: ", 2},
                 {CHILDREN "$L -n 2 $T/right/actor busy >/dev/null & until [ \"$rank\" ]; do rank=$(children $! "
                           "actor); sleep 0.01; done\n"
                           "$L --status ${rank%%[!0-9]*}; status=$?; kill $!; wait $!; exit $status",
                  "belongs to the job of process ", 2}};
    process_result result;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        shell_run(wrong[i].command, NULL, &result);
        ASSERT_STATUS(result, wrong[i].status);
        ASSERT_CONTAINS(result.err, wrong[i].error);
        process_free(&result);
    }
}

/* ---- What a rank may have written ---- */

static int writes_escapes(p2p_comm *world, void *arg)
{
    char command[300], table[2000];

    (void)arg;
    if (p2p_rank(world) == 1) return p2p_recv(world, command, 1, 0, 0, P2P_STATUS_IGNORE);
    scoreboard_call *call = &world->engine->scoreboard->rows[0].call;
    memset(call->name, '\033', sizeof call->name);
    memset(call->file, '\a', sizeof call->file);
    call->line = 7;
    snprintf(command, sizeof command, "%s/launch --status %d", process_build_folder(), getppid());
    FILE *asked = popen(command, "r");
    CHECK(asked, "popen");
    size_t got = fread(table, 1, sizeof table - 1, asked);
    table[got] = 0;
    CHECK(pclose(asked) == 0 && strstr(table, "????"), "%s", table);
    CHECK(!strchr(table, '\033') && !strchr(table, '\a'), "a control character is shown");
    return p2p_send(world, command, 1, 1, 0);
}

Test(status, a_terminal_is_not_steered_by_ranks)
{
    ASSERT_RIGHT(job_right(2, false, writes_escapes, NULL));
}
