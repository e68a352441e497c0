/* SPDX-License-Identifier: MIT */
/*
 * learn check-course: is the course itself sound? Every stub, solution and mutant is a job, which says what is wrong with it.
 */
#include <argp.h>
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "learn/course/commands.h"

enum kind { STUB, SOLUTION, MUTANT };

typedef struct {
    enum kind kind;
    const learn_exercise *e;
    char *path;   /* of a mutant */
    char *number; /* of one that is in the exercise's program of many: in it; NULL: it is not */
    int status;   /* 0: it is sound */
    char *said;
} job;

typedef struct {
    job *jobs;
    size_t count;
    int at_once;
    bool verbose;
} course_check;

/* ---- What has to be run: each adds a line to `wrong` for everything it finds; `work` is a folder to build in ---- */

/* The stub compiles without a warning, and does not pass; the solution passes. */
static void check_files(const learn_exercise *e, bool solution, const char *work, learn_text *wrong)
{
    OWNED char *folder = learn_format("%s/%s", solution ? "solutions" : "exercises", e->name);
    learn_options o = {.even_if_stub = true, .work = work, .rate = solution};
    OWNED_RESULT result;
    if (!solution && !learn_not_started(e, folder))
        learn_add(wrong, "%s is not as it is handed out: it has been started\n", folder);
    bool passed = learn_check(e, folder, &o, &result);
    if (passed != solution) learn_add(wrong, solution ? "%s does not pass:\n" : "%s: the stub passes\n", folder);
    if (!passed && (solution || strcmp(result.key, "compile") == 0 || strcmp(result.key, "link") == 0 ||
                    strcmp(result.key, "checker") == 0)) {
        OWNED char *text = learn_explanation(e, &result);
        learn_add(wrong, "%s", text);
    }
    if (*result.warnings) learn_add(wrong, "%s compiles with warnings:\n%s", folder, result.warnings);
}

/* ---- Mutants ---- */

/* White space of any length is one blank. In place. */
static void collapse(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        bool blank = isspace((unsigned char)*from);
        if (blank && (to == text || to[-1] == ' ')) continue;
        *to++ = blank ? ' ' : *from;
    }
    while (to > text && to[-1] == ' ') to--;
    *to = '\0';
}

/* The rest of the next line that begins with `mark`, collapsed; *at moves on. NULL if there is none. Free it. */
static char *next_mark(const char **at, const char *mark)
{
    const char *found = *at;
    while (found && strncmp(found, mark, strlen(mark)) != 0) {
        found = strchr(found, '\n');
        if (found) found++;
    }
    if (!found) return NULL;
    found += strlen(mark);
    size_t length = strcspn(found, "\n");
    *at = found + length;
    char *text = learn_format("%.*s", (int)length, found);
    collapse(text);
    return text;
}

/* Each expected text is in what was told. */
static void as_expected(const char *source, const char *told, const char *path, learn_text *wrong)
{
    const char *at = source;
    int count = 0;
    for (char *text; (text = next_mark(&at, "// expect:")); free(text)) {
        count++;
        if (!*text || !strstr(told, text)) learn_add(wrong, "%s: the explanation does not say \"%s\"\n", path, text);
    }
    if (!count) learn_add(wrong, "%s has no \"// expect:\"\n", path);
}

/* The mutant says what is wrong with it, fails, and the explanation holds each text that it expects. `told` becomes the
 * explanation. number: in the program of many that lies in `work`; NULL: it is not made yet. */
