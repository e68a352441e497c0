/* SPDX-License-Identifier: MIT */
/*
 * learn grade: a folder of submissions, each checked in a sandbox with data made from a seed, and the grades in whatever form
 * is wanted. Each exercise of each submission is checked by a process of its own: whatever happens in it, the next one is
 * checked all the same.
 */
#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "learn/course/commands.h"
#include "learn/grade/grading.h"
#include "p2p/shared/cli.h"

enum { KEY_SEED = 256, KEY_EXERCISE, KEY_POINTS, KEY_AUTOLAB, KEY_LIMIT, KEY_MEMORY, KEY_PROCESSES, KEY_JOBS = 'j' };
enum { KEY_CSV = 512, KEY_JUNIT, KEY_JSON, KEY_GRADESCOPE, KEY_GRADES, BEHIND_FORMATS };
enum { FORMATS = BEHIND_FORMATS - KEY_CSV };

static const struct argp_option options[] = {
    {"exercise", KEY_EXERCISE, "EX", 0, "grade this exercise (repeat it for more; default: all that were handed in)",
     0},
    {"seed", KEY_SEED, "N", 0,
     "make the data from N, to grade again with the same (default: a new one; 0: what learners get)", 0},
    {"points", KEY_POINTS, "P", 0, "points for an exercise that is right (1)", 0},
    {"grades", KEY_GRADES, "FILE", 0, "JSON with all there is, from which the others are made", 1},
    {"csv", KEY_CSV, "FILE", 0, "a row for each submission and exercise", 1},
    {"junit", KEY_JUNIT, "FILE", 0, "JUnit XML", 1},
    {"json", KEY_JSON, "FILE", 0, "results.json of exercism, version 3", 1},
    {"gradescope", KEY_GRADESCOPE, "FILE", 0, "results.json of Gradescope", 1},
    {"autolab", KEY_AUTOLAB, NULL, 0, "print Autolab's line last", 1},
    {"limit", KEY_LIMIT, "S", 0, "seconds that one world may take (10)", 2},
    {"memory", KEY_MEMORY, "MIB", 0, "memory of a submission's processes together (2048)", 2},
    {"processes", KEY_PROCESSES, "N", 0, "processes of a submission (96)", 2},
    {"jobs", KEY_JOBS, "N", 0, "check so many exercises at the same time (1)", 2},
    {0},
};

static const char about[] = "Grade a folder of submissions, or one submission: a folder or an archive made by `make "
                            "handin`. Each runs in a sandbox; "
                            "what that is on this machine is said first."
                            "\vExit status: 0 everything was graded, whatever the grades; 1 something could not be; 2 "
                            "called wrongly; 130 or 143 "
                            "interrupted.";

typedef struct {
    const char *folder, *files[FORMATS];
    bool *chosen; /* of each exercise of the course; NULL: none was named */
    uint64_t seed;
    double points;
    int jobs;
    bool autolab, seeded;
    learn_limits limits;
} arguments;

