/* SPDX-License-Identifier: MIT */
/*
 * learn check-course: is the course itself sound? Every stub, solution and mutant is a job, which writes what it finds into
 * memory that is shared.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "learn/course/sound.h"
#include "p2p/shared/cli.h"

enum kind { STUB, SOLUTION, MUTANT };
enum { ROOM = 6000, MOST_JOBS = 4096 };

/* What it found is shared with its process. */
typedef struct {
    enum kind kind;
    const learn_exercise *e;
    char *path; /* of a mutant */
    bool done;
    char wrong[ROOM], told[ROOM];
} job;

typedef struct {
    job *jobs;
    size_t count;
    int at_once;
    bool verbose;
    const char *name;
} course_check;

/* ---- Jobs ---- */

static int do_job(void *arg, size_t number)
{
    const course_check *c = arg;
    job *j = &c->jobs[number];
    learn_text wrong = {0}, told = {0};
    char *work = learn_format("%s/course/work/sound/%zu", learn_build(), number);
    switch (j->kind) {
    case STUB: learn_sound_stub(j->e, work, &wrong); break;
    case SOLUTION: learn_sound_solution(j->e, work, &wrong); break;
    case MUTANT: learn_sound_mutant(j->e, j->path, work, &wrong, &told); break;
    }
    snprintf(j->wrong, sizeof j->wrong, "%s", learn_string(&wrong));
    snprintf(j->told, sizeof j->told, "%s", learn_string(&told));
    j->done = true;
    return 0;
}

static void job_ended(void *arg, size_t number, int status)
{
    const course_check *c = arg;
    if (status < 0) snprintf(c->jobs[number].wrong, ROOM, "no process could be started for this\n");
}

/* ---- Words ---- */

/* One line for an exercise; more if something is wrong. Returns true if all is well. */
static bool report(const course_check *c, const learn_exercise *e, size_t *mutants, size_t *killed)
{
    learn_text wrong = {0};
    size_t own = 0, dead = 0, bad = 0;
    learn_sound_files(e, &wrong);
    for (const job *j = c->jobs; j < c->jobs + c->count; j++) {
        if (j->e != e) continue;
        bool good = j->done && !j->wrong[0];
        bad += !good;
        own += j->kind == MUTANT;
        dead += j->kind == MUTANT && good;
    }
    if (!own) learn_add(&wrong, "tests/mutants/%s: there is no mutant\n", e->name);
    bool good = !wrong.used && !bad;
    printf("%-24s %2zu of %2zu mutants killed   %s\n%s", e->name, dead, own, good ? "sound" : "WRONG",
           learn_string(&wrong));
    for (const job *j = c->jobs; j < c->jobs + c->count; j++) {
        if (j->e != e) continue;
        fputs(j->wrong, stdout);
        if (!j->done) printf("%s: the check itself broke\n", j->path ? j->path : e->name);
        if (j->wrong[0] && j->told[0]) printf("%s was told:\n%s", j->path, j->told);
        if (j->done && !j->wrong[0] && c->verbose && j->path) printf("\n%s\n%s\n", j->path, j->told);
    }
    *mutants += own;
    *killed += dead;
    learn_text_free(&wrong);
    return good;
}

static bool report_all(const course_check *c, const learn_exercise *only)
{
    learn_text stray = {0};
    size_t count, mutants = 0, killed = 0, exercises = 0;
    const learn_exercise *all = learn_course(&count);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        if (only && only != &all[i]) continue;
        exercises++;
        good = report(c, &all[i], &mutants, &killed) && good;
    }
    learn_sound_tree(&stray);
    fputs(learn_string(&stray), stdout);
    good = good && !stray.used;
    printf("%zu exercise%s, %zu mutant%s, %zu killed: %.0f%%\n", exercises, exercises == 1 ? "" : "s", mutants,
           mutants == 1 ? "" : "s", killed, mutants ? 100.0 * (double)killed / (double)mutants : 0.0);
    learn_text_free(&stray);
    return good;
}

/* ---- The command ---- */

static const struct argp_option options[] = {
    {"verbose", 'v', NULL, 0, "print what each mutant was told", 0},
    {"jobs", 'j', "N", 0, "run so many at once (as many as there are cores)", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    course_check *c = state->input;
    switch (key) {
    case 'v': c->verbose = true; break;
    case 'j':
        c->at_once = atoi(arg);
        if (c->at_once < 1 || c->at_once > 256) argp_error(state, "--jobs is from 1 to 256, not \"%s\"", arg);
        break;
    case ARGP_KEY_ARG:
        if (c->name) argp_error(state, "one exercise at a time, or none for all");
        c->name = arg;
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static bool add_job(course_check *c, enum kind kind, const learn_exercise *e, char *path)
{
    if (c->count == MOST_JOBS) fprintf(stderr, "learn check-course: more than %d things to check\n", MOST_JOBS);
    if (c->count == MOST_JOBS) return false;
    job *j = &c->jobs[c->count++];
    j->kind = kind, j->e = e, j->path = path;
    return true;
}

static bool check_all(course_check *c, const learn_exercise *only)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    c->jobs = mmap(NULL, MOST_JOBS * sizeof *c->jobs, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (c->jobs == MAP_FAILED) {
        fputs("learn check-course: out of memory\n", stderr);
        return false;
    }
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        if (only && only != &all[i]) continue;
        char **mutants = learn_mutants(&all[i]);
        good = add_job(c, STUB, &all[i], NULL) && add_job(c, SOLUTION, &all[i], NULL);
        for (size_t k = 0; mutants[k] && good; k++) good = add_job(c, MUTANT, &all[i], mutants[k]);
        free(mutants);
    }
    if (good) learn_run_jobs(c->count, c->at_once, do_job, job_ended, c);
    good = good && report_all(c, only);
    for (size_t i = 0; i < c->count; i++) free(c->jobs[i].path);
    munmap(c->jobs, MOST_JOBS * sizeof *c->jobs);
    return good;
}

int learn_command_check_course(int argc, char **argv)
{
    static const struct argp parser = {
        options,
        parse,
        "[EX]",
        "Is the course sound? Each stub is not started and is what is cut from its solution, each solution passes, "
        "every mutant fails with the words that are meant for it, and no file is there that belongs to nothing.",
        NULL,
        NULL,
        NULL};
    course_check c = {.name = NULL};
    learn_text why = {0};
    p2p__cli_parse(&parser, argc, argv, 0, &c);
    const learn_exercise *only = c.name ? learn_find(c.name, &why) : NULL;
    if (c.name && !only) fprintf(stderr, "learn check-course: %s\n", learn_string(&why));
    learn_text_free(&why);
    if (c.name && !only) return 2;
    return check_all(&c, only) ? 0 : 1;
}