static void check_mutant(const learn_exercise *e, const char *path, const char *number, const char *work,
                         learn_text *wrong, learn_text *told)
{
    OWNED char *folder = learn_format("solutions/%s", e->name), *source = learn_read_file(path, NULL);
    learn_options o = {.instead = path, .work = work, .quiet_compiler = true, .keep_program = number, .mutant = number};
    OWNED_RESULT result;
    if (learn_check(e, folder, &o, &result)) learn_add(wrong, "%s survives: it passes\n", path);
    OWNED char *text = learn_explanation(e, &result);
    learn_add(told, "%s", text);
    collapse(text);
    if (strcmp(result.key, "compile") == 0 || strcmp(result.key, "checker") == 0)
        learn_add(wrong, "%s fails, but because of the checker or the compiler\n", path);
    const char *at = source ? source : "";
    OWNED char *what = next_mark(&at, "// what:");
    if (!what || !*what) learn_add(wrong, "%s has no \"// what:\"\n", path);
    if (result.state == LEARN_FAILED) as_expected(source ? source : "", text, path, wrong);
}

/* ---- Programs of many mutants, one an exercise, each made in a job that prints the numbers of those that are in it ---- */

static char *folder_of_many(const learn_exercise *e)
{
    return learn_format("%s/course/work/sound/%s", learn_build(), e->name);
}

/* The first; behind it are the others. */
static job *mutants_of(const course_check *c, size_t exercise, size_t *count)
{
    const learn_exercise *e = &learn_course(NULL)[exercise];
    job *first = c->jobs, *end = c->jobs + c->count;
    while (first < end && (first->kind != MUTANT || first->e != e)) first++;
    for (*count = 0; first + *count < end && first[*count].e == e; ++*count) continue;
    return first;
}

static int make_program(void *arg, size_t exercise, FILE *said)
{
    size_t count;
    const job *mutants = mutants_of(arg, exercise, &count);
    if (!count) return 1;
    OWNED char *work = folder_of_many(mutants->e);
    OWNED char **paths = learn_memory(count * sizeof *paths);
    OWNED bool *in = learn_memory(count * sizeof *in);
    for (size_t i = 0; i < count; i++) paths[i] = mutants[i].path;
    if (!learn_put_together(mutants->e, work, count, paths, in)) return 1;
    for (size_t i = 0; i < count; i++)
        if (in[i]) fprintf(said, "%zu\n", i);
    return 0;
}

/* Mutants of a program that could not be made are programs of their own. */
static void program_ended(void *arg, size_t exercise, int status, const char *said)
{
    size_t count;
    job *mutants = mutants_of(arg, exercise, &count);
    for (const char *at = said; status == 0 && *at; at = learn_next_line(at)) {
        size_t i = strtoul(at, NULL, 10);
        if (i < count) learn_replace(&mutants[i].number, learn_format("%zu", i));
    }
}

/* ---- Jobs ---- */

static int do_job(void *arg, size_t number, FILE *said)
{
    const course_check *c = arg;
    const job *j = &c->jobs[number];
    OWNED_TEXT wrong = {0}, told = {0};
    OWNED char *work = j->number ? folder_of_many(j->e)
                                 : learn_format("%s/course/work/sound/%zu", learn_build(), number);
    if (j->kind == MUTANT)
        check_mutant(j->e, j->path, j->number, work, &wrong, &told);
    else
        check_files(j->e, j->kind == SOLUTION, work, &wrong);
    fputs(learn_string(&wrong), said);
    if (wrong.used && told.used) fprintf(said, "%s was told:\n%s", j->path, told.text);
    if (!wrong.used && c->verbose && j->path) fprintf(said, "\n%s\n%s\n", j->path, learn_string(&told));
    return wrong.used ? 1 : 0;
}

static void job_ended(void *arg, size_t number, int status, const char *said)
{
    job *j = &((course_check *)arg)->jobs[number];
    bool broke = !WIFEXITED(status) || WEXITSTATUS(status) > 1;
    const char *name = j->path ? j->path : j->e->name;
    j->status = status;
    j->said = learn_format("%s%s%s", said, broke ? name : "",
                           status < 0 ? ": no process could be started for this\n"
                           : broke    ? ": the check itself broke\n"
                                      : "");
}

/* ---- Words ---- */

