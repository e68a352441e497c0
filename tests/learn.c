/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * learn: the checker of exercises. First its parts: cutting stubs, finding exercises, wrapping words. Then the whole of
 * it on learners' files, tests/learner/NN_name/MISTAKE.c, each of which says what it must be told:
 *
 *      // expect: TEXT        must be in the explanation, white space apart; {here} is the line marked "// here"
 *      // reject: TEXT        must not
 *      // options: --limit 3  for learn test
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "learn/check/build.h"
#include "tests/util/paths.h"
#include "tests/util/suite.h"

/* ---- Cutting ---- */

static void cuts_to(const char *solution, const char *stub)
{
    learn_text why = {0};
    char *cut = learn_cut(solution, &why);
    cr_assert_not_null(cut, "%s", learn_string(&why));
    cr_expect_str_eq(cut, stub);
    cr_expect(learn_same_places(cut, stub));
    cr_expect(!why.used);
    free(cut);
}

static void refuses(const char *solution, const char *reason)
{
    learn_text why = {0};
    char *cut = learn_cut(solution, &why);
    cr_expect_null(cut, "expected to be refused: %s", solution);
    ASSERT_CONTAINS(learn_string(&why), reason);
    learn_text_free(&why);
    free(cut);
}

Test(learn, cut_replaces_what_is_between_the_marks)
{
    cuts_to("int f(int a)\n{\n    // TODO: say one\n    // stub: (void)a;\n    // stub: return 0;\n    return 1;\n"
            "    // END TODO\n}\n",
            "int f(int a)\n{\n    // TODO: say one\n    (void)a;\n    return 0;\n    // END TODO\n}\n");
}

Test(learn, cut_keeps_all_comment_lines_of_the_task)
{
    cuts_to("// TODO: first\n// second\n\t// third\n// stub: x;\n// a comment of the answer\ny;\n// END TODO\n",
            "// TODO: first\n// second\n\t// third\nx;\n// END TODO\n");
}

Test(learn, cut_handles_several_places_and_empty_ones)
{
    cuts_to("a;\n// TODO\nb;\n// END TODO\nc;\n  // TODO: again\n  d;\n  // stub:\n  // stub: e;\n  // END TODO\n",
            "a;\n// TODO\n// END TODO\nc;\n  // TODO: again\n\n  e;\n  // END TODO\n");
}

Test(learn, cut_leaves_a_file_without_marks_alone)
{
    cuts_to("", "");
    cuts_to("int x; // TODO later\n// TODOS are no marks\n// TODO_ neither\n",
            "int x; // TODO later\n// TODOS are no marks\n// TODO_ neither\n");
    cuts_to("no newline at the end", "no newline at the end");
}

Test(learn, malformed_marks_are_refused_with_their_line)
{
    refuses("a;\n// TODO: x\nb;\n", "line 2: the place that begins here has no \"// END TODO\"");
    refuses("// TODO: x\nb;\n// TODO: y\n// END TODO\n", "line 3: \"// TODO\" inside the place that begins in line 1");
    refuses("a;\n\n// END TODO\n", "line 3: \"// END TODO\" outside");
    refuses("// stub: x;\n", "line 1: \"// stub:\" outside");
    refuses("// TODO\n// END TODO\n// END TODO\n", "line 3: \"// END TODO\" outside");
    refuses("// TODO\n// stub: x;", "line 1: the place that begins here");
}

/* ---- Not started ---- */

static const char two_places[] = "a;\n// TODO: x\nreturn 0;\n// END TODO\nb;\n// TODO: y\n// END TODO\n";

static bool still_the_stub(const char *text)
{
    return learn_same_places(text, two_places);
}

Test(learn, a_stub_is_not_started_until_a_marked_place_changes)
{
    cr_expect(still_the_stub(two_places));
    cr_expect(still_the_stub("other;\n  // TODO: other words\n\treturn\n  0;\n\n// END TODO\n// TODO\n\n// END TODO"));
    cr_expect(!still_the_stub("a;\n// TODO: x\nreturn 1;\n// END TODO\nb;\n// TODO: y\n// END TODO\n"));
    cr_expect(!still_the_stub("a;\n// TODO: x\nreturn 0;\n// END TODO\nb;\n// TODO: y\nz;\n// END TODO\n"));
    cr_expect(!still_the_stub("a;\n// TODO: x\nreturn 0;\n// END TODO\nb;\n"));
    cr_expect(!still_the_stub("a;\n// TODO: x\nreturn 0;\n"));
    cr_expect(!still_the_stub(""));
}

