/* SPDX-License-Identifier: MIT */
// worlds: none; plain
/*
 * learn_commands: the learner's commands, in a course of their own: a folder with copies of what learners and commands
 * write to and links to the rest. The learner is a shell.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/util/suite.h"

/* The course of one test, made from this checkout: its stubs are cut anew, whatever a learner has written here. */
static char home[] = "/tmp/pairwise-course.XXXXXX";

static const char making[] =
    "set -e; top=$PWD; build=$(realpath $T/..); cp -r exercises solutions %s; cd %s;"
    "mkdir -p tests build/course; ln -s $top/tests/exercises $top/tests/submissions tests;"
    "for folder in p2p dtype collectives ring; do ln -s $top/$folder $folder; ln -s $build/course/$folder.a "
    "build/course; done;"
    "ln -s $build/course/obj build/course; ln -s $build/launch $build/replay build; cp $build/learn build; build/learn "
    "cut all -w";

static void setup(void)
{
    process_result result;
    char command[1024];
    cr_assert(mkdtemp(home) != NULL);
    snprintf(command, sizeof command, making, home, home);
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

static void teardown(void)
{
    process_result result;
    char command[256];
    snprintf(command, sizeof command, "rm -rf %s", home);
    shell_run(command, NULL, &result);
    process_free(&result);
}

/* cppcheck-suppress unknownMacro */
TestSuite(learn_commands, .init = setup, .fini = teardown);
TestSuite(learn_commands_long, .init = setup, .fini = teardown);

static const char *in_course(const char *script)
{
    static char command[8192];
    snprintf(command, sizeof command, "cd %s; unset ALL V EX FORCE NAME; L=build/learn; %s", home, script);
    return command;
}

/* A learner's script. Free the result. */
static void learner(const char *script, process_result *result)
{
    shell_run(in_course(script), NULL, result);
}

static void ends_with(int status, const char *script)
{
    process_result result;
    learner(script, &result);
    ASSERT_STATUS(result, status);
    process_free(&result);
}

static void says(int status, const char *script, const char *part)
{
    process_result result;
    learner(script, &result);
    ASSERT_STATUS(result, status);
    ASSERT_CONTAINS(result.out, part);
    process_free(&result);
}

static void refuses(int status, const char *script, const char *part)
{
    process_result result;
    learner(script, &result);
    ASSERT_STATUS(result, status);
    ASSERT_CONTAINS(result.err, part);
    process_free(&result);
}

#define SOLVE_08 "cp solutions/08_broadcast/broadcast.c exercises/08_broadcast/; "
#define SPOIL_08 SOLVE_08 "sed -i 's/!= root/!= 0/' exercises/08_broadcast/broadcast.c; "

#define SOLVE_14                                                    \
    "F=exercises/14_ring_reduce_scatter/ring_reduce_scatter.c; cp " \
    "solutions/14_ring_reduce_scatter/ring_reduce_scatter.c $F; "

/* ---- list ---- */

Test(learn_commands, a_fresh_board)
{
    process_result result;
    learner("$L list", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "exercises: 0 of ");
    ASSERT_CONTAINS(result.out, "  00  hello                 not started");
    ASSERT_CONTAINS(result.out, "next  exercises/00_hello/README.md");
    ASSERT_LACKS(result.out, "in progress");
    ASSERT_LACKS(result.out, "\033");
    process_free(&result);
}

Test(learn_commands, the_scoreboard_follows_what_is_begun_and_done)
{
    says(1, SPOIL_08 "$L test 08; s=$?; $L list; exit $s", "  08  broadcast             in progress");
    says(0, "$L list", "next  exercises/08_broadcast/broadcast.c");
    says(0, SOLVE_08 "$L test 08; $L list", "  08  broadcast             done");
    says(0, "$L list", "exercises: 1 of ");
    says(0, "echo >>exercises/08_broadcast/broadcast.c; $L list", "  08  broadcast             in progress");
}

/* ---- see, debug ---- */

/* The page has the case alone: the learner's call as a phase, its lines, the parts of the buffer, and the
 * solution's. */
Test(learn_commands, the_failing_case_as_a_page)
{
    process_result result;
    learner(SOLVE_14 "sed -i 's/rank - step - 1/rank - step/; s/rank - step - 2/rank - step - 1/' $F; $L see 14 && "
                     "cat .learn/see/14_ring_reduce_scatter.html",
            &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "14_ring_reduce_scatter: my_ring_reduce_scatter on 2 ranks");
    ASSERT_CONTAINS(result.out, "\"exercises/14_ring_reduce_scatter/ring_reduce_scatter.c\":{");
    ASSERT_CONTAINS(result.out, "\"solutions/14_ring_reduce_scatter/ring_reduce_scatter.c\":{");
    process_free(&result);
    says(0, "cat build/course/see/yours.json", "\"bytes\":20,\"offset\":20,\"combined\":true");
    says(0, "grep -c '\"name\":\"my_ring_reduce_scatter\"' build/course/see/yours.json", "2");
}

Test(learn_commands, a_page_of_what_passes_and_none_of_what_does_not_compile)
{
    says(0, SOLVE_08 "$L see 08", "08_broadcast passes; this is one of its cases: my_broadcast on 4 ranks, count ");
    says(0, "cp solutions/01_send_recv/*.c exercises/01_send_recv; $L see 01",
         "my_send_recv on 4 ranks, from 0 to 1, ");
    says(1, "$L see 09", "09_tree_broadcast: not started");
    says(1, SOLVE_08 "echo x >>exercises/08_broadcast/broadcast.c; $L see 08", "08_broadcast: not yet");
}

Test(learn_commands, the_title_of_a_case_fits_a_terminal)
{
    says(0, SPOIL_08 "$L see 08 >said; grep -q 'root 1' said && awk 'length > 80' said | wc -l", "0\n");
}

/* A debugger that only says what it was given. */
#define GDB                                                                                             \
    "mkdir -p bin; printf '#!/bin/sh\necho \"gdb $PAIRWISE_COURSE $*\"\n' >bin/gdb; chmod +x bin/gdb; " \
    "PATH=$PWD/bin:$PATH; "

Test(learn_commands, the_failing_case_in_gdb)
{
    says(1, SPOIL_08 GDB "RANK=1 $L debug 08", "build/course/see/08_broadcast/ranks");
    refuses(2, SPOIL_08 "RANK=9 $L debug 08", "this case has 2 ranks: 0 to 1");
    refuses(2, "RANK=one $L debug 08", "RANK=one is not a rank");
    refuses(127, "PATH=$PWD $T/../launch -n 2 --debug 0 $T/right/pairs",
            "try: install it: sudo apt-get install -y gdb");
}

/* ---- hint ---- */

Test(learn_commands, hints_come_one_after_the_other)
{
    says(0, "$L hint 08", "hint 1 of 3");
    says(0, "$L hint broadcast 2>&1 || $L hint 08_broadcast", "hint 2 of 3");
    says(0, "$L hint 08", "hint 3 of 3");
    says(0, "$L hint 08", "that was the last hint");
    says(0, "$L hint 10", "hint 1 of 3");
}

Test(learn_commands, the_hint_for_a_failure_comes_first_and_once)
{
    ends_with(1, "sed -i 's/return P2P_ERR_TODO;/return p2p_recv(comm, buf, 0, 0, 1, NULL);/' "
                 "exercises/08_broadcast/broadcast.c; $L test 08");
    says(0, "$L hint", "08_broadcast: what your last try says");
    says(0, "$L hint", "hint 1 of 3");
    says(0, "$L test 08; $L hint", "hint 2 of 3");
    ends_with(1, "echo x >>exercises/08_broadcast/broadcast.c; $L test 08");
    says(0, "$L hint", "It cannot be built");
    says(0, "$L hint", "hint 3 of 3");
}

Test(learn_commands, a_name_that_is_none_or_several)
{
    refuses(2, "$L hint 99", "there is no exercise \"99\"");
    refuses(2, "$L hint nothing", "08_broadcast");
    refuses(2, "$L hint ring", "\"ring\" could be ");
    refuses(2, "$L hint 08 10", "one exercise at a time");
    refuses(2, "$L hint", "nothing is in progress");
    refuses(2, "$L reset", "which exercise?");
    refuses(2, "$L solution", "which exercise?");
    refuses(2, "$L nonsense", "there is no command \"nonsense\"");
    for (size_t i = 0; i < 2; i++)
        says(0,
             i ? "for c in hint list watch reset solution update handin grade own solutions stamp; do "
                 "$L $c --help >help && grep -q Usage help && test ! -s err || exit 9; done; echo all"
               : "$L --help",
             i ? "all" : "grade");
}

/* ---- reset ---- */

Test(learn_commands, reset_keeps_what_was_there)
{
    says(0, SOLVE_08 "$L reset 08", "your work is in .learn/old/08_broadcast/");
    ends_with(0, "cmp .learn/old/08_broadcast/*/broadcast.c solutions/08_broadcast/broadcast.c");
    ends_with(0, "$L cut 08 >stub && cmp stub exercises/08_broadcast/broadcast.c");
    ends_with(0, "for i in 1 2 3; do echo $i >exercises/08_broadcast/broadcast.c; $L reset 08; done;"
                 "test $(ls .learn/old/08_broadcast | wc -l) = 4");
    says(0, "LC_ALL=C sort .learn/old/08_broadcast/*/broadcast.c", "1\n2\n3\n");
}

Test(learn_commands, reset_says_that_there_was_no_work_to_keep)
{
    says(0, "$L reset 08", "nothing of yours");
    says(0, "rm exercises/08_broadcast/broadcast.c; $L reset 08", "nothing of yours");
    ends_with(0, "test ! -e .learn/old");
}

Test(learn_commands, reset_changes_nothing_if_it_cannot_keep)
{
    refuses(1, SOLVE_08 "mkdir .learn; echo >.learn/old; $L reset 08", "nothing is changed");
    ends_with(0, "cmp exercises/08_broadcast/broadcast.c solutions/08_broadcast/broadcast.c");
}

Test(learn_commands, reset_brings_back_a_file_that_is_gone_and_begins_the_hints_anew)
{
    ends_with(0, "$L hint 08; $L hint 08; rm exercises/08_broadcast/broadcast.c; $L reset 08");
    ends_with(0, "$L cut 08 >stub && cmp stub exercises/08_broadcast/broadcast.c");
    says(0, "$L hint 08", "hint 1 of 3");
}

/* ---- solution ---- */

Test(learn_commands, the_solution_after_it_passes_or_by_force)
{
    says(1, "$L solution 08", "make solution EX=08 FORCE=1");
    says(1, SPOIL_08 "$L solution 08", "does not pass yet");
    says(0, "COLUMNS=160 $L solution 08 --force", " |  ");
    says(0, "COLUMNS=70 $L solution 08 --force", "---- solutions/08_broadcast/broadcast.c");
    says(0, SOLVE_08 "$L solution 08", "p2p_send(comm, buf, bytes, rank, TAG)");
    ends_with(1, "$L reset 08; $L solution 08 --force | grep stub:");
}

/* ---- own: make test's part that is the learner's ---- */

Test(learn_commands, own_work_of_nobody_is_well)
{
    says(0, "$L own", "exercises: 0 of ");
}

Test(learn_commands, own_work_is_explained_and_the_board_comes_last)
{
    process_result result;
    learner(SPOIL_08 "$L own", &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "08_broadcast: not yet");
    ASSERT_CONTAINS(result.out, "what broke");
    cr_assert(strstr(result.out, "what broke") < strstr(result.out, "exercises: 0 of "), "%s", result.out);
    ASSERT_CONTAINS(result.out, "  08  broadcast             in progress");
    process_free(&result);
}

Test(learn_commands, of_several_the_one_saved_last_is_explained)
{
    process_result result;
    learner(SPOIL_08 "sed -i 's/return P2P_ERR_TODO;/return P2P_ERR_ARG;/' exercises/0[17]_*/*.c;"
                     "touch -d '1 hour ago' exercises/01_send_recv/*.c exercises/08_broadcast/*.c; $L own",
            &result);
    ASSERT_STATUS(result, 1);
    ASSERT_CONTAINS(result.out, "01_send_recv: not yet; see make test EX=01");
    ASSERT_CONTAINS(result.out, "08_broadcast: not yet; see make test EX=08");
    ASSERT_CONTAINS(result.out, "07_barrier: not yet\n");
    process_free(&result);
}

Test(learn_commands_long, what_passed_is_not_run_again_until_it_changes)
{
    process_result result;
    says(0, SOLVE_08 "$L own", "08_broadcast: passed");
    learner("touch exercises/08_broadcast/broadcast.c; $L own", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_LACKS(result.out, "08_broadcast: passed");
    ASSERT_CONTAINS(result.out, "  08  broadcast             done");
    process_free(&result);
    says(0, "ALL=1 $L own", "08_broadcast: passed");
    says(1, SPOIL_08 "$L own", "08_broadcast: not yet");
    says(1, "$L own", "08_broadcast: not yet");
}

/* A solution of another exercise that is linked in is an input too. */
Test(learn_commands_long, what_it_is_linked_with_counts)
{
    says(0, "cp solutions/11_all_reduce/all_reduce.c exercises/11_all_reduce/; $L own", "11_all_reduce: passed");
    says(0, "echo >>solutions/10_reduce/reduce.c; $L own", "11_all_reduce: passed");
    says(0, "echo >>exercises/exercises.h; $L own", "11_all_reduce: passed");
}

/* The process that holds the folder releases it only when the check has begun to wait. */
Test(learn_commands, two_checks_of_one_exercise_take_turns)
{
    says(0,
         "cp solutions/08_broadcast/*.c exercises/08_broadcast/; mkdir -p build/course/work/08_broadcast; mkfifo held "
         "free;"
         "(flock 9; echo >held; read -r line <free) 9<build/course/work/08_broadcast & read -r line <held;"
         "{ $L test 08 2>&1 >out | { read -r line; echo $line; echo >free; cat; }; }; wait; cat out",
         "another check of 08_broadcast is under way");
    says(0, "cat out", "08_broadcast: passed");
}

/* ---- stamp ---- */

Test(learn_commands, stamps_follow_contents)
{
    ends_with(0, "echo one >a; s=$($L stamp sum a); $L stamp keep thing $s 'all well'; touch a;"
                 "test \"$($L stamp fresh thing $($L stamp sum a))\" = 'all well'");
    ends_with(1, "ALL=1 $L stamp fresh thing $($L stamp sum a)");
    ends_with(1, "echo two >a; $L stamp fresh thing $($L stamp sum a)");
    ends_with(1, "$L stamp fresh other $($L stamp sum a)");
    ends_with(0, "echo one >a; printf o >b; printf 'ne\\n' >c; test $($L stamp sum a) != $($L stamp sum b c)");
    refuses(2, "$L stamp sum nowhere", "nowhere");
    refuses(2, "$L stamp", "say sum");
}

/* ---- update: an older course becomes a newer one ---- */

#define CHANGE_STUB "sed -i 's/naive way/simple way/' solutions/08_broadcast/broadcast.c; "

Test(learn_commands, update_of_what_is_up_to_date)
{
    says(0, "$L own >/dev/null; $L update", "everything is up to date");
}

Test(learn_commands, update_brings_stubs_to_what_is_not_begun)
{
    says(0, "$L own >/dev/null; " CHANGE_STUB "$L update", "exercises/08_broadcast/broadcast.c: the new stub");
    says(0, "cat exercises/08_broadcast/broadcast.c", "simple way");
    ends_with(1, "test -e .learn/old");
    says(0, "rm -r exercises/10_reduce; $L update", "the stub, which was missing");
    ends_with(0, "$L cut 10 >stub && cmp stub exercises/10_reduce/reduce.c");
}

Test(learn_commands, update_leaves_what_is_begun_alone)
{
    process_result result;
    learner("$L own >/dev/null; " SPOIL_08 "cp exercises/08_broadcast/broadcast.c mine; " CHANGE_STUB "$L update",
            &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "yours, and not touched");
    process_free(&result);
    ends_with(0, "cmp mine exercises/08_broadcast/broadcast.c");
    says(1, "diff -u .learn/08_broadcast/before-broadcast.c .learn/08_broadcast/stub-broadcast.c",
         "+ * 08_broadcast: one "
         "rank's data, on every rank. "
         "The simple way");
    says(0, "$L update", "everything is up to date");
}

/* git pull --autostash leaves this, if both have changed the same lines. */
Test(learn_commands, update_tells_of_a_conflict)
{
    says(0,
         SOLVE_08 "sed -i 's/^    size_t bytes.*/<<<<<<< Updated upstream\\n=======\\n&\\n>>>>>>> Stashed/' "
                  "exercises/08_broadcast/broadcast.c; $L update",
         "exercises/08_broadcast/broadcast.c: git has left both versions in it");
}

/* Not begun, but edited elsewhere. */
Test(learn_commands, update_keeps_what_it_replaces)
{
    says(0, "$L own >/dev/null; echo '/* a note */' >>exercises/08_broadcast/broadcast.c; " CHANGE_STUB "$L update",
         "what was there is in .learn/old/08_broadcast/update/broadcast.c");
    says(0, "cat .learn/old/08_broadcast/update/broadcast.c", "/* a note */");
    ends_with(0, "$L cut 08 >stub && cmp stub exercises/08_broadcast/broadcast.c");
}

Test(learn_commands, update_brings_the_programs_that_are_given)
{
    says(0, "echo '/* newer */' >>solutions/03_deadlock/both_send.c; $L update", "exercises/03_deadlock/both_send.c");
    ends_with(0, "cmp exercises/03_deadlock/both_send.c solutions/03_deadlock/both_send.c");
}

/* ---- watch ---- */

/* Beside a program under way: it does not count as left behind. */
static void saves(const char *script)
{
    cr_assert_eq(system(in_course(script)), 0, "%s", script);
}

static void watched(const char *start, const char *save)
{
    process program;
    process_result result;
    shell_start(in_course(start), &program);
    cr_assert(process_read_until(program.out, "Ctrl-C ends this"), "it never began");
    saves(SPOIL_08);
    cr_assert(process_read_until(program.out, "08_broadcast: not yet"), "a file was saved, and nothing happened");
    saves(save);
    cr_assert(process_read_until(program.out, "next  exercises/"), "it passes, and nothing was said");
    kill(program.pid, SIGINT);
    process_finish(&program, &result);
    ASSERT_STATUS(result, 0);
    process_free(&result);
}

Test(learn_commands, watch_checks_what_is_saved)
{
    watched("exec $L watch", SOLVE_08);
}

/* Some editors write another file and give it the name. */
Test(learn_commands, watch_sees_a_file_that_is_replaced)
{
    watched("exec $L watch 08", "cp solutions/08_broadcast/broadcast.c new; mv new exercises/08_broadcast/broadcast.c");
}

Test(learn_commands, a_check_runs_where_ends_of_processes_are_ignored)
{
    process_result result;
    learner("env --ignore-signal=CHLD $L test 00 --solution", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "00_hello: passed");
    process_free(&result);
}

Test(learn_commands_long, watch_does_without_events)
{
    watched("exec $L watch --poll", SOLVE_08);
}

Test(learn_commands, watch_ends_in_the_middle_of_a_check)
{
    process program;
    process_result result;
    shell_start(in_course("exec $L watch"), &program);
    cr_assert(process_read_until(program.out, "Ctrl-C ends this"));
    saves("cp tests/submissions/hanging/08_broadcast/broadcast.c exercises/08_broadcast/");
    cr_assert(process_read_until(program.out, "----"));
    kill(program.pid, SIGINT);
    process_finish(&program, &result);
    ASSERT_STATUS(result, 0);
    ASSERT_LACKS(result.out, "08_broadcast: not yet"); /* which the check says when its time limit ends it */
    process_free(&result);
}

/* ---- handin ---- */

Test(learn_commands, handin_packs_what_is_begun)
{
    process_result result;
    refuses(1, "$L handin", "nothing to hand in");
    says(0,
         SPOIL_08 "echo >exercises/08_broadcast/helper.h; ln -s /etc/passwd exercises/08_broadcast/link.c;"
                  "$L handin --name 'Ada L/../x'",
         "1 exercise packed; hand in this file: build/Ada_L_.._x.tar");
    learner("tar -tf build/Ada_L_.._x.tar; tar -xOf build/Ada_L_.._x.tar Ada_L_.._x/manifest.txt", &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out,
                    "Ada_L_.._x/08_broadcast/broadcast.c\nAda_L_.._x/08_broadcast/helper.h\nAda_L_.._x/manifest.txt\n");
    ASSERT_CONTAINS(result.out, "08_broadcast: in progress\n");
    ASSERT_LACKS(result.out, "link.c");
    process_free(&result);
}

/* ---- grade; the rest of it is in tests/all/grade.sh ---- */

Test(learn_commands, some_take_no_exercise)
{
    static const char *const commands[] = {"list", "own", "solutions", "handin"};
    char script[40];
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        snprintf(script, sizeof script, "$L %s 08", commands[i]);
        refuses(2, script, "Too many arguments");
    }
}

Test(learn_commands, many_runs_of_what_is_not_begun_have_not_passed)
{
    says(1, "$L test 08 --runs 3", "not started");
}

Test(learn_commands, grade_called_wrongly)
{
    refuses(2, "$L grade", "which folder");
    refuses(2, "$L grade nowhere", "nowhere: No such file");
    refuses(2, "mkdir empty; $L grade empty", "there is no submission in empty");
    refuses(2, "mkfifo ada.tar; timeout 30 $L grade ada.tar", "ada.tar");
    refuses(2, "$L grade tests/submissions --seed x", "--seed is a whole number");
    refuses(2, "$L grade tests/submissions --limit 0", "--limit is a number above 0");
    refuses(2, "$L grade tests/submissions --exercise 99", "there is no exercise \"99\"");
    refuses(2, "$L grade tests/submissions --jobs 0", "--jobs is a number above 0");
}

Test(learn_commands_long, grade_takes_what_handin_packs)
{
    process_result result;
    learner(SOLVE_08 "$L handin --name ada >/dev/null && mkdir class && cp build/ada.tar class/ada.tar &&"
                     "gzip -c build/ada.tar >class/bob.tar.gz && head -c 1000 build/ada.tar >class/cut.tar && "
                     "echo hello >class/none.tar && sed s/broadcast.c/broadcasX.c/ build/ada.tar >class/odd.tar && "
                     "echo >class/notes.txt && $L grade class --seed 7 --csv out.csv && cat out.csv",
            &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "\r\n\"ada\",\"08_broadcast\",1,1,\"right\",\"\",\"\",");
    ASSERT_CONTAINS(result.out, "\r\n\"bob\",\"08_broadcast\",1,1,\"right\"");
    ASSERT_CONTAINS(result.out, "\r\n\"none\",\"08_broadcast\",0,1,\"not handed in\",\"\",\"The archive is empty");
    ASSERT_CONTAINS(result.out,
                    "\"cut\",\"08_broadcast\",0,1,\"not handed in\",\"\",\"The archive is damaged or cut off");
    ASSERT_CONTAINS(result.out, "\"odd\",\"08_broadcast\",0,1,\"not handed in\",\"\",\"The archive is empty or cannot");
    ASSERT_LACKS(result.out, "notes");
    ASSERT_CONTAINS(result.out, "5 submissions, 2 of 5 points; to grade again with the same data: --seed 7");
    process_free(&result);
}

/* As Moodle packs a class: a folder or a file for each, a number in each name; two learners may have one name. */
Test(learn_commands_long, grade_knows_a_class_from_moodle)
{
    process_result result;
    learner(
        SOLVE_08
        "$L handin --name x >/dev/null && M=assignsubmission_file_ && mkdir -p \"class/Zo\303\253 L_12_$M\" "
        "class/Bob_7_$M &&"
        "cp build/x.tar \"class/Zo\303\253 L_12_$M/my work.tar\" && head -c 100 build/x.tar >class/Bob_7_$M/x.zip &&"
        "cp solutions/08_broadcast/broadcast.c class/Cy_8_${M}broadcast.c && cp build/x.tar class/Cy_9_${M}x.tar &&"
        "ln -s $PWD/solutions class/eve && $L grade class --exercise 08 -j 2",
        &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "Zo\303\253 L            08_broadcast             right");
    ASSERT_CONTAINS(result.out, "Bob              08_broadcast             not handed in  The archive is");
    ASSERT_CONTAINS(result.out, "Cy               08_broadcast             right");
    ASSERT_CONTAINS(result.out, "Cy (2)           08_broadcast             right");
    ASSERT_CONTAINS(result.out, "eve              08_broadcast             not handed in  It is a link");
    ASSERT_CONTAINS(result.out, "  08  Cy, Cy (2), Zo\303\253 L\n");
    process_free(&result);
}

Test(learn_commands_long, grade_shows_the_class_at_a_glance)
{
    process_result result;
    learner(
        "mkdir -p class/ada class/bob class/cy; cp solutions/08_broadcast/broadcast.c class/ada; "
        "cp solutions/10_reduce/reduce.c class/ada; cp exercises/10_reduce/reduce.c class/cy;"
        "for who in bob cy; do sed 's/!= root/!= 0/' solutions/08_broadcast/broadcast.c >class/$who/broadcast.c; done;"
        "$L grade class --seed 7",
        &result);
    ASSERT_STATUS(result, 0);
    ASSERT_CONTAINS(result.out, "                  08  10\n"
                                "ada                +   +\n"
                                "bob                -    \n"
                                "cy                 -   .\n"
                                "right              1   1   of 3 ");
    ASSERT_CONTAINS(result.out, "  08  2 of 2  ");
    ASSERT_LACKS(result.out, "  10  0 of 0");
    process_free(&result);
}

/* Links lead nowhere, in a folder and in an archive; names that climb out are only names. */
Test(learn_commands_long, grade_follows_no_links)
{
    process_result result;
    learner(
        "mkdir -p class/ada/08_broadcast class/bob/08_broadcast class/eve && top=$PWD && cd class &&"
        "ln -s $top/solutions/08_broadcast/broadcast.c ada/08_broadcast/broadcast.c &&"
        "tar -cf dan.tar ada && cp ada/08_broadcast/../../../solutions/08_broadcast/broadcast.c bob/08_broadcast/ &&"
        "tar -cPf fay.tar --transform 's,bob,../../../../../tmp/bob,' bob && ln -s $top/solutions/08_broadcast "
        "eve/08_broadcast &&"
        "cd .. && $L grade class --exercise 08 && ls /tmp/bob",
        &result);
    cr_assert_neq(result.status, 0, "the archive was unpacked to /tmp/bob");
    ASSERT_CONTAINS(result.out, "ada              08_broadcast             not handed in");
    ASSERT_CONTAINS(result.out, "bob              08_broadcast             right");
    ASSERT_CONTAINS(result.out, "dan              08_broadcast             not handed in");
    ASSERT_CONTAINS(result.out, "eve              08_broadcast             not handed in");
    ASSERT_CONTAINS(result.out, "fay              08_broadcast             right");
    process_free(&result);
}

/* Another seed, other data; the same seed, the same words; with another key it is foreseen by nobody. */
Test(learn_commands, grade_makes_its_data_from_the_seed)
{
    ends_with(0, "grade() { $L grade tests/submissions/wrong --seed $1 --json $2.json >/dev/null; };"
                 "grade 1 a && grade 1 b && grade 2 c && cmp a.json b.json && ! cmp -s a.json c.json && "
                 "rm .learn/grading-key && grade 1 d && ! cmp -s a.json d.json && test \"$(stat -c %a "
                 ".learn/grading-key)\" = 600");
}
