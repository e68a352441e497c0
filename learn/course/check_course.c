/* SPDX-License-Identifier: MIT */
/*
 * learn check-course: is the course itself sound? Every stub, solution and mutant is a job; as many run at once as there are
 * cores, each in a process of its own, which writes what it finds into memory that is shared.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/course/sound.h"
#include "p2p/shared/cli.h"

enum kind { STUB, SOLUTION, MUTANT };
enum { ROOM = 6000 };

typedef struct {
    enum kind kind;
    const learn_exercise *e;
    char *path; /* of a mutant */
    pid_t pid;
} job;

/* What a job found; shared with its process. */
typedef struct {
    bool done;
    char wrong[ROOM], told[ROOM];
} finding;

typedef struct {
    job *jobs;
    finding *findings;
    size_t count, room;
    int at_once;
    bool verbose;
    const char *name;
} course_check;

/* ---- Jobs ---- */

static void add_job(course_check *c, enum kind kind, const learn_exercise *e, char *path)
{
    if (c->count == c->room) {
        c->room = 2 * c->room + 64;
        job *grown = realloc(c->jobs, c->room * sizeof *grown);
        if (!grown) exit(1);
        c->jobs = grown;
    }
    c->jobs[c->count++] = (job){.kind = kind, .e = e, .path = path, .pid = -1};
}

static void add_jobs(course_check *c, const learn_exercise *e)
{
    char **mutants = learn_mutants(e);
    add_job(c, STUB, e, NULL);
    add_job(c, SOLUTION, e, NULL);
    for (size_t i = 0; mutants[i]; i++) add_job(c, MUTANT, e, mutants[i]);
    free(mutants);
}

static void do_job(const job *j, size_t number, finding *f)
{
    learn_text wrong = {0}, told = {0};
    char *work = learn_format("%s/course/work/sound/%zu", learn_build(), number);
    switch (j->kind) {
    case STUB: learn_sound_stub(j->e, work, &wrong); break;
    case SOLUTION: learn_sound_solution(j->e, work, &wrong); break;
    case MUTANT: learn_sound_mutant(j->e, j->path, work, &wrong, &told); break;
    }
    snprintf(f->wrong, sizeof f->wrong, "%s", learn_string(&wrong));
    snprintf(f->told, sizeof f->told, "%s", learn_string(&told));
    f->done = true;
}

static void start(course_check *c, size_t number)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        do_job(&c->jobs[number], number, &c->findings[number]);
        _exit(0);
    }
    if (pid < 0) snprintf(c->findings[number].wrong, ROOM, "no process could be started for this\n");
    c->jobs[number].pid = pid;
}

static void run_jobs(course_check *c)
{
    int running = 0;
    for (size_t i = 0; i < c->count || running > 0;) {
        while (i < c->count && running < c->at_once) {
            start(c, i);
            running += c->jobs[i++].pid > 0;
        }
        if (running > 0 && wait(NULL) > 0) running--;
    }
}

/* ---- Words ---- */

static bool is_wrong(const course_check *c, size_t i)
{
    return !c->findings[i].done || c->findings[i].wrong[0];
}

static void print_wrong(const course_check *c, size_t i)
{
    const job *j = &c->jobs[i];
    const finding *f = &c->findings[i];
    fputs(f->wrong, stdout);
    if (!f->done) printf("%s: the check itself broke\n", j->path ? j->path : j->e->name);
    if (f->told[0]) printf("%s was told:\n%s", j->path, f->told);
}

/* One line for an exercise; more if something is wrong. Returns true if all is well. */
static bool report(const course_check *c, const learn_exercise *e, size_t *mutants, size_t *killed)
{
    learn_text wrong = {0};
    size_t own = 0, dead = 0, bad = 0;
    learn_sound_files(e, &wrong);
    for (size_t i = 0; i < c->count; i++) {
        if (c->jobs[i].e != e) continue;
        bad += is_wrong(c, i);
        own += c->jobs[i].kind == MUTANT;
        dead += c->jobs[i].kind == MUTANT && !is_wrong(c, i);
    }
    if (!own) learn_add(&wrong, "tests/mutants/%s: there is no mutant\n", e->name);
    bool good = !wrong.used && !bad;
    printf("%-24s %2zu of %2zu mutants killed   %s\n", e->name, dead, own, good ? "sound" : "WRONG");
    fputs(learn_string(&wrong), stdout);
    for (size_t i = 0; i < c->count; i++) {
        if (c->jobs[i].e != e) continue;
        if (is_wrong(c, i))
            print_wrong(c, i);
        else if (c->verbose && c->jobs[i].path)
            printf("\n%s\n%s\n", c->jobs[i].path, c->findings[i].told);
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

static void free_jobs(course_check *c)
{
    for (size_t i = 0; i < c->count; i++) free(c->jobs[i].path);
    free(c->jobs);
    c->jobs = NULL;
}

static bool run_and_report(course_check *c, const learn_exercise *only)
{
    size_t bytes = c->count * sizeof *c->findings;
    c->findings = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->findings == MAP_FAILED) {
        fputs("learn check-course: out of memory\n", stderr);
        return false;
    }
    run_jobs(c);
    bool good = report_all(c, only);
    munmap(c->findings, bytes);
    return good;
}

static bool check_all(course_check *c, const learn_exercise *only)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    for (size_t i = 0; i < count; i++)
        if (!only || only == &all[i]) add_jobs(c, &all[i]);
    bool good = run_and_report(c, only);
    free_jobs(c);
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
    course_check c = {.at_once = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    learn_text why = {0};
    p2p__cli_parse(&parser, argc, argv, 0, &c);
    if (c.at_once < 1) c.at_once = 1;
    const learn_exercise *only = c.name ? learn_find(c.name, &why) : NULL;
    if (c.name && !only) fprintf(stderr, "learn check-course: %s\n", learn_string(&why));
    learn_text_free(&why);
    if (c.name && !only) return 2;
    return check_all(&c, only) ? 0 : 1;
}