Test(learn, every_stub_of_the_course_can_be_cut_and_is_not_its_solution)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    cr_assert_geq(count, 18);
    for (size_t i = 0; i < count; i++) {
        char folder[LEARN_PATH];
        snprintf(folder, sizeof folder, "solutions/%s", all[i].name);
        cr_expect(!learn_not_started(&all[i], folder), "%s", folder);
        for (const char *const *file = all[i].check->files; *file; file++) {
            learn_text why = {0};
            char *stub = learn_stub(&all[i], *file, &why);
            cr_expect_not_null(stub, "%s", learn_string(&why));
            free(stub);
            learn_text_free(&why);
        }
    }
}

/* ---- Kernels ---- */

/* line: a #line is before it */
static void in_c(const char *opencl, const char *c)
{
    char *text = learn_opencl_to_c(opencl, "sum.cl"), *rest = strchr(text, '\n');
    cr_assert_not_null(rest);
    cr_expect(learn_has_prefix(text, "#line 1 \"sum.cl\"\n"));
    cr_expect_str_eq(rest + 1, c);
    free(text);
}

Test(learn, opencl_becomes_c_line_by_line)
{
    in_c("__local float a[4];\nlocal int n;", "__local float a[4];\nlocal int n;");
    in_c("f(__local float *a, local const int\n*b)", "f( float *a,  const int\n*b)");
    in_c("(__local float *)a; my_local *b; get_local_id(0)", "( float *)a; my_local *b; get_local_id(0)");
    in_c("(float4)(0.0f) + (float16) (x)", "float4_of(0.0f) + float16_of(x)");
    in_c("(float)(n) + (int4)(1)", "(float)(n) + (int4)(1)");
    in_c("v1.y + v.x + a[1].w + f(2).s3 + v.sA", "v1[1] + v[0] + a[1][3] + f(2)[3] + v[10]");
    in_c("1.x + v.xy + v.size + s.sum + .5f", "1.x + v.xy + v.size + s.sum + .5f");
    in_c("", "");
}

/* ---- Finding an exercise ---- */

static void finds(const char *text, const char *name)
{
    learn_text why = {0};
    const learn_exercise *e = learn_find(text, &why);
    cr_assert_not_null(e, "%s", learn_string(&why));
    cr_expect_str_eq(e->name, name);
}

static void finds_none(const char *text, const char *reason)
{
    learn_text why = {0};
    cr_expect_null(learn_find(text, &why), "%s", text);
    ASSERT_CONTAINS(learn_string(&why), reason);
    learn_text_free(&why);
}

Test(learn, exercises_are_found_by_number_name_or_part)
{
    finds("8", "08_broadcast");
    finds("08", "08_broadcast");
    finds("08_broadcast", "08_broadcast");
    finds("broadcast", "08_broadcast"); /* the whole name of one, and a part of 09's */
    finds("tree", "09_tree_broadcast");
    finds("hello", "00_hello");
    finds_none("ring",
               "\"ring\" could be 05_token_ring, 14_ring_reduce_scatter, 15_ring_all_gather, 16_ring_all_reduce, "
               "31_ring_attention");
    finds_none("99", "there is no exercise \"99\"; there is 00_hello, 01_send_recv, 02_ping_pong,\n  03_deadlock, ");
    finds_none("", "there is no exercise \"\"");
    finds_none("../08_broadcast", "there is no exercise");
}

/* ---- Words ---- */

static void wraps_to(const char *words, const char *lines)
{
    learn_text t = {0};
    learn_add_wrapped(&t, words, 2, 20);
    cr_expect_str_eq(learn_string(&t), lines);
    learn_text_free(&t);
}

Test(learn, words_are_wrapped_code_is_not)
{
    wraps_to("", "");
    wraps_to("one two three four five six", "one two three four\n  five six");
    wraps_to("a\nline end is a\nblank", "a line end is a\n  blank");
    wraps_to("first\n\nsecond", "first\n\n  second");
    wraps_to("code:\n    for (;;) continue, and so on;\n    }\nafter",
             "code:\n      for (;;) continue, and so on;\n      }\n  after");
    wraps_to("éééééééé éééééééé x", "éééééééé éééééééé\n  x");
    wraps_to("averyveryverylongwordindeed x", "averyveryverylongwordindeed\n  x");
}

