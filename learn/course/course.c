/* SPDX-License-Identifier: MIT */
/*
 * The exercises there are, and where things lie. The list is made by make from the names in tests/exercises: a new
 * NN_name.c there is a new exercise.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "learn/learn.h"

/* course.h: EXERCISE(check_00_hello) EXERCISE(check_01_send_recv) ... in order of name. */
#define EXERCISE(name) extern const check_exercise name;
#include "course.h"
#undef EXERCISE

static learn_exercise course[] = {
#define EXERCISE(exercise) {.check = &(exercise)},
#include "course.h"
#undef EXERCISE
    {.check = NULL},
};
enum { COUNT = sizeof course / sizeof *course - 1 };

const learn_exercise *learn_course(size_t *count)
{
    for (size_t i = 0; i < COUNT && !course[i].name; i++) {
        course[i].name = course[i].check->name;
        snprintf(course[i].code, sizeof course[i].code, "%s", course[i].name);
        course[i].number = isdigit((unsigned char)*course[i].name) ? (int)strtol(course[i].name, NULL, 10) : -1;
    }
    if (count) *count = COUNT;
    return course;
}

const learn_exercise *learn_named(const char *name, size_t length)
{
    for (const learn_exercise *e = learn_course(NULL); e->check; e++)
        if (strlen(e->name) == length && memcmp(e->name, name, length) == 0) return e;
    return NULL;
}

bool learn_is_file_of(const learn_exercise *e, const char *name)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

/* ---- Finding one ---- */

/* How well the words fit: 2 it is this one, 1 they are a part of its name. */
static int fits(const learn_exercise *e, const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);
    const char *bare = strchr(e->name, '_');
    if (isdigit((unsigned char)*text) && !*end && number < 1000) return number == e->number ? 2 : 0;
    if (strcasecmp(text, e->code) == 0 || strcmp(text, e->name) == 0 || (bare && strcmp(text, bare + 1) == 0)) return 2;
    return strstr(e->name, text) ? 1 : 0;
}

static void list(learn_text *why, const char *text, int least)
{
    const char *before = "";
    for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
        if (fits(e, text) < least) continue;
        learn_add(why, "%s%s", before, e->name);
        before = ", ";
    }
}

const learn_exercise *learn_find(const char *text, learn_text *why)
{
    const learn_exercise *found[3] = {NULL};
    size_t fit[3] = {0};
    for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
        int how = fits(e, text);
        found[how] = e;
        fit[how]++;
    }
    int best = fit[2] ? 2 : 1;
    if (fit[best] == 1) return found[best];
    if (!why) return NULL;
    if (*text && fit[best] > 1) {
        learn_add(why, "\"%s\" could be ", text);
        list(why, text, best);
    } else {
        OWNED_TEXT all_names = {0};
        learn_add(&all_names, "there is no exercise \"%s\"; there is ", text);
        list(&all_names, "_", 0);
        learn_add_wrapped(why, learn_string(&all_names), 2, 80);
    }
    return NULL;
}

/* ---- Places ---- */

static char built_in[LEARN_PATH], called_from[LEARN_PATH];

const char *learn_build(void)
{
    return built_in;
}

const char *learn_where(void)
{
    return called_from;
}

/* The folder above `path`, in place; false at the top. */
static bool up(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path) return false;
    *slash = '\0';
    return true;
}

/* Up from a folder, until there is a course. */
static bool find_top(const char *from, char *top)
{
    snprintf(top, LEARN_PATH, "%s", from);
    char header[LEARN_PATH + 32];
    do {
        snprintf(header, sizeof header, "%s/exercises/exercises.h", top);
        if (access(header, R_OK) == 0) return true;
    } while (up(top));
    return false;
}

bool learn_go_home(void)
{
    char program[LEARN_PATH], top[LEARN_PATH];
    if (built_in[0]) return true; /* home already */
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length < 0) length = 0;
    program[length] = '\0';
    if (!getcwd(called_from, sizeof called_from)) called_from[0] = '\0';
    if (!up(program) || !(find_top(program, top) || find_top(called_from, top)) || chdir(top) != 0) {
        fputs("learn: the course is not here: there is no exercises/exercises.h above the folder of this program, nor "
              "above the current one\n",
              stderr);
        return false;
    }
    size_t above = strlen(top);
    bool inside = strncmp(program, top, above) == 0 && program[above] == '/';
    snprintf(built_in, sizeof built_in, "%s", inside ? program + above + 1 : program);
    return true;
}

const char *learn_path(char *path, const char *tree, const learn_exercise *e, const char *file)
{
    snprintf(path, LEARN_PATH, "%s/%s/%s", tree, e->name, file);
    return path;
}
