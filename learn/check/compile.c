/* SPDX-License-Identifier: MIT */
/* The learner's files to a program: compiled, then linked with the test and with as much of the library as is allowed. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/check/build.h"

/* What a learner's function never wrote is no zero by chance: memory from malloc is filled by the sanitizer, variables by this. */
static const char *const sanitizers[] = {"-g",
                                         "-O1",
                                         "-fsanitize=address,undefined",
                                         "-fno-sanitize-recover=all",
                                         "-fno-omit-frame-pointer",
                                         "-ftrivial-auto-var-init=pattern",
                                         NULL};

/* ---- Compiling ---- */

/* The calls that check_calls.c, check_collectives.c and check_memory.c stand in for. */
static void add_renames(learn_tool *c)
{
#define RENAME(name) #name "=check_" #name,
    static const char *const renames[] = {CHECK_MEMORY_CALLS(RENAME) CHECK_P2P_CALLS(RENAME)
                                              CHECK_COLLECTIVE_CALLS(RENAME) NULL};
#undef RENAME
    for (size_t i = 0; renames[i]; i++) {
        learn_tool_add(c, learn_copy("--redefine-sym"));
        learn_tool_add(c, learn_copy(renames[i]));
    }
}

/* Put the checker's calls in the place of those in an object. `more`: further words for objcopy. */
static bool intercept(const char *object, const char *const *more, const learn_options *options)
{
    learn_tool c = {.count = 0};
    learn_spawned done;
    learn_tool_add(&c, learn_copy("objcopy"));
    learn_tool_add_all(&c, more);
    add_renames(&c);
    learn_tool_add(&c, learn_copy(object));
    learn_tool_run(&c, LEARN_LINK, options, &done);
    bool good = done.status == 0;
    learn_spawned_free(&done);
    return good;
}

static bool intercept_all(const learn_tool *objects, const learn_options *options)
{
    static const char *const none[] = {NULL};
    for (size_t i = 0; i < objects->count; i++)
        if (!intercept(objects->words[i], none, options)) return false;
    return true;
}

static void base_name(char *base, size_t bytes, const char *file)
{
    const char *slash = strrchr(file, '/');
    snprintf(base, bytes, "%s", slash ? slash + 1 : file);
    base[strcspn(base, ".")] = '\0';
}

/* Diagnoses name a file as the learner knows it, "broadcast.c", wherever it is. Pipes instead of temporary files: a compiler
 * that is killed leaves none. */
static void compile_command(learn_tool *c, const char *source, const char *file, const char *object, bool whole_names)
{
    static const char *const flags[] = {"-pipe", "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-I.", "-c", NULL};
    learn_tool_add_compiler(c);
    learn_tool_add_all(c, flags);
    learn_tool_add_all(c, sanitizers);
    if (!whole_names) learn_tool_add(c, learn_format("-ffile-prefix-map=%s=%s", source, file));
    learn_tool_add(c, learn_copy(source));
    learn_tool_add(c, learn_copy("-o"));
    learn_tool_add(c, learn_copy(object));
}

static bool compile_file(const char *source, const char *file, const char *object, const learn_options *options,
                         learn_result *result)
{
    learn_tool c = {.count = 0};
    learn_spawned done;
    unlink(object);
    compile_command(&c, source, file, object, options->whole_names);
    learn_tool_run(&c, LEARN_COMPILE, options, &done);
    bool good = done.status == 0;
    if (good && !options->quiet_compiler) learn_note_warnings(result, learn_string(&done.err));
    if (!good) learn_does_not_compile(&done, file, result);
    learn_spawned_free(&done);
    return good;
}

/* Where a learner's file is: the mutant, in the folder, or in the one behind it. */
static bool find_source(char *path, const learn_exercise *e, const char *folder, size_t i, const learn_options *o)
{
    if (i == 0 && o->instead) {
        snprintf(path, LEARN_PATH, "%s", o->instead);
        return access(path, R_OK) == 0;
    }
    snprintf(path, LEARN_PATH, "%s/%s", folder, e->check->files[i]);
    if (access(path, R_OK) == 0) return true;
    if (!o->fallback) return false;
    char other[LEARN_PATH];
    snprintf(other, sizeof other, "%s/%s", o->fallback, e->check->files[i]);
    if (access(other, R_OK) != 0) return false;
    snprintf(path, LEARN_PATH, "%s", other);
    return true;
}

static bool compile_own(const learn_exercise *e, const char *folder, const char *work, const learn_options *o,
                        learn_tool *link, learn_result *result)
{
    for (size_t i = 0; e->check->files[i]; i++) {
        char source[LEARN_PATH], base[64];
        if (!find_source(source, e, folder, i, o)) {
            learn_fail(result, "compile", "", "%s is missing; make reset EX=%02d brings its stub back.", source,
                       e->number);
            return false;
        }
        base_name(base, sizeof base, e->check->files[i]);
        char *object = learn_format("%s/%s.o", work, base);
        learn_tool_add(link, object);
        if (!compile_file(source, e->check->files[i], object, o, result)) return false;
    }
    return true;
}

/* ---- Solutions of earlier exercises: compiled when they have changed ---- */

static bool is_newer(const char *path, const char *than)
{
    struct stat a, b;
    if (stat(path, &a) != 0 || stat(than, &b) != 0) return false;
    return a.st_mtim.tv_sec > b.st_mtim.tv_sec ||
           (a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec > b.st_mtim.tv_nsec);
}