Test(learn, a_hash_knows_where_one_thing_ends)
{
    uint64_t ab_c = learn_hash(learn_hash(0, "ab", 2), "c", 1), a_bc = learn_hash(learn_hash(0, "a", 1), "bc", 2);
    cr_expect_neq(ab_c, a_bc);
    cr_expect_neq(learn_hash(0, "", 0), 0);
    cr_expect_eq(learn_hash_file(0, "/dev/null/none"), 0);
}

/* ---- Learners ---- */

enum { LINE = 400, TEXTS = 8 };

typedef struct {
    char exercise[64], name[64];
    char expected[TEXTS][LINE], rejected[TEXTS][LINE], options[LINE];
    size_t expects, rejects;
    int here; /* the marked line */
} learner;

/* What follows the key at the beginning of a line, without its newline; NULL if it is another line. */
static const char *after(char *line, const char *key)
{
    line[strcspn(line, "\n")] = '\0';
    return strncmp(line, key, strlen(key)) == 0 ? line + strlen(key) : NULL;
}

static void read_line(learner *l, char *line, int number)
{
    const char *text;
    if ((text = after(line, "// expect: "))) {
        cr_assert_lt(l->expects, TEXTS);
        snprintf(l->expected[l->expects++], LINE, "%s", text);
    } else if ((text = after(line, "// reject: "))) {
        cr_assert_lt(l->rejects, TEXTS);
        snprintf(l->rejected[l->rejects++], LINE, "%s", text);
    } else if ((text = after(line, "// options: "))) {
        snprintf(l->options, LINE, "%s", text);
    } else if (strstr(line, "// here")) {
        cr_assert_eq(l->here, 0, "%s: two lines are marked", l->name);
        l->here = number;
    }
}

static void read_learner(learner *l, const char *path)
{
    char line[LINE];
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s cannot be read: run the suites from the top folder", path);
    *l = (learner){.here = 0};
    cr_assert_eq(sscanf(path, "tests/learner/%63[^/]/%63[^.]", l->exercise, l->name), 2);
    for (int number = 1; fgets(line, sizeof line, file); number++) read_line(l, line, number);
    fclose(file);
    cr_assert_gt(l->expects, 0, "%s does not say what to expect", path);
}

/* Put the number of the marked line for {here}. */
static const char *with_line(const learner *l, const char *text)
{
    static char filled[LINE + 16];
    const char *mark = strstr(text, "{here}");
    if (!mark) return text;
    cr_assert_gt(l->here, 0, "%s: no line is marked", l->name);
    snprintf(filled, sizeof filled, "%.*s%d%s", (int)(mark - text), text, l->here, mark + strlen("{here}"));
    return filled;
}

/* White space of any length becomes one blank. */
static void collapse(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (!isspace((unsigned char)*from))
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    }
    *to = '\0';
}

/* The file as that of a learner who works in a folder of their own. */
static void run(const learner *l, const char *path, process_result *result)
{
    char command[2048], file[64];
    learn_text why = {0};
    const learn_exercise *e = learn_find(l->exercise, &why);
    cr_assert_not_null(e, "%s", learn_string(&why));
    snprintf(file, sizeof file, "%s", e->check->files[0]);
    snprintf(command, sizeof command,
             "set -e; L=$(realpath $T/../learn); D=$(mktemp -d); trap 'rm -rf $D' EXIT; cp %s $D/%s; cd $D; "
             "$L test %s --in . --work $D/work %s",
             path, file, l->exercise, l->options);
    shell_run(command, NULL, result);
    collapse(result->out);
}

/* All of them; in a sample every third. */
ParameterizedTestParameters(learn, learner)
{
    struct criterion_test_params all = test_paths("tests/learner/*/*.c");
    test_path *paths = all.params;
    size_t step = job_is_quick() ? 3 : 1, count = 0;
    for (size_t i = 0; i < all.length; i += step) paths[count++] = paths[i];
    all.length = count;
    return all;
}

ParameterizedTest(test_path *path, learn, learner)
{
    static learner l;
    process_result result;
    read_learner(&l, path->text);
    run(&l, path->text, &result);
    cr_expect(result.status == 1 && !result.late && result.left_behind == 0 && result.err_bytes == 0,
              "%s: status %d, expected 1; %d left behind\n%.2000s\n%.2000s", l.name, result.status, result.left_behind,
              result.out, result.err);
    cr_expect_lt(result.out_bytes, 4000, "%s: a learner is told %zu bytes", l.name, result.out_bytes);
    for (size_t i = 0; i < l.expects; i++) {
        const char *text = with_line(&l, l.expected[i]);
        cr_expect(strstr(result.out, text), "%s: expected to see \"%s\" in:\n%s", l.name, text, result.out);
    }
    for (size_t i = 0; i < l.rejects; i++)
        cr_expect(!strstr(result.out, l.rejected[i]), "%s: did not expect \"%s\" in:\n%s", l.name, l.rejected[i],
                  result.out);
    process_free(&result);
}

