/* SPDX-License-Identifier: MIT */
/*
 * learn own, learn solutions: every exercise that has changed since it last passed, of the learner and of the course.
 *
 * A learner sees one explanation, that of the file saved last, and a line for each other exercise that does not pass yet;
 * then the board. Solutions are quiet as long as they are right.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "learn/course/commands.h"

/* ---- What an exercise's result depends on ---- */

static uint64_t inputs(const learn_exercise *e, const char *folder)
{
    uint64_t hash = learn_files_hash(e, folder), tools = learn_tools_hash();
    if (!hash || !tools) return 0;
    hash = learn_hash(hash, &tools, sizeof tools);
    for (const char *const *name = e->check->uses; name && *name; name++) {
        const learn_exercise *used = learn_find(*name, NULL);
        OWNED char *solution = learn_format("solutions/%s", *name);
        uint64_t other = used ? learn_files_hash(used, solution) : 0;
        hash = learn_hash(hash, &other, sizeof other);
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

/* False if it was begun and does not pass: f tells why. */
static bool own_is_well(const learn_exercise *e, failure *f)
{
    enum learn_progress progress = learn_progress(e);
    if (progress == LEARN_TO_DO) return true;
    OWNED char *folder = learn_format("exercises/%s", e->name), *stamp = learn_format("own/%s", e->name);
    uint64_t now = inputs(e, folder);
    if (progress == LEARN_DONE && learn_stamp_fresh(stamp, now, NULL)) return true;
    *f = (failure){.e = e};
    bool well = learn_check(e, folder, NULL, &f->result);
    learn_state_note(e, &f->result);
    for (const char *const *file = e->check->files; *file && !well; file++) {
        char path[LEARN_PATH];
        struct stat s;
        if (stat(learn_path(path, "exercises", e, *file), &s) == 0 && is_later(s.st_mtim, f->saved))
            f->saved = s.st_mtim;
    }
    if (!well) return false;
    learn_stamp_keep(stamp, now, "");
    learn_explain(stdout, e, &f->result, false);
    learn_result_free(&f->result);
    return true;
}

int learn_command_own(int argc, char **argv)
{
    static const learn_usage usage = {
        .what =
            "Check every exercise that you have begun, explain what does not pass yet, and show the board. What has "
            "not changed since it passed is not run again (ALL=1: all the same).",
        .takes_none = true};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count, failed = 0;
    const learn_exercise *all = learn_course(&count);
    OWNED failure *failures = learn_memory(count * sizeof *failures);
    const failure *last = NULL;
    const char *more = getenv("V");
    for (const learn_exercise *e = all; e->check; e++) {
        learn_state_begin(e);
        if (!own_is_well(e, &failures[failed])) failed++;
    }
    for (const failure *f = failures; f < failures + failed; f++)
        if (!last || is_later(f->saved, last->saved)) last = f;
    for (size_t i = 0; i < failed; i++)
        if (&failures[i] != last)
            printf("%s: not yet; see make test EX=%s\n", failures[i].e->name, failures[i].e->code);
    if (last) {
        putchar('\n');
        learn_explain(stdout, last->e, &last->result, more && *more);
    }
    learn_board(true);
    for (size_t i = 0; i < failed; i++) learn_result_free(&failures[i].result);
    return failed ? 1 : 0;
}

/* ---- The solutions ---- */

typedef struct {
    const learn_exercise *e;
    uint64_t inputs;
    bool right;
} job;

static int check_solution(void *arg, size_t i, FILE *said)
{
    const job *j = (job *)arg + i;
    OWNED char *folder = learn_format("solutions/%s", j->e->name),
               *work = learn_format("%s/course/solutions/%s", learn_build(), j->e->name);
    learn_options options = {.even_if_stub = true, .work = work};
    OWNED_RESULT result;
    bool good = learn_check(j->e, folder, &options, &result);
    if (!good) learn_explain(said, j->e, &result, true);
    return good ? 0 : 1;
}

static void solution_checked(void *arg, size_t i, int status, const char *said)
{
    job *j = (job *)arg + i;
    OWNED char *stamp = learn_format("solutions/%s", j->e->name);
    j->right = status == 0;
    if (status < 0)
        fprintf(stderr, "learn solutions: %s cannot be checked: no process can be made\n", j->e->name);
    else if (j->right)
        learn_stamp_keep(stamp, j->inputs, "");
    else
        printf("FAIL %s\n", stamp);
    fputs(said, stdout);
}

int learn_command_solutions(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Check the solutions of all exercises. What has not changed since it was "
                                              "right is not run again (ALL=1: all the same).",
                                      .takes_none = true};
    learn_call call = {0};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count, todo = 0, right = 0;
    const learn_exercise *all = learn_course(&count);
    OWNED job *jobs = learn_memory(count * sizeof *jobs);
    for (const learn_exercise *e = all; e->check; e++) {
        OWNED char *folder = learn_format("solutions/%s", e->name);
        uint64_t now = inputs(e, folder);
        if (!learn_stamp_fresh(folder, now, NULL)) jobs[todo++] = (job){.e = e, .inputs = now};
    }
    learn_run_jobs(todo, 0, check_solution, solution_checked, jobs);
    for (size_t i = 0; i < todo; i++) right += jobs[i].right;
    printf("-- solutions: %zu right, %zu wrong, %zu unchanged since they were right\n", right, todo - right,
           count - todo);
    return right == todo ? 0 : 1;
}
