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
#include <sys/wait.h>
#include <unistd.h>

#include "learn/course/commands.h"

/* ---- What an exercise's result depends on ---- */

static uint64_t inputs(const learn_exercise *e, const char *folder)
{
    uint64_t hash = learn_files_hash(e, folder), tools = learn_tools_hash();
    if (!hash || !tools) return 0;
    hash = learn_hash(hash, &tools, sizeof tools);
    for (const char *const *name = e->check->uses; name && *name; name++) {
        learn_text why = {0};
        const learn_exercise *used = learn_find(*name, &why);
        char *solution = learn_format("solutions/%s", *name);
        uint64_t other = used ? learn_files_hash(used, solution) : 0;
        hash = learn_hash(hash, &other, sizeof other);
        free(solution);
        learn_text_free(&why);
    }
    return learn_hash_file(hash, "exercises/exercises.h");
}

/* ---- The learner's ---- */

typedef struct {
    const learn_exercise *e;
    learn_result result;
    struct timespec saved;
} failure;

/* When the last of its files was saved. */
static struct timespec saved(const learn_exercise *e)
{
    struct timespec last = {0, 0};
    for (const char *const *file = e->check->files; *file; file++) {
        char path[LEARN_PATH];
        struct stat s;
        if (stat(learn_path(path, "exercises", e, *file), &s) != 0) continue;
        bool later = s.st_mtim.tv_sec > last.tv_sec ||
                     (s.st_mtim.tv_sec == last.tv_sec && s.st_mtim.tv_nsec > last.tv_nsec);
        if (later) last = s.st_mtim;
    }
    return last;
}

static bool later(const failure *a, const failure *b)
{
    if (a->saved.tv_sec != b->saved.tv_sec) return a->saved.tv_sec > b->saved.tv_sec;
    return a->saved.tv_nsec > b->saved.tv_nsec;
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
        if (well) learn_stamp_keep(stamp, now, "");
        if (well) learn_explain(stdout, e, &f->result, false);
        if (well) learn_result_free(&f->result);
    }
    free(stamp);
    free(folder);
    f->e = e;
    f->saved = saved(e);
    return well;
}

static void tell(const failure *failures, size_t count)
{
    const failure *last = NULL;
    const char *more = getenv("V");
    for (size_t i = 0; i < count; i++)
        if (!last || later(&failures[i], last)) last = &failures[i];
    for (size_t i = 0; i < count; i++)
        if (&failures[i] != last)
            printf("%s: not yet; see make test EX=%02d\n", failures[i].e->name, failures[i].e->number);
    if (!last) return;
    putchar('\n');
    learn_explain(stdout, last->e, &last->result, more && *more);
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
    failure *failures = learn_memory(count * sizeof *failures);
    for (size_t i = 0; i < count; i++) {
        learn_state_begin(&all[i]);
        if (!own_is_well(&all[i], &failures[failed])) failed++;
    }
    tell(failures, failed);
    learn_board(stdout);
    for (size_t i = 0; i < failed; i++) learn_result_free(&failures[i].result);
    free(failures);
    return failed ? 1 : 0;
}

/* ---- The solutions: as many at a time as there are cores ---- */

typedef struct {
    const learn_exercise *e;
    uint64_t inputs;
    pid_t pid;
    FILE *said;
} job;

static char *stamp_of(const learn_exercise *e)
{
    return learn_format("solutions/%s", e->name);
}

_Noreturn static void check_solution(const job *j)
{
    char *folder = stamp_of(j->e), *work = learn_format("%s/course/solutions/%s", learn_build(), j->e->name);
    learn_options options = {.even_if_stub = true, .work = work};
    learn_result result;
    bool good = learn_check(j->e, folder, &options, &result);
    if (!good) learn_explain(j->said, j->e, &result, true);
    fflush(j->said);
    _exit(good ? 0 : 1);
}

static void begin(job *j)
{
    j->said = tmpfile();
    fflush(NULL);
    j->pid = j->said ? fork() : -1;
    if (j->pid == 0) check_solution(j);
    if (j->pid < 0)
        fprintf(stderr, "learn solutions: %s cannot be checked: no process or no temporary file\n", j->e->name);
}

/* True if it was right. */
static bool finish(job *j, int status)
{
    bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    char *stamp = stamp_of(j->e);
    if (good)
        learn_stamp_keep(stamp, j->inputs, "");
    else
        printf("FAIL solutions/%s\n", j->e->name);
    rewind(j->said);
    for (int c; !good && (c = fgetc(j->said)) != EOF;) putchar(c);
    fclose(j->said);
    j->pid = 0;
    free(stamp);
    return good;
}

/* Wait for one of them. True if it was right. */
static bool finish_one(job *jobs, size_t count)
{
    int status;
    pid_t pid = wait(&status);
    for (size_t i = 0; i < count; i++)
        if (jobs[i].pid == pid && pid > 0) return finish(&jobs[i], status);
    return false;
}

static size_t run_jobs(job *jobs, size_t count)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t running = 0, right = 0, most = cores > 1 ? (size_t)cores : 1;
    for (size_t i = 0; i < count; i++) {
        if (running == most) right += finish_one(jobs, count), running--;
        begin(&jobs[i]);
        running += jobs[i].pid > 0;
    }
    for (; running; running--) right += finish_one(jobs, count);
    return right;
}

int learn_command_solutions(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Check the solutions of all exercises. What has not changed since it was "
                                              "right is not run again (ALL=1: all "
                                              "the same).",
                                      .may_lack = true};
    learn_call call;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    size_t count, todo = 0;
    const learn_exercise *all = learn_course(&count);
    job *jobs = learn_memory(count * sizeof *jobs);
    for (size_t i = 0; i < count; i++) {
        char *folder = stamp_of(&all[i]);
        uint64_t now = inputs(&all[i], folder);
        if (!learn_stamp_fresh(folder, now, NULL)) jobs[todo++] = (job){.e = &all[i], .inputs = now};
        free(folder);
    }
    size_t right = run_jobs(jobs, todo);
    printf("-- solutions: %zu right, %zu wrong, %zu unchanged since they were right\n", right, todo - right,
           count - todo);
    free(jobs);
    return right == todo ? 0 : 1;
}