/* A folder that was not found would pass for a folder without mistakes. */
Test(learn, there_are_learners)
{
    glob_t found;
    cr_assert_eq(glob("tests/learner/*/*.c", 0, NULL, &found), 0, "run the suites from the top folder");
    cr_assert_gt(found.gl_pathc, 40);
    globfree(&found);
}

/* ---- The program ---- */

static void says(const char *arguments, int status, const char *text)
{
    char command[512];
    process_result result;
    snprintf(command, sizeof command, "D=$(mktemp -d); trap 'rm -rf $D' EXIT; $T/../learn %s", arguments);
    shell_run(command, NULL, &result);
    ASSERT_STATUS(result, status);
    cr_expect(strstr(result.out, text) || strstr(result.err, text), "learn %s: expected \"%s\" in:\n%s%s", arguments,
              text, result.out, result.err);
    process_free(&result);
}

Test(learn, wrong_calls_are_2_and_say_what_is_right)
{
    says("", 2, "Usage: learn COMMAND");
    says("--help", 0, "check-course");
    says("dance", 2, "there is no command \"dance\"");
    says("test", 2, "which exercise?");
    says("test 08 09", 2, "one exercise at a time");
    says("test ring", 2, "could be 05_token_ring");
    says("test 08 --runs many", 2, "--runs is a whole number, not \"many\"");
    says("test 08 --nonsense", 2, "unrecognized option");
    says("cut", 2, "which exercise?");
    says("cut nothing", 2, "there is no exercise \"nothing\"");
    says("check-course --jobs 0", 2, "--jobs is from 1 to 256");
    says("check-course nothing", 2, "there is no exercise \"nothing\"");
}

Test(learn_long, a_solution_passes_with_every_data_and_with_delays)
{
    says("test 10 --solution --seed 12345 --work $D", 0, "10_reduce: passed");
    says("test 16 --solution --runs 2 --delays --work $D", 0, "passed 2 times");
}

/* Runs of one program share it: none waits for another. */
Test(learn_long, runs_go_side_by_side)
{
    process_result result;
    shell_run("D=$(mktemp -d); trap 'rm -rf $D' EXIT; $T/../learn test 00 --solution --runs 7 --work $D", NULL,
              &result);
    ASSERT_STATUS(result, 0);
    cr_expect_str_empty(result.err);
    process_free(&result);
}

/* On the virtual network times are the same everywhere: 1.8 times the best possible. */
Test(learn, what_is_only_slow_gets_a_part_of_the_points)
{
    process_result result;
    says("test 30 --instead tests/mutants/30_one_f_one_b/half_ahead.c --work $D", 1,
         "best possible: 68% of the points");
    shell_run("D=$(mktemp -d); trap 'rm -rf $D' EXIT; F=30_one_f_one_b; mkdir $D/$F; "
              "cp tests/mutants/$F/half_ahead.c $D/$F/one_f_one_b.c; "
              "$T/../learn grade $D --exercise 30 --points 10 --seed 1 --csv $D/csv >/dev/null; "
              "tail -n 1 $D/csv | cut -d, -f3-6",
              NULL, &result);
    cr_expect_str_eq(result.out, "6.76,10,\"wrong\",\"bubble\"\n");
    process_free(&result);
}

/* Of one token two ranks' keys may look alike: they are told apart. */
Test(learn, a_right_solution_is_right_with_every_seed)
{
    says("test 31 --solution --seed 8 --work $D", 0, "31_ring_attention: passed");
}

Test(learn, other_seeds_make_other_data)
{
    static const char command[] = "D=$(mktemp -d); trap 'rm -rf $D' EXIT; for seed in 1 2; do $T/../learn test 08 "
                                  "--instead tests/mutants/08_broadcast/zeroes.c --seed $seed "
                                  "--work $D | grep 'rank 0 '; done | sort -u | wc -l";
    process_result result;
    shell_run(command, NULL, &result);
    cr_expect_eq(atoi(result.out), 2, "%s", result.out);
    process_free(&result);
}
