/* SPDX-License-Identifier: MIT */
/*
 * learn own, learn solutions: every exercise that has changed since it last passed, of the learner and of the course.
 *
 * A learner sees one explanation, that of the file saved last, and a line for each other exercise that does not pass yet;
 * then the board. Solutions are quiet as long as they are right.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "learn/course/commands.h"
#include "learn/course/sound.h"

/* ---- What an exercise's result depends on ---- */

static uint64_t inputs(const learn_exercise *e, const char *folder)
{
    uint64_t hash = learn_files_hash(e, folder), tools = learn_tools_hash();
    if (!hash || !tools) return 0;
    hash = learn_hash(hash, &tools, sizeof tools);
    for (const char *const *name = e->check->uses; name && *name; name++) {
        const learn_exercise *used = learn_find(*name, NULL);
        char *solution = learn_format("solutions/%s", *name);
        uint64_t other = used ? learn_files_hash(used, solution) : 0;
        hash = learn_hash(hash, &other, sizeof other);
        free(solution);
    }
    return learn_hash_file(hash, "exercises/exercises.h");
}

/* ---- The learner's ---- */

typedef struct {
    const learn_exercise *e;
    learn_result result;
    struct timespec saved; /* the last of its files */
} failure;

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* True if it passes, or is not started; else f tells why not. */
static bool own_is_well(const learn_exercise *e, failure *f)
{
    char *folder = learn_format("exercises/%s", e->name), *stamp = learn_format("own/%s", e->name);
    bool well = learn_progress(e) == LEARN_TO_DO;
    uint64_t now = well ? 0 : inputs(e, folder);
    if (!well && learn_progress(e) == LEARN_DONE && learn_stamp_fresh(stamp, now, NULL)) well = true;
    if (!well) {
        learn_options options = {0};
        well = learn_check(e, folder, &options, &f->result);
        learn_state_note(e, &f->result);
        if (well) {
            learn_stamp_keep(stamp, now, "");
            learn_explain(stdout, e, &f->result, false);
            learn_result_free(&f->result);
        }
    }
    free(stamp);
    free(folder);
    f->e = e;
    f->saved = (struct timespec){0};
    for (const char *const *file = e->check->files; *file; file++) {
        char path[LEARN_PATH];
        struct stat s;
        if (stat(learn_path(path, "exercises", e, *file), &s) == 0 && is_later(s.st_mtim, f->saved))
            f->saved = s.st_mtim;
    }
    return well;
}

int learn_command_own(int argc, char **argv)
{
    static const learn_usage usage = {
        .what =
            "Check every exercise that you have begun, explain what does not pass yet, and show the board. What has "
            "not changed since it passed is not run again (ALL=1: all the same).",
        .may_lack = true};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count, failed = 0;
    const learn_exercise *all = learn_course(&count);
    failure *failures = learn_memory(count * sizeof *failures), *last = NULL;
    const char *more = getenv("V");
    for (size_t i = 0; i < count; i++) {
        learn_state_begin(&all[i]);
        if (!own_is_well(&all[i], &failures[failed])) failed++;
    }
    for (size_t i = 0; i < failed; i++)
        if (!last || is_later(failures[i].saved, last->saved)) last = &failures[i];
    for (size_t i = 0; i < failed; i++)
        if (&failures[i] != last)
            printf("%s: not yet; see make test EX=%02d\n", failures[i].e->name, failures[i].e->number);
    if (last) {
        putchar('\n');
        learn_explain(stdout, last->e, &last->result, more && *more);
    }
    learn_board(stdout);
    for (size_t i = 0; i < failed; i++) learn_result_free(&failures[i].result);
    free(failures);
    return failed ? 1 : 0;
}

/* ---- The solutions ---- */

typedef struct {
    const learn_exercise *e;
    uint64_t inputs;
    FILE *said;
    bool right;
} job;

static int check_solution(void *arg, size_t i)
{
    const job *j = (job *)arg + i;
    char *folder = learn_format("solutions/%s", j->e->name);
    char *work = learn_format("%s/course/solutions/%s", learn_build(), j->e->name);
    learn_options options = {.even_if_stub = true, .work = work};
    learn_result result;
    bool good = learn_check(j->e, folder, &options, &result);
    if (!good && j->said) learn_explain(j->said, j->e, &result, true);
    if (j->said) fflush(j->said);
    return good ? 0 : 1;
}

static void solution_checked(void *arg, size_t i, int status)
{
    job *j = (job *)arg + i;
    char *stamp = learn_format("solutions/%s", j->e->name);
    j->right = status == 0;
    if (status < 0)
        fprintf(stderr, "learn solutions: %s cannot be checked: no process can be made\n", j->e->name);
    else if (j->right)
        learn_stamp_keep(stamp, j->inputs, "");
    else
        printf("FAIL %s\n", stamp);
    if (j->said) rewind(j->said);
    for (int c; j->said && (c = fgetc(j->said)) != EOF;) putchar(c);
    if (j->said) fclose(j->said);
    free(stamp);
}

int learn_command_solutions(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Check the solutions of all exercises. What has not changed since it was "
                                              "right is not run again (ALL=1: all "
                                              "the same).",
                                      .may_lack = true};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count, todo = 0, right = 0;
    const learn_exercise *all = learn_course(&count);
    job *jobs = learn_memory(count * sizeof *jobs);
    for (size_t i = 0; i < count; i++) {
        char *folder = learn_format("solutions/%s", all[i].name);
        uint64_t now = inputs(&all[i], folder);
        if (!learn_stamp_fresh(folder, now, NULL)) jobs[todo++] = (job){.e = &all[i], .inputs = now, .said = tmpfile()};
        free(folder);
    }
    learn_run_jobs(todo, 0, check_solution, solution_checked, jobs);
    for (size_t i = 0; i < todo; i++) right += jobs[i].right;
    printf("-- solutions: %zu right, %zu wrong, %zu unchanged since they were right\n", right, todo - right,
           count - todo);
    free(jobs);
    return right == todo ? 0 : 1;
}
