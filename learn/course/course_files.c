/* SPDX-License-Identifier: MIT */
/* Is the course sound, as far as its files go? */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "learn/course/sound.h"

/* ---- Folders ---- */

static int visible(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Call each(name) for what is in a folder, in order of name. */
typedef struct {
    const learn_exercise *e;
    const char *folder;
    learn_text *wrong;
} place;

static void for_all(const place *p, void (*each)(const place *p, const char *name))
{
    struct dirent **names;
    int count = scandir(p->folder, &names, visible, alphasort);
    if (count < 0) {
        learn_add(p->wrong, "%s is missing\n", p->folder);
        return;
    }
    for (int i = 0; i < count; i++) {
        each(p, names[i]->d_name);
        free(names[i]);
    }
    free(names);
}

static void stray(const place *p, const char *name)
{
    learn_add(p->wrong, "%s/%s belongs to no exercise\n", p->folder, name);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

static bool is_exercise(const char *name, size_t length)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    for (size_t i = 0; i < count; i++)
        if (strlen(all[i].name) == length && strncmp(all[i].name, name, length) == 0) return true;
    return false;
}

static void in_tree(const place *p, const char *name)
{
    bool shared = strcmp(name, "README.md") == 0 || strcmp(name, "exercises.h") == 0 || strcmp(name, "check") == 0;
    if (!shared && !is_exercise(name, strlen(name))) stray(p, name);
}

static void in_tests(const place *p, const char *name)
{
    size_t stem = strcspn(name, ".");
    bool own = is_exercise(name, stem) && (strcmp(name + stem, ".c") == 0 || strcmp(name + stem, ".hints") == 0);
    if (!own && !ends_with(name, ".h")) stray(p, name);
}

void learn_sound_tree(learn_text *wrong)
{
    size_t count;
    const learn_exercise *all = learn_course(&count);
    for_all(&(place){NULL, "exercises", wrong}, in_tree);
    for_all(&(place){NULL, "solutions", wrong}, in_tree);
    for_all(&(place){NULL, "tests/mutants", wrong}, in_tree);
    for_all(&(place){NULL, "tests/exercises", wrong}, in_tests);
    for (size_t i = 0; i < count; i++) {
        char *path = learn_format("tests/exercises/%s.c", all[i].name);
        if (access(path, R_OK) != 0) learn_add(wrong, "%s is not the name of its test's file\n", all[i].name);
        free(path);
    }
}

/* ---- One exercise ---- */

static bool is_edited(const learn_exercise *e, const char *name)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (strcmp(*file, name) == 0) return true;
    return false;
}

/* A file of the solution's folder that the learner is given as it is. */
static void same_in_both(const place *p, const char *name)
{
    char ours[LEARN_PATH], theirs[LEARN_PATH];
    learn_path(ours, "solutions", p->e, name);
    learn_path(theirs, "exercises", p->e, name);
    uint64_t hash = learn_hash_file(0, ours);
    if (!hash || hash != learn_hash_file(0, theirs))
        learn_add(p->wrong, "%s and %s differ, and %s is not a file that is to be edited\n", ours, theirs, name);
}

static void in_solution(const place *p, const char *name)
{
    if (strcmp(name, "README.md") == 0 || is_edited(p->e, name)) return;
    if (ends_with(name, ".c") || ends_with(name, ".h"))
        same_in_both(p, name);
    else
        stray(p, name);
}

static void in_exercise(const place *p, const char *name)
{
    char path[LEARN_PATH];
    bool known = strcmp(name, "README.md") == 0 || is_edited(p->e, name) ||
                 access(learn_path(path, "solutions", p->e, name), R_OK) == 0;
    if (!known) stray(p, name);
}

static void in_mutants(const place *p, const char *name)
{
    if (!ends_with(name, ".c")) stray(p, name);
}

static void page_is_there(const learn_exercise *e, const char *tree, learn_text *wrong)
{
    char path[LEARN_PATH];
    if (access(learn_path(path, tree, e, "README.md"), R_OK) != 0) learn_add(wrong, "%s is missing\n", path);
}

static void stub_is_cut(const learn_exercise *e, const char *file, learn_text *wrong)
{
    char path[LEARN_PATH];
    learn_text why = {0};
    char *stub = learn_stub(e, file, &why), *there = learn_read_file(learn_path(path, "exercises", e, file), NULL);
    char *solution = learn_read_file(learn_path(path, "solutions", e, file), NULL);
    learn_path(path, "exercises", e, file);
    if (!stub)
        learn_add(wrong, "%s\n", learn_string(&why));
    else if (!there)
        learn_add(wrong, "%s is missing: learn cut %s --write\n", path, e->name);
    else if (strcmp(stub, there) != 0)
        learn_add(wrong, "%s is not what is cut from the solution: learn cut %s --write\n", path, e->name);
    else if (solution && learn_same_places(solution, stub))
        learn_add(wrong, "%s: the solution is its own stub: there is no \"// TODO\" in it\n", path);
    learn_text_free(&why);
    free(stub);
    free(there);
    free(solution);
}

static void hints_are_there(const learn_exercise *e, learn_text *wrong)
{
    static const char *const sections[] = {"1", "2", "3"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char *hint = learn_hint(e, sections[i]);
        if (!hint || !*hint) learn_add(wrong, "tests/exercises/%s.hints has no [%s]\n", e->name, sections[i]);
        free(hint);
    }
}

void learn_sound_files(const learn_exercise *e, learn_text *wrong)
{
    static const char *const trees[] = {"exercises", "solutions", "tests/mutants"};
    static void (*const each[])(const place *p, const char *name) = {in_exercise, in_solution, in_mutants};
    for (size_t i = 0; i < sizeof trees / sizeof *trees; i++) {
        char *folder = learn_format("%s/%s", trees[i], e->name);
        for_all(&(place){e, folder, wrong}, each[i]);
        free(folder);
    }
    page_is_there(e, "exercises", wrong);
    page_is_there(e, "solutions", wrong);
    hints_are_there(e, wrong);
    for (const char *const *file = e->check->files; *file; file++) stub_is_cut(e, *file, wrong);
}

/* ---- Mutants ---- */

static int is_source(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".c");
}

char **learn_mutants(const learn_exercise *e)
{
    char *folder = learn_format("tests/mutants/%s", e->name);
    struct dirent **names = NULL;
    int count = scandir(folder, &names, is_source, alphasort);
    char **paths = learn_memory(((size_t)(count < 0 ? 0 : count) + 1) * sizeof *paths);
    for (int i = 0; i < count; i++) {
        paths[i] = learn_format("%s/%s", folder, names[i]->d_name);
        free(names[i]);
    }
    free(names);
    free(folder);
    return paths;
}
