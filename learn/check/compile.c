/* SPDX-License-Identifier: MIT */
/* The learner's files to a program: compiled, then linked with the test and with as much of the library as is allowed. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/check/build.h"

/* What a learner's function never wrote is no zero by chance: memory from malloc is filled by the sanitizer, variables by this. */
static const char sanitizers[] = "-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all "
                                 "-fno-omit-frame-pointer -ftrivial-auto-var-init=pattern";

/* ---- Compiling ---- */

bool learn_intercept(const char *object, const char *more, const learn_options *options)
{
#define RENAME(name) " --redefine-sym " #name "=check_" #name
    learn_tool c = {.count = 0};
    OWNED_SPAWNED done;
    learn_tool_add_words(&c, "objcopy" CHECK_MEMORY_CALLS(RENAME) CHECK_STACK_CALLS(RENAME) CHECK_P2P_CALLS(RENAME)
                                 CHECK_COLLECTIVE_CALLS(RENAME));
    learn_tool_add_words(&c, more);
    learn_tool_add(&c, "%s", object);
    return learn_tool_run(&c, LEARN_LINK, options, &done);
#undef RENAME
}

/* Kernels are compiled as C, and every access to memory calls the device of check_opencl.c. */
static const char for_kernels[] =
    "-g -O1 -fsanitize=thread,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer "
    "-ftrivial-auto-var-init=pattern -Wno-unknown-pragmas -Wno-unused-parameter -Wno-sign-compare "
    "-x c -include exercises/check/opencl.h";

/* Diagnoses name a file as the learner knows it, "broadcast.c", wherever it is. Pipes instead of temporary files: a compiler
 * that is killed leaves none. */
static bool compile_file(const char *source, const char *file, const char *object, const learn_options *options,
                         learn_result *result)
{
    learn_tool c = {.count = 0};
    OWNED_SPAWNED done;
    OWNED char *text = learn_has_ending(file, ".cl") ? learn_read_file(source, NULL) : NULL;
    OWNED char *from = options->apart ? learn_format("%s/%s", options->apart, basename(object)) : learn_copy(object);
    OWNED char *translated = text ? learn_format("%s.from/%s", from, file) : NULL; /* addr2line knows that name alone */
    OWNED char *in_c = text ? learn_opencl_to_c(text, options->whole_names ? source : file) : NULL;
    if (text) learn_put_file(translated, in_c, strlen(in_c));
    unlink(object); /* whatever lies there: a link is not followed */
    learn_tool_add_compiler(&c);
    learn_tool_add_words(&c, "-pipe -std=c11 -D_GNU_SOURCE -Wall -Wextra -fstack-usage -I. -c");
    learn_tool_add_words(&c, learn_has_ending(file, ".cl") ? for_kernels : sanitizers);
    if (!options->whole_names) learn_tool_add(&c, "-ffile-prefix-map=%s=%s", source, file);
    learn_tool_add(&c, "%s", translated ? translated : source);
    learn_tool_add(&c, "-o");
    learn_tool_add(&c, "%s", object);
    bool good = learn_tool_run(&c, LEARN_COMPILE, options, &done);
    if (good && !options->quiet_compiler) learn_note_warnings(result, learn_string(&done.err));
    if (!good) learn_does_not_compile(&done, file, result);
    return good;
}

