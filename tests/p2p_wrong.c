/* SPDX-License-Identifier: MIT */
// worlds: last; hosts
/*
 * p2p_wrong: every program in tests/wrong/ and tests/mpi/wrong/ hangs or fails, and is told why; those in
 * tests/mpi/right/ run without a word. What must come out stands in the program itself:
 *
 *      // ranks: 2                 how many to launch
 *      // options: --strict        more options for the launcher
 *      // environment: NAME=VALUE  of the launcher
 *      // status: 1                exit status (1 if not said)
 *      // expect: TEXT             must be in what comes to stderr; {NAME} is "file.c:12", the line marked NAME
 *      // reject: TEXT             must not be there
 *      // report: TEXT             must be a line of the report, or how one begins: see tests/util/report.h
 *      ... // line: NAME           marks a line
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/util/folder.h"
#include "tests/util/one_host.h"
#include "tests/util/paths.h"
#include "tests/util/report.h"
#include "tests/util/suite.h"

enum { LINE = 300, TEXTS = 16, MARKS = 8 };

/* Meant is one second; a loaded machine may take ten times as long. */
static const double seconds_allowed = 10.0;

typedef struct {
    int ranks, status;
    char name[128], folder[64], options[LINE], environment[LINE];
    char expected[TEXTS][LINE], rejected[TEXTS][LINE], reported[TEXTS][LINE];
    size_t expected_count, rejected_count, reported_count;
    char marks[MARKS][LINE]; /* names of marked lines */
    int lines[MARKS];
    size_t mark_count;
} wrong_program;

/* ---- Reading what must come out ---- */

/* What follows `key` in the line, without the newline; NULL if it is not there. */
static const char *after(char *line, const char *key)
{
    char *found = strstr(line, key);

    line[strcspn(line, "\n")] = '\0';
    return found ? found + strlen(key) : NULL;
}

static void add_text(char texts[][LINE], size_t *count, const char *text)
{
    cr_assert_lt(*count, TEXTS, "too many texts");
    snprintf(texts[(*count)++], LINE, "%s", text);
}

static void read_line(wrong_program *program, char *line, int number)
{
    const char *text;

    if ((text = after(line, "// ranks: "))) program->ranks = atoi(text);
    if ((text = after(line, "// status: "))) program->status = atoi(text);
    if ((text = after(line, "// options: "))) snprintf(program->options, LINE, "%s", text);
    if ((text = after(line, "// environment: "))) snprintf(program->environment, LINE, "%s", text);
    if ((text = after(line, "// expect: "))) add_text(program->expected, &program->expected_count, text);
    if ((text = after(line, "// reject: "))) add_text(program->rejected, &program->rejected_count, text);
    if ((text = after(line, "// report: "))) add_text(program->reported, &program->reported_count, text);
    if ((text = after(line, "// line: "))) {
        cr_assert_lt(program->mark_count, MARKS, "too many marks");
        program->lines[program->mark_count] = number;
        snprintf(program->marks[program->mark_count++], LINE, "%s", text);
    }
}

/* "tests/wrong/alone.c" -> "tests/wrong/", "alone" */
static void set_name(wrong_program *program, const char *path)
{
    const char *base = strrchr(path, '/');

    cr_assert_not_null(base);
    snprintf(program->folder, sizeof program->folder, "%.*s", (int)(base + 1 - path), path);
    snprintf(program->name, sizeof program->name, "%s", base + 1);
    program->name[strcspn(program->name, ".")] = '\0';
}

static void read_program(wrong_program *program, const char *path)
{
    FILE *file = fopen(path, "r");
    char line[LINE];

    cr_assert_not_null(file, "%s cannot be read: run the suites from the top folder", path);
    *program = (wrong_program){.status = 1};
    set_name(program, path);
    for (int number = 1; fgets(line, sizeof line, file); number++) read_line(program, line, number);
    fclose(file);
    cr_assert_gt(program->ranks, 0, "%s does not say how many ranks", path);
    bool right = strstr(path, "/right/");
    cr_assert(right || program->expected_count > 0, "%s does not say what to expect", path);
    cr_assert(right || program->reported_count > 0, "%s does not say what is reported", path);
}

/* Put "file.c:12" for {NAME}. */
static const char *with_lines(const wrong_program *program, const char *text)
{
    static char filled[2 * LINE];
    char name[LINE + 2];

    snprintf(filled, sizeof filled, "%s", text);
    for (size_t i = 0; i < program->mark_count; i++) {
        snprintf(name, sizeof name, "{%s}", program->marks[i]);
        const char *at = strstr(text, name);
        if (at)
            snprintf(filled, sizeof filled, "%.*s%s.c:%d%s", (int)(at - text), text, program->name, program->lines[i],
                     at + strlen(name));
    }
    cr_assert(!strchr(filled, '{'), "%s.c: no line is marked for %s", program->name, filled);
    return filled;
}

