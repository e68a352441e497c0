/* SPDX-License-Identifier: MIT */
/* Is the course sound, as far as its files go? */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/course/commands.h"

/* ---- Folders ---- */

/* What a folder is; of the last three, each exercise has one. */
enum place { TREE, TESTS, EXERCISE, SOLUTION, MUTANTS };

/* Does a file or folder of that name belong there? */
static bool belongs(enum place place, const learn_exercise *e, const char *name, learn_text *wrong)
{
    char ours[LEARN_PATH], theirs[LEARN_PATH];
    size_t stem = strcspn(name, ".");
    bool page = strcmp(name, "README.md") == 0;
    switch (place) {
    case TREE:
        return page || learn_has_ending(name, ".h") || strcmp(name, "check") == 0 || learn_named(name, strlen(name));
    case TESTS:
        return learn_has_ending(name, ".h") ||
               (learn_named(name, stem) && (strcmp(name + stem, ".c") == 0 || strcmp(name + stem, ".hints") == 0));
    case MUTANTS: return learn_is_source(name);
    case EXERCISE:
        return page || learn_is_file_of(e, name) || access(learn_path(ours, "solutions", e, name), R_OK) == 0;
    case SOLUTION: break;
    }
    if (page || learn_is_file_of(e, name)) return true;
    if (!learn_is_source(name)) return false;
    /* the learner is given it as it is */
    uint64_t hash = learn_hash_file(0, learn_path(ours, "solutions", e, name));
    if (!hash || hash != learn_hash_file(0, learn_path(theirs, "exercises", e, name)))
        learn_add(wrong, "%s and %s differ, and %s is not a file that is to be edited\n", ours, theirs, name);
    return true;
}

static void look_through(enum place place, const char *folder, const learn_exercise *e, learn_text *wrong)
{
    struct dirent **names;
    int count = scandir(folder, &names, NULL, alphasort);
    if (count < 0) learn_add(wrong, "%s is missing\n", folder);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !belongs(place, e, name, wrong))
            learn_add(wrong, "%s/%s belongs to no exercise\n", folder, name);
        free(names[i]);
    }
    if (count >= 0) free(names);
}

void learn_sound_tree(learn_text *wrong)
{
    look_through(TREE, "exercises", NULL, wrong);
    look_through(TREE, "solutions", NULL, wrong);
    look_through(TREE, "tests/mutants", NULL, wrong);
    look_through(TESTS, "tests/exercises", NULL, wrong);
    for (const learn_exercise *e = learn_course(NULL); e->check; e++) {
        OWNED char *path = learn_format("tests/exercises/%s.c", e->name);
        if (access(path, R_OK) != 0) learn_add(wrong, "%s is not the name of its test's file\n", e->name);
    }
}

/* ---- One exercise ---- */

static void stub_is_cut(const learn_exercise *e, const char *file, learn_text *wrong)
{
    char path[LEARN_PATH];
    OWNED_TEXT why = {0};
    OWNED char *stub = learn_stub(e, file, &why),
               *solution = learn_read_file(learn_path(path, "solutions", e, file), NULL),
               *there = learn_read_file(learn_path(path, "exercises", e, file), NULL);
    if (!stub)
        learn_add(wrong, "%s\n", learn_string(&why));
    else if (!there)
        learn_add(wrong, "%s is missing: learn cut %s --write\n", path, e->name);
    else if (strcmp(stub, there) != 0)
        learn_add(wrong, "%s is not what is cut from the solution: learn cut %s --write\n", path, e->name);
    else if (solution && learn_same_places(solution, stub))
        learn_add(wrong, "%s: the solution is its own stub: there is no \"// TODO\" in it\n", path);
}

void learn_sound_files(const learn_exercise *e, learn_text *wrong)
{
    static const char *const trees[] = {"exercises", "solutions", "tests/mutants"}, *const sections[] = {"1", "2", "3"};
    for (size_t i = 0; i < 3; i++) {
        OWNED char *folder = learn_format("%s/%s", trees[i], e->name), *page = learn_format("%s/README.md", folder);
        look_through(EXERCISE + (enum place)i, folder, e, wrong);
        if (i < 2 && access(page, R_OK) != 0) learn_add(wrong, "%s is missing\n", page);
    }
    for (size_t i = 0; i < 3; i++) {
        OWNED char *hint = learn_hint(e, sections[i]);
        if (!hint || !*hint) learn_add(wrong, "tests/exercises/%s.hints has no [%s]\n", e->name, sections[i]);
    }
    for (const char *const *file = e->check->files; *file; file++) stub_is_cut(e, *file, wrong);
}
