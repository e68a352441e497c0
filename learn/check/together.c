/* SPDX-License-Identifier: MIT */
/*
 * Mutants of an exercise as one program, so that it is linked once. Each is compiled and looked through as a learner's file is;
 * then objcopy puts its number before the names that it defines, and a jump stands where the test calls them:
 *
 *      my_broadcast                    jumps to what main (check_rank.c) has chosen by the number that it was started with
 *      mutant_0_my_broadcast           of tests/mutants/08_broadcast/any_source.c
 *      mutant_1_my_broadcast           of tests/mutants/08_broadcast/counts_for_bytes.c
 *
 * A mutant that cannot be one of many is left out, and makes a program of its own, like a learner's file: one that does not
 * compile, uses what it may not, does not define what the test calls, defines more (a variable, which no jump can stand for),
 * or has code that runs before main.
 */
#include <string.h>
#include <unistd.h>

#include "learn/check/build.h"

/* Where the first few cannot be one of many, the test asks for variables, and none can. */
enum { TRIED = 2 };

/* Of the names that are wanted, as words, how many are defined; and are others? */
typedef struct {
    const learn_tool *wanted;
    size_t found;
    bool others;
} definitions;

/* The test names them weakly. */
static void note_wanted(void *arg, const learn_symbol *s)
{
    if (!s->defined && learn_has_prefix(s->name, "my_")) learn_tool_add(arg, "%s", s->name);
}

static void note_defined(void *arg, const learn_symbol *s)
{
    definitions *d = arg;
    bool wanted = false;
    if (!s->defined || !s->global) return;
    for (size_t i = 0; i < d->wanted->count; i++) wanted |= strcmp(d->wanted->words[i], s->name) == 0;
    d->found += wanted && s->function;
    d->others |= !wanted || !s->function;
}

static bool defines_all_and_no_more(const learn_tool *objects, const learn_tool *wanted)
{
    definitions d = {.wanted = wanted};
    for (size_t i = 0; i < objects->count; i++)
        if (!learn_each_symbol(objects->words[i], note_defined, &d)) return false;
    return d.found == wanted->count && !d.others;
}

/* It would run whichever mutant is chosen. */
static bool runs_by_itself(const char *path)
{
    OWNED char *source = learn_read_file(path, NULL);
    return !source || strstr(source, "constructor") || strstr(source, "destructor");
}

/* To objects that get its number before their names, which are added to `all`. */
static bool compile_mutant(const learn_exercise *e, const char *path, size_t number, const char *work,
                           const learn_tool *wanted, learn_tool *all)
{
    learn_tool own = {.count = 0};
    OWNED_TEXT renames = {0};
    OWNED_RESULT result = {.state = LEARN_PASSED};
    OWNED char *folder = learn_format("solutions/%s", e->name), *place = learn_format("%s/%zu", work, number);
    const learn_options o = {.instead = path, .quiet_compiler = true};
    for (size_t i = 0; i < wanted->count; i++)
        learn_add(&renames, " --redefine-sym %s=mutant_%zu_%s", wanted->words[i], number, wanted->words[i]);
    bool good = !runs_by_itself(path) && learn_make_folder(place) &&
                learn_compile_own(e, folder, place, &o, &own, &result) &&
                learn_only_uses_allowed(e, &o, &own, &result) && learn_counts_all(e, &own, &result) &&
                defines_all_and_no_more(&own, wanted);
    for (size_t i = 0; good && i < own.count; i++) good = learn_intercept(own.words[i], learn_string(&renames), &o);
    for (size_t i = 0; good && i < own.count; i++) learn_tool_add(all, "%s", own.words[i]);
    learn_tool_free(&own);
    return good;
}

/* The jumps, and where they lead. */
static bool compile_jumps(const char *work, const learn_tool *wanted, size_t count, const bool in[], learn_tool *all)
{
    OWNED_TEXT text = {0}, choose = {0};
    OWNED_SPAWNED done = {0};
    learn_tool c = {.count = 0};
    OWNED char *source = learn_format("%s/jumps.c", work);
    learn_add(&text, "#include \"exercises/check/check_choose.h\"\n");
    for (size_t i = 0; i < wanted->count; i++) {
        const char *name = wanted->words[i];
        learn_add(&text, "CHECK_JUMP(%s)\n", name);
        for (size_t k = 0; k < count; k++)
            if (in[k]) learn_add(&text, "void mutant_%zu_%s(void);\n", k, name);
        for (size_t k = 0; k < count; k++)
            if (in[k]) learn_add(&choose, "    if (mutant == %zu) check_to_%s = mutant_%zu_%s;\n", k, name, k, name);
    }
    learn_add(&text, "void check_choose(unsigned long mutant)\n{\n%s}\n", learn_string(&choose));
    learn_tool_add_compiler(&c);
    learn_tool_add_words(&c, "-pipe -std=c11 -O1 -I. -c");
    learn_tool_add(&c, "%s", source);
    learn_tool_add(&c, "-o");
    learn_tool_add(&c, "%s/jumps.o", work);
    learn_tool_add(all, "%s/jumps.o", work);
    if (!learn_put_file(source, text.text, text.used)) learn_tool_free(&c);
    return c.count && learn_tool_run(&c, LEARN_COMPILE, NULL, &done);
}

bool learn_put_together(const learn_exercise *e, const char *work, size_t count, char *const mutants[], bool in[])
{
    learn_tool wanted = {.count = 0}, all = {.count = 0};
    OWNED_RESULT result = {.state = LEARN_PASSED};
    OWNED char *test = learn_format("%s/course/obj/tests/exercises/%s.o", learn_build(), e->name);
    OWNED char *program = learn_format("%s/ranks", work);
    int lock = learn_lock_work(e, &(learn_options){.work = work});
    bool good = e->check->run && learn_each_symbol(test, note_wanted, &wanted) && wanted.count;
    for (size_t i = 0; i < count; i++)
        in[i] = good && (all.count || i < TRIED) && compile_mutant(e, mutants[i], i, work, &wanted, &all);
    good = all.count && compile_jumps(work, &wanted, count, in, &all) && learn_compile_used(e, &all, &result) &&
           learn_link_program(e, &all, program, &(learn_options){.work = work}, &result);
    learn_tool_free(&wanted);
    learn_tool_free(&all);
    if (lock >= 0) close(lock);
    return good;
}