static double positive(struct argp_state *state, const char *what, const char *arg, double most)
{
    char *end;
    double value = strtod(arg, &end);
    if (end == arg || *end || !(value > 0) || value > most)
        argp_error(state, "--%s is a number above 0, up to %g, not \"%s\"", what, most, arg);
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    arguments *a = state->input;
    size_t count;
    const learn_exercise *all = learn_course(&count), *e;
    if (key >= KEY_CSV && key < BEHIND_FORMATS) {
        a->files[key - KEY_CSV] = arg;
        return 0;
    }
    switch (key) {
    case KEY_SEED: a->seed = learn_whole(state, "seed", arg), a->seeded = true; break;
    case KEY_AUTOLAB: a->autolab = true; break;
    case KEY_POINTS: a->points = positive(state, "points", arg, 1e6); break;
    case KEY_LIMIT: a->limits.world_seconds = positive(state, "limit", arg, 3600); break;
    case KEY_MEMORY: a->limits.memory = (uint64_t)positive(state, "memory", arg, 1 << 20) << 20; break;
    case KEY_PROCESSES: a->limits.processes = (int)positive(state, "processes", arg, 10000); break;
    case KEY_JOBS: a->jobs = (int)ceil(positive(state, "jobs", arg, LEARN_MOST_JOBS)); break;
    case KEY_EXERCISE:
        if (!(e = learn_find_or_say("learn grade", arg))) exit(2);
        if (!a->chosen) a->chosen = learn_memory(count * sizeof *a->chosen);
        a->chosen[e - all] = true;
        break;
    case ARGP_KEY_ARG:
        if (a->folder) argp_error(state, "one folder at a time: \"%s\" or \"%s\"?", a->folder, arg);
        a->folder = arg;
        break;
    case ARGP_KEY_END:
        if (!a->folder) argp_error(state, "which folder of submissions?");
        break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

/* ---- The submissions ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const learn_submission *)a)->name, ((const learn_submission *)b)->name);
}

static learn_submission *new_submission(learn_class *class)
{
    class->submissions = learn_grow(class->submissions, class->count, sizeof *class->submissions);
    return &class->submissions[class->count++];
}

/* A file that Moodle has put beside those of others: it belongs to whoever else has that name and number. */
static void add_loose_file(learn_class *class, int folder, const char *file)
{
    OWNED char *whose = learn_format("%.*s", (int)(learn_moodle_file(file) - file), file);
    learn_submission *s = NULL;
    for (size_t i = 0; i < class->count; i++)
        if (class->submissions[i].name && strcmp(class->submissions[i].name, whose) == 0) s = &class->submissions[i];
    if (!s) *(s = new_submission(class)) = (learn_submission){.name = learn_copy(whose)};
    learn_submission_add(s, folder, file);
}

/* Those that are put together from files keep Moodle's number until all have been found. */
static void shorten_names(learn_class *class)
{
    for (size_t i = 0; i < class->count; i++)
        learn_replace(&class->submissions[i].name, learn_learners_name(class->submissions[i].name));
    if (class->count > 1) qsort(class->submissions, class->count, sizeof *class->submissions, by_name);
    for (size_t i = 0, same = 1; i + 1 < class->count; i++) { /* two learners of one name are told apart */
        char **next = &class->submissions[i + 1].name;
        OWNED char *first = learn_format("%s", class->submissions[i + 1 - same].name);
        same = strcmp(first, *next) == 0 ? same + 1 : 1;
        if (same > 1) learn_replace(next, learn_format("%s (%zu)", first, same));
    }
}

/* A folder that is not a submission itself holds some: every folder and archive in it is one, empty or not. */
static bool read_class(learn_class *class, const char *path)
{
    if (learn_is_submission(path)) {
        learn_submission_read(new_submission(class), path, true);
        return true;
    }
    DIR *folder = opendir(path);
    for (struct dirent *d; folder && (d = readdir(folder));) {
        OWNED char *inner = learn_format("%s/%s", path, d->d_name);
        DIR *is_folder = *d->d_name == '.' ? NULL : opendir(inner);
        if (is_folder) closedir(is_folder);
        if (*d->d_name == '.') continue;
        if (is_folder || learn_is_submission(inner))
            learn_submission_read(new_submission(class), inner, false);
        else if (learn_moodle_file(d->d_name))
            add_loose_file(class, dirfd(folder), d->d_name);
    }
    if (folder) closedir(folder);
    shorten_names(class);
    return folder != NULL;
}

/* ---- The grades ---- */

static bool write_formats(const arguments *a, const json_t *grades)
{
    static char *(*const make[FORMATS])(const json_t *) = {learn_csv, learn_junit, learn_exercism, learn_gradescope,
                                                           learn_all_grades};
    bool good = true;
    for (size_t i = 0; i < FORMATS; i++) {
        if (!a->files[i]) continue;
        OWNED char *path = learn_from_where(a->files[i]), *text = make[i](grades);
        if (learn_write_file(path, text, strlen(text))) continue;
        fprintf(stderr, "learn grade: %s cannot be written: %s\n", a->files[i], strerror(errno));
        good = false;
    }
    OWNED char *line = a->autolab ? learn_autolab(grades) : NULL;
    if (line) puts(line);
    return good;
}

static int grade_class(const arguments *a, learn_class *class)
{
    learn_sandbox box;
    json_t *grades;
    const json_t *g;
    prctl(PR_SET_DUMPABLE, 0); /* a submission of the same user may not read what is known here */
    class->seed = a->seed;     /* not known before everything has been read */
    if (!a->seeded && getrandom(&class->seed, sizeof class->seed, 0) == sizeof class->seed)
        class->seed >>= 20; /* short enough to type */
    learn_secret(class);
    if (!learn_sandbox_open(&box, &a->limits, class->folder)) return 1;
    int status = learn_grade_all(class, &box, &grades);
    learn_sandbox_close(&box);
    if (status < 128) {
        double points = 0, most = 0;
        for (size_t i = 0; (g = learn_grade_at(grades, i)); i++) {
            points += json_number_value(json_object_get(g, "points"));
            most += json_number_value(json_object_get(g, "most"));
        }
        learn_print_matrix(grades);
        learn_print_alike(class, grades);
        printf("\n%zu submission%s, %g of %g points; to grade again with the same data: --seed %llu\n", class->count,
               class->count == 1 ? "" : "s", points, most, (unsigned long long)class->seed);
        if (!write_formats(a, grades)) status = 1;
    }
    json_decref(grades);
    return status;
}

int learn_command_grade(int argc, char **argv)
{
    static const struct argp parser = {options, parse, "FOLDER", about, NULL, NULL, NULL};
    arguments a = {
        .points = 1, .jobs = 1, .limits = {.memory = UINT64_C(2) << 30, .processes = 96, .world_seconds = 10}};
    p2p__cli_parse(&parser, argc, argv, 0, &a);
    OWNED char *folder = learn_from_where(a.folder);
    learn_class class = {.folder = folder, .points = a.points, .jobs = a.jobs, .graded = a.chosen};
    int status = 2;
    if (!read_class(&class, folder))
        fprintf(stderr, "learn grade: %s: %s\n", a.folder, strerror(errno));
    else if (!class.count)
        fprintf(stderr, "learn grade: there is no submission in %s: it should hold a folder or an archive for each\n",
                a.folder);
    else
        status = grade_class(&a, &class);
    for (size_t i = 0; i < class.count; i++) learn_submission_free(&class.submissions[i]);
    free(class.submissions);
    free(a.chosen);
    return status;
}