bool learn_compile_own(const learn_exercise *e, const char *folder, const char *work, const learn_options *o,
                       learn_tool *link, learn_result *result)
{
    for (size_t i = 0; e->check->files[i]; i++) {
        const char *file = e->check->files[i], *base = basename(file);
        OWNED char *source = i == 0 && o->instead ? learn_copy(o->instead) : learn_format("%s/%s", folder, file);
        if (access(source, R_OK) != 0)
            learn_fail(result, "compile", "", "%s is missing; make reset EX=%s brings its stub back.", source, e->code);
        learn_tool_add(link, "%s/%.*s.o", work, (int)strcspn(base, "."), base);
        if (result->state == LEARN_FAILED || !compile_file(source, file, link->words[link->count - 1], o, result))
            return false;
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
    static const char weak[] = "--wildcard --weaken-symbol=my_*"; /* a learner's own counts more */
    static const learn_options own = {.quiet_compiler = true};
    char source[LEARN_PATH];
    const char *base = basename(file);
    OWNED char *folder = learn_format("%s/course/uses", learn_build());
    learn_tool_add(link, "%s/%s-%.*s.o", folder, used->name, (int)strcspn(base, "."), base);
    const char *object = link->words[link->count - 1];
    OWNED char *fresh = learn_format("%s.%ld", object, (long)getpid());
    learn_path(source, "solutions", used, file);
    bool good = learn_make_folder(folder);
    bool old = !is_newer(object, source) || !is_newer(object, "exercises/exercises.h") ||
               !is_newer(object, "/proc/self/exe"); /* this program: it may compile in another way */
    if (good && old)
        good = compile_file(source, file, fresh, &own, result) && learn_intercept(fresh, weak, NULL) &&
               rename(fresh, object) == 0;
    return good;
}

bool learn_compile_used(const learn_exercise *e, learn_tool *link, learn_result *result)
{
    for (const char *const *name = e->check->uses; name && *name; name++) {
        OWNED_TEXT why = {0};
        const learn_exercise *used = learn_find(*name, &why);
        if (!used) {
            learn_fail(result, "checker", "", "%s", learn_string(&why));
            return false;
        }
        for (const char *const *file = used->check->files; *file; file++)
            if (!compile_used_file(used, *file, link, result)) return false;
    }
    return true;
}

/* ---- Linking ---- */

/* A part of what stands around a learner's code: exercises/check/check_NAME.c. */
static void add_harness(learn_tool *link, const char *name)
{
    learn_tool_add(link, "%s/course/obj/exercises/check/check_%s.o", learn_build(), name);
}

/* A process whose program its user cannot read is no one's to look into through /proc, from its first instruction on: ranks
 * of one submission have the same user. */
static bool make_unread(const char *program, const learn_options *options)
{
    learn_tool c = {.count = 0};
    OWNED_SPAWNED done;
    learn_tool_add_words(&c, "install -D -m 0111 -t");
    learn_tool_add(&c, "%.*s/" LEARN_UNREAD, (int)(basename(program) - program - 1), program);
    learn_tool_add(&c, "%s", program);
    learn_tool_add(&c, "%s/course/obj/guard", learn_build());
    return learn_tool_run(&c, LEARN_LINK, options, &done);
}

bool learn_link_program(const learn_exercise *e, const learn_tool *objects, const char *program,
                        const learn_options *options, learn_result *result)
{
    static const char *const around[] = {"guard", "calls", "memory"};
    static const char *const side[] = {"rank", "deaths", "trace", "leaks", "plan", "data"};
    static const char *const device[] = {"opencl", "accesses"};
    static const char *const parts[] = {"collectives", "ring", "p2p", "dtype"};
    learn_tool c = {.count = 0};
    OWNED_SPAWNED done;
    bool collectives = e->check->library != CHECK_LIBRARY_P2P;
    learn_tool_add_compiler(&c);
    learn_tool_add_words(&c, sanitizers);
    for (size_t i = 0; i < objects->count; i++) learn_tool_add(&c, "%s", objects->words[i]);
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) add_harness(&c, around[i]);
    if (collectives) add_harness(&c, "collectives");
    if (e->check->run) {
        learn_tool_add(&c, "%s/course/obj/tests/exercises/%s.o", learn_build(), e->name);
        for (size_t i = 0; i < sizeof side / sizeof *side; i++) add_harness(&c, side[i]);
        for (size_t i = 0; i < 2 && e->check->opencl; i++) add_harness(&c, device[i]);
        learn_tool_add(&c, "-Wl,--wrap=dtype_combine,--wrap=dtype_reduce,--wrap=dtype_reduce_left");
        learn_tool_add(&c, "-Wl,--defsym=check_the_exercise=check_%s", e->name);
    }
    learn_tool_add(&c, "-Wl,--wrap=p2p__here,--start-group");
    for (size_t i = collectives ? 0 : 2; i < 4; i++) learn_tool_add(&c, "%s/course/%s.a", learn_build(), parts[i]);
    learn_tool_add_words(&c, "-Wl,--end-group -lm -o");
    learn_tool_add(&c, "%s", program);
    bool good = learn_tool_run(&c, LEARN_LINK, options, &done);
    if (!good) learn_does_not_link(&done, result);
    return good && learn_nothing_missing(e, program, result) && (!options->confine || make_unread(program, options));
}

char *learn_work_folder(const learn_exercise *e, const learn_options *options)
{
    return options->work ? learn_copy(options->work) : learn_format("%s/course/work/%s", learn_build(), e->name);
}

bool learn_compile(const learn_exercise *e, const char *folder, const learn_options *options, char *program,
                   learn_result *result)
{
    learn_tool objects = {.count = 0};
    OWNED char *work = learn_work_folder(e, options);
    snprintf(program, LEARN_PATH, "%s/ranks", work);
    bool good = options->keep_program || learn_make_folder(work);
    if (good && !options->keep_program) {
        unlink(program);
        good = learn_compile_own(e, folder, work, options, &objects, result) &&
               learn_only_uses_allowed(e, options, &objects, result) && learn_counts_all(e, &objects, result);
        for (size_t i = 0; good && i < objects.count; i++) good = learn_intercept(objects.words[i], "", options);
        good = good && learn_compile_used(e, &objects, result) &&
               learn_link_program(e, &objects, program, options, result);
    }
    if (!good) learn_fail(result, "checker", "", "The program cannot be built: the build folder cannot be written to.");
    learn_tool_free(&objects);
    return good;
}