/* One line for an exercise; more if something is wrong. Returns true if all is well. */
static bool report(const course_check *c, const learn_exercise *e, size_t *mutants, size_t *killed)
{
    OWNED_TEXT wrong = {0};
    size_t own = 0, dead = 0, bad = 0;
    learn_sound_files(e, &wrong);
    for (const job *j = c->jobs; j < c->jobs + c->count; j++) {
        if (j->e != e) continue;
        bad += j->status != 0;
        own += j->kind == MUTANT;
        dead += j->kind == MUTANT && j->status == 0;
    }
    if (!own) learn_add(&wrong, "tests/mutants/%s: there is no mutant\n", e->name);
    bool good = !wrong.used && !bad;
    printf("%-24s %2zu of %2zu mutants killed   %s\n%s", e->name, dead, own, good ? "sound" : "WRONG",
           learn_string(&wrong));
    for (const job *j = c->jobs; j < c->jobs + c->count; j++)
        if (j->e == e) fputs(j->said, stdout);
    *mutants += own;
    *killed += dead;
    return good;
}

static bool report_all(const course_check *c, const learn_exercise *only)
{
    OWNED_TEXT stray = {0};
    size_t mutants = 0, killed = 0, exercises = 0;
    bool good = true;
    for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
        if (only && only != e) continue;
        exercises++;
        good = report(c, e, &mutants, &killed) && good;
    }
    learn_sound_tree(&stray);
    fputs(learn_string(&stray), stdout);
    good = good && !stray.used;
    printf("%zu exercise%s, %zu mutant%s, %zu killed: %.0f%%\n", exercises, exercises == 1 ? "" : "s", mutants,
           mutants == 1 ? "" : "s", killed, mutants ? 100.0 * (double)killed / (double)mutants : 0.0);
    return good;
}

/* ---- The command ---- */

static const struct argp_option options[] = {
    {"verbose", 'v', NULL, 0, "print what each mutant was told", 0},
    {"jobs", 'j', "N", 0, "run so many at once (as many as there are cores)", 0},
    {0},
};

static int option(void *own, int key, char *arg, struct argp_state *state)
{
    course_check *c = own;
    switch (key) {
    case 'v': c->verbose = true; break;
    case 'j':
        c->at_once = atoi(arg);
        if (c->at_once < 1 || c->at_once > 256) argp_error(state, "--jobs is from 1 to 256, not \"%s\"", arg);
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void add_job(course_check *c, enum kind kind, const learn_exercise *e, char *path)
{
    c->jobs = learn_grow(c->jobs, c->count, sizeof *c->jobs);
    c->jobs[c->count++] = (job){.kind = kind, .e = e, .path = path};
}

static bool check_all(course_check *c, const learn_exercise *only)
{
    for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
        if (only && only != e) continue;
        OWNED char *pattern = learn_format("tests/mutants/%s/*.c*", e->name);
        glob_t mutants = {0};
        glob(pattern, 0, NULL, &mutants);
        add_job(c, STUB, e, NULL);
        add_job(c, SOLUTION, e, NULL);
        for (size_t i = 0; i < mutants.gl_pathc; i++) add_job(c, MUTANT, e, learn_copy(mutants.gl_pathv[i]));
        globfree(&mutants);
    }
    size_t exercises;
    learn_course(&exercises);
    learn_run_jobs(exercises, c->at_once, make_program, program_ended, c);
    learn_run_jobs(c->count, c->at_once, do_job, job_ended, c);
    bool good = report_all(c, only);
    for (size_t i = 0; i < c->count; i++) {
        free(c->jobs[i].path);
        free(c->jobs[i].number);
        free(c->jobs[i].said);
    }
    free(c->jobs);
    return good;
}

int learn_command_check_course(int argc, char **argv)
{
    static const learn_usage usage = {
        .what = "Is the course sound? Each stub is not started and is what is cut from its solution, each solution "
                "passes, every mutant fails with the words that are meant for it, and no file is there that belongs to "
                "nothing.",
        .may_lack = true,
        .options = options,
        .option = option};
    course_check c = {.jobs = NULL};
    learn_call call = {.own = &c};
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    return check_all(&c, call.e) ? 0 : 1;
}