static bool compile_used_file(const learn_exercise *used, const char *file, learn_tool *link, learn_result *result)
{
    char source[LEARN_PATH], base[64];
    static const char *const weak[] = {"--wildcard", "--weaken-symbol=my_*", NULL}; /* a learner's own counts more */
    learn_options own = {.quiet_compiler = true};
    learn_path(source, "solutions", used, file);
    base_name(base, sizeof base, file);
    char *folder = learn_format("%s/course/uses", learn_build());
    char *object = learn_format("%s/%s-%s.o", folder, used->name, base),
         *fresh = learn_format("%s.%ld", object, (long)getpid());
    bool good = learn_make_folder(folder);
    bool old = !is_newer(object, source) || !is_newer(object, "exercises/exercises.h") ||
               !is_newer(object, "/proc/self/exe"); /* this program: it may compile in another way */
    if (good && old)
        good = compile_file(source, file, fresh, &own, result) && intercept(fresh, weak, NULL) &&
               rename(fresh, object) == 0;
    learn_tool_add(link, object);
    free(folder);
    free(fresh);
    return good;
}

static bool compile_used(const learn_exercise *e, learn_tool *link, learn_result *result)
{
    for (const char *const *name = e->check->uses; name && *name; name++) {
        learn_text why = {0};
        const learn_exercise *used = learn_find(*name, &why);
        if (!used) learn_fail(result, "checker", "", "%s", learn_string(&why));
        learn_text_free(&why);
        if (!used) return false;
        for (const char *const *file = used->check->files; *file; file++)
            if (!compile_used_file(used, *file, link, result)) return false;
    }
    return true;
}

/* ---- Linking ---- */

/* A part of what stands around a learner's code: exercises/check/check_NAME.c. */
static void add_harness(learn_tool *link, const char *name)
{
    learn_tool_add(link, learn_format("%s/course/obj/exercises/check/check_%s.o", learn_build(), name));
}

static void link_command(learn_tool *c, const learn_exercise *e, const learn_tool *objects, const char *program)
{
    static const char *const around[] = {"guard", "calls", "memory"};
    static const char *const side[] = {"rank", "trace", "leaks", "unused", "plan", "data"};
    static const char *const parts[] = {"collectives", "ring", "p2p", "dtype"};
    const char *build = learn_build();
    bool collectives = e->check->library != CHECK_LIBRARY_P2P;
    learn_tool_add_compiler(c);
    learn_tool_add_all(c, sanitizers);
    for (size_t i = 0; i < objects->count; i++) learn_tool_add(c, learn_copy(objects->words[i]));
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) add_harness(c, around[i]);
    if (collectives) add_harness(c, "collectives");
    if (e->check->run) {
        learn_tool_add(c, learn_format("%s/course/obj/tests/exercises/%s.o", build, e->name));
        for (size_t i = 0; i < sizeof side / sizeof *side; i++) add_harness(c, side[i]);
        learn_tool_add(c, learn_copy("-Wl,--wrap=dtype_combine,--wrap=dtype_reduce,--wrap=dtype_reduce_left"));
        learn_tool_add(c, learn_format("-Wl,--defsym=check_the_exercise=check_%s", e->name));
    }
    learn_tool_add(c, learn_copy("-Wl,--wrap=p2p__here,--start-group"));
    for (size_t i = collectives ? 0 : 2; i < 4; i++) learn_tool_add(c, learn_format("%s/course/%s.a", build, parts[i]));
    learn_tool_add(c, learn_copy("-Wl,--end-group"));
    learn_tool_add(c, learn_copy("-lm"));
    learn_tool_add(c, learn_copy("-o"));
    learn_tool_add(c, learn_copy(program));
}

static bool link_program(const learn_exercise *e, const learn_tool *objects, const char *program,
                         const learn_options *options, learn_result *result)
{
    learn_tool c = {.count = 0};
    learn_spawned done;
    link_command(&c, e, objects, program);
    learn_tool_run(&c, LEARN_LINK, options, &done);
    bool good = done.status == 0;
    if (!good) learn_does_not_link(&done, result);
    learn_spawned_free(&done);
    return good && learn_nothing_missing(e, program, result);
}

char *learn_work_folder(const learn_exercise *e, const learn_options *options)
{
    return options->work ? learn_copy(options->work) : learn_format("%s/course/work/%s", learn_build(), e->name);
}

bool learn_compile(const learn_exercise *e, const char *folder, const learn_options *options, char *program,
                   learn_result *result)
{
    learn_tool objects = {.count = 0};
    char *work = learn_work_folder(e, options);
    snprintf(program, LEARN_PATH, "%s/ranks", work);
    bool good = options->keep_program || learn_make_folder(work);
    if (good && !options->keep_program) {
        unlink(program);
        good = compile_own(e, folder, work, options, &objects, result) &&
               learn_only_uses_allowed(e, options, &objects, result) && intercept_all(&objects, options) &&
               compile_used(e, &objects, result) && link_program(e, &objects, program, options, result);
    }
    if (!good) learn_fail(result, "checker", "", "The program cannot be built: the build folder cannot be written to.");
    learn_tool_free(&objects);
    free(work);
    return good;
}