/* ---- Running ---- */

/* The place is printed with the path it was compiled by; expectations have the file's name only. */
static void without_folder(char *text, const char *folder)
{
    char *found;

    while ((found = strstr(text, folder))) {
        char *end = found + strlen(folder);
        while (found > text && found[-1] != ' ' && found[-1] != '(') found--;
        memmove(found, end, strlen(end) + 1);
    }
}

static void run(const wrong_program *program, const char *report, process_result *result)
{
    char command[3 * LINE];

    snprintf(command, sizeof command, "exec env %s $L -n %d %s --report %s ${T%%tests}%s%s", program->environment,
             program->ranks, program->options, report, program->folder, program->name);
    shell_run(command, NULL, result);
    without_folder(result->err, program->folder);
}

/* Does a line of the report begin so? */
static bool is_reported(const char *report, const char *text)
{
    for (const char *at = report; (at = strstr(at, text)); at++)
        if (at == report || at[-1] == '\n') return true;
    return false;
}

static void check_report(const wrong_program *program, const char *path)
{
    char *report = report_lines(path);
    for (size_t i = 0; i < program->reported_count; i++) {
        const char *text = with_lines(program, program->reported[i]);
        cr_expect(is_reported(report, text), "%s: expected \"%s\" in the report:\n%s", program->name, text, report);
    }
    free(report);
}

static void check_wrong(const char *path)
{
    static wrong_program program;
    process_result result;

    make_test_folder();
    const char *report = in_folder("report.json");
    read_program(&program, path);
    run(&program, report, &result);
    one_host(result.err);
    cr_log_info("%s: %.3f s\n", program.name, result.seconds);
    cr_expect(result.status == program.status && !result.late && result.left_behind == 0,
              "%s: status %d, expected %d; %d left behind\n%s", program.name, result.status, program.status,
              result.left_behind, result.err);
    for (size_t i = 0; i < program.expected_count; i++) {
        const char *text = with_lines(&program, program.expected[i]);
        cr_expect(strstr(result.err, text), "%s: expected to see \"%s\" in:\n%s", program.name, text, result.err);
    }
    for (size_t i = 0; i < program.rejected_count; i++) {
        const char *text = with_lines(&program, program.rejected[i]);
        cr_expect(!strstr(result.err, text), "%s: did not expect \"%s\" in:\n%s", program.name, text, result.err);
    }
    check_report(&program, report);
    cr_expect_lt(result.seconds, seconds_allowed * job_patience(), "%s took %.1f s", program.name, result.seconds);
    process_free(&result);
    remove_test_folder();
}

ParameterizedTestParameters(p2p, wrong)
{
    return test_paths("tests/wrong/*.c");
}

ParameterizedTest(test_path *path, p2p, wrong)
{
    check_wrong(path->text);
}

/* ---- MPI programs ---- */

ParameterizedTestParameters(mpi, wrong)
{
    return test_paths("tests/mpi/wrong/*.c");
}

/* Sanitizers have hooks of their own at each access. */
#ifdef __SANITIZE_ADDRESS__
enum { ACCESSES_ARE_SEEN = 0 };
#else
enum { ACCESSES_ARE_SEEN = 1 };
#endif

ParameterizedTest(test_path *path, mpi, wrong)
{
    if (ACCESSES_ARE_SEEN || !strstr(path->text, "_accessed")) check_wrong(path->text);
}

ParameterizedTestParameters(mpi, right)
{
    return test_paths("tests/mpi/right/*.c");
}

/* In every world, buffered and strict: the standard allows both. */
ParameterizedTest(test_path *path, mpi, right)
{
    static wrong_program program;
    static const char *const options[] = {"--world socket", "--world socket --strict", "--world shm",
                                          "--world shm --strict"};
    process_result result;
    char command[3 * LINE];

    read_program(&program, path->text);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        snprintf(command, sizeof command, "exec env %s $L -n %d %s ${T%%tests}%s%s", program.environment, program.ranks,
                 options[i], program.folder, program.name);
        shell_run(command, NULL, &result);
        cr_expect(result.status == 0 && !result.late && !result.err[0], "%s %s: status %d\n%s", program.name,
                  options[i], result.status, result.err);
        process_free(&result);
    }
}

/* A folder that was not found would pass for a folder without mistakes. */
Test(p2p, there_are_wrong_programs)
{
    glob_t found;

    cr_assert_eq(glob("tests/wrong/*.c", 0, NULL, &found), 0, "run the suites from the top folder");
    cr_assert_gt(found.gl_pathc, 15);
    globfree(&found);
}
