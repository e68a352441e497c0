/* SPDX-License-Identifier: MIT */
/*
 * The learner's files to a program. What the compiler says is passed on; what the linker would say in its own way is said
 * here in ours: a function that was left out of the library because the exercise is to write it.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/inside.h"

enum { WORDS = 96, SHOWN_LINES = 12 };

static const double compiler_seconds = 60;

/* A command line that grows. Words are owned. */
typedef struct {
    char *words[WORDS];
    size_t count;
} command;

static void add(command *c, char *word)
{
    if (c->count + 1 == WORDS) {
        fputs("learn: a command line is too long\n", stderr);
        exit(1);
    }
    c->words[c->count++] = word;
}

static void add_all(command *c, const char *const *words)
{
    while (*words) add(c, learn_copy(*words++));
}

static void free_words(command *c)
{
    for (size_t i = 0; i < c->count; i++) free(c->words[i]);
    c->count = 0;
}

static void run_command(command *c, enum learn_step step, const learn_options *options, learn_spawned *done)
{
    learn_command_line line = {
        .argv = (const char *const *)c->words, .fd = -1, .seconds = compiler_seconds, .options = options, .step = step};
    learn_spawn(&line, done);
    free_words(c);
}

/* CC may be several words. */
static void add_compiler(command *c)
{
    const char *given = getenv("CC");
    char *words = learn_copy(given && *given ? given : "cc"), *rest = words;
    for (char *word; (word = strtok_r(rest, " ", &rest));) add(c, learn_copy(word));
    free(words);
}

static const char *const sanitizers[] = {
    "-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer", NULL};

/* ---- What the compiler says ---- */

/* The place of the first error: exercises/08_broadcast/broadcast.c:17:5: error: text */
static void find_first_error(const char *said, const char *file, learn_result *result, learn_text *broke)
{
    const char *error = strstr(said, ": error: "), *fatal = strstr(said, ": fatal error: ");
    if (fatal && (!error || fatal < error)) error = fatal;
    if (!error) return;
    const char *line = error;
    while (line > said && line[-1] != '\n') line--;
    const char *name = strstr(line, file);
    if (!name || name > error || sscanf(name + strlen(file), ":%d", &result->line) != 1) return;
    const char *text = strstr(error, "error: ") + strlen("error: ");
    learn_add(broke, " The first error is in line %d: %.*s.", result->line, (int)strcspn(text, "\n"), text);
}

static void add_lines(learn_text *t, const char *text, int most)
{
    while (*text && most-- > 0) {
        size_t length = strcspn(text, "\n");
        learn_add(t, "%.*s\n", (int)(length < 150 ? length : 150), text);
        text += length + (text[length] == '\n');
    }
    if (*text) learn_add(t, "...\n");
}

static void does_not_compile(const learn_spawned *done, const char *file, learn_result *result)
{
    learn_text shown = {0}, broke = {0};
    const char *said = learn_string(&done->err);
    snprintf(result->file, sizeof result->file, "%s", file);
    if (done->late)
        learn_add(&broke, "The compiler was stopped after %g seconds.", compiler_seconds);
    else if (done->status == 127)
        learn_add(&broke, "The C compiler cannot be started; set CC to the one you have: make CC=gcc test.");
    else
        learn_add(&broke, "%s does not compile.", file);
    find_first_error(said, file, result, &broke);
    add_lines(&shown, said, SHOWN_LINES);
    learn_fail(result, "compile", learn_string(&shown), learn_string(&broke));
    learn_text_free(&shown);
    learn_text_free(&broke);
}

static void note_warnings(learn_result *result, const char *said)
{
    learn_text t = {0};
    learn_add(&t, "%s", result->warnings);
    learn_add(&t, "%s", said);
    free(result->warnings);
    result->warnings = t.text;
}

/* ---- Compiling ---- */

static void base_name(char *base, size_t bytes, const char *file)
{
    const char *slash = strrchr(file, '/');
    snprintf(base, bytes, "%s", slash ? slash + 1 : file);
    base[strcspn(base, ".")] = '\0';
}

/* Diagnoses name a file as the learner knows it, "broadcast.c", wherever it is. */
static void compile_command(command *c, const char *source, const char *file, const char *object)
{
    static const char *const flags[] = {"-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-I.", "-c", NULL};
    add_compiler(c);
    add_all(c, flags);
    add_all(c, sanitizers);
    add(c, learn_format("-ffile-prefix-map=%s=%s", source, file));
    add(c, learn_copy(source));
    add(c, learn_copy("-o"));
    add(c, learn_copy(object));
}

static bool compile_file(const char *source, const char *file, const char *object, const learn_options *options,
                         learn_result *result)
{
    command c = {.count = 0};
    learn_spawned done;
    unlink(object);
    compile_command(&c, source, file, object);
    run_command(&c, LEARN_COMPILE, options, &done);
    bool good = done.status == 0;
    if (good && !options->quiet_compiler) note_warnings(result, learn_string(&done.err));
    if (!good) does_not_compile(&done, file, result);
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
                        command *link, learn_result *result)
{
    for (size_t i = 0; e->check->files[i]; i++) {
        char source[LEARN_PATH], base[64];
        if (!find_source(source, e, folder, i, o)) {
            char *broke = learn_format("%s is missing; make reset EX=%02d brings its stub back.", source, e->number);
            learn_fail(result, "compile", "", broke);
            free(broke);
            return false;
        }
        base_name(base, sizeof base, e->check->files[i]);
        char *object = learn_format("%s/%s.o", work, base);
        add(link, object);
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

/* The learner may define the same function: then theirs counts. */
static bool weaken(const char *object)
{
    const char *const words[] = {"objcopy", "--weaken", object, NULL};
    command c = {.count = 0};
    learn_spawned done;
    add_all(&c, words);
    run_command(&c, LEARN_LINK, NULL, &done);
    bool good = done.status == 0;
    learn_spawned_free(&done);
    return good;
}

static bool compile_used_file(const learn_exercise *used, const char *file, command *link, learn_result *result)
{
    char source[LEARN_PATH], base[64];
    learn_options own = {.quiet_compiler = true};
    learn_path(source, "solutions", used, file);
    base_name(base, sizeof base, file);
    char *folder = learn_format("%s/course/uses", learn_build());
    char *object = learn_format("%s/%s-%s.o", folder, used->name, base),
         *fresh = learn_format("%s.%ld", object, (long)getpid());
    bool good = learn_make_folder(folder);
    if (good && (!is_newer(object, source) || !is_newer(object, "exercises/exercises.h")))
        good = compile_file(source, file, fresh, &own, result) && weaken(fresh) && rename(fresh, object) == 0;
    add(link, object);
    free(folder);
    free(fresh);
    return good;
}

static bool compile_used(const learn_exercise *e, command *link, learn_result *result)
{
    for (const char *const *name = e->check->uses; name && *name; name++) {
        learn_text why = {0};
        const learn_exercise *used = learn_find(*name, &why);
        if (!used) learn_fail(result, "checker", "", learn_string(&why));
        learn_text_free(&why);
        if (!used) return false;
        for (const char *const *file = used->check->files; *file; file++)
            if (!compile_used_file(used, *file, link, result)) return false;
    }
    return true;
}

/* ---- What may not be used ---- */

/* Where a word stands in one of the learner's files, to name the line. */
static void find_word(const learn_exercise *e, const char *folder, const learn_options *o, const char *word,
                      learn_result *result)
{
    for (size_t i = 0; e->check->files[i]; i++) {
        char source[LEARN_PATH];
        char *text = find_source(source, e, folder, i, o) ? learn_read_file(source, NULL) : NULL;
        int line = 1;
        for (char *at = text; at && *at; at++) {
            bool first = at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
            if (first && strncmp(at, word, strlen(word)) == 0 && !isalnum((unsigned char)at[strlen(word)])) {
                result->line = line;
                snprintf(result->file, sizeof result->file, "%s", e->check->files[i]);
                break;
            }
            line += *at == '\n';
        }
        free(text);
        if (result->line) return;
    }
}

static bool has_prefix(const char *word, const char *prefix)
{
    return strncmp(word, prefix, strlen(prefix)) == 0;
}

/* What is wrong with using a function; NULL if nothing is. */
static const char *forbidden(const learn_exercise *e, const char *name)
{
    static const char *const checkers[] = {"check_report", "check_number",   "check_returned", "check_value",
                                           "check_buffer", "check_fraction", "check_given",    "check_the_exercise"};
    enum check_library library = e->check->library;
    bool collective = has_prefix(name, "coll_"), ring = has_prefix(name, "ring_");
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++)
        if (strcmp(name, checkers[i]) == 0) return "which belongs to the checker";
    if (has_prefix(name, "p2p__") && strcmp(name, "p2p__here") != 0 && strcmp(name, "__wrap_p2p__here") != 0)
        return "which is a part of Pairwise that is not for use outside of it";
    if ((collective && library == CHECK_LIBRARY_P2P) || (ring && library != CHECK_LIBRARY_ALL))
        return "which the library has not got in this exercise, because something like it is what you are writing";
    return NULL;
}

static bool uses_forbidden(const learn_exercise *e, const char *folder, const learn_options *o, char *symbols,
                           learn_result *result)
{
    for (char *name; (name = strtok_r(symbols, " \n", &symbols));) {
        const char *why = forbidden(e, name);
        if (!why) continue;
        find_word(e, folder, o, name, result);
        learn_text broke = {0};
        if (result->line)
            learn_add(&broke, "Line %d of %s uses %s, %s.", result->line, result->file, name, why);
        else
            learn_add(&broke, "It uses %s, %s.", name, why);
        if (!has_prefix(name, "check_"))
            learn_add(&broke, " Messages are all you need: p2p_send, p2p_recv and their kin.");
        learn_fail(result, "link", "", learn_string(&broke));
        learn_text_free(&broke);
        return true;
    }
    return false;
}

/* Names that the learner's objects need from elsewhere. */
static bool only_uses_allowed(const learn_exercise *e, const char *folder, const learn_options *o,
                              const command *objects, learn_result *result)
{
    static const char *const flags[] = {"nm", "-u", NULL};
    command c = {.count = 0};
    learn_spawned done;
    add_all(&c, flags);
    for (size_t i = 0; i < objects->count; i++) add(&c, learn_copy(objects->words[i]));
    run_command(&c, LEARN_LINK, o, &done);
    bool good = !uses_forbidden(e, folder, o, done.out.text, result);
    learn_spawned_free(&done);
    return good;
}

/* ---- Linking ---- */

static void add_object(command *link, const char *name)
{
    add(link, learn_format("%s/course/obj/tests/exercises/%s.o", learn_build(), name));
}

static void add_library(command *link, const learn_exercise *e)
{
    static const char *const parts[] = {"collectives", "ring", "p2p", "dtype"};
    add(link, learn_copy("-Wl,--start-group"));
    for (size_t i = e->check->library == CHECK_LIBRARY_P2P ? 2 : 0; i < 4; i++)
        add(link, learn_format("%s/course/%s.a", learn_build(), parts[i]));
    add(link, learn_copy("-Wl,--end-group"));
    add(link, learn_copy("-lm"));
}

static void link_command(command *c, const learn_exercise *e, const command *objects, const char *program)
{
    static const char *const side[] = {"check_rank", "check_leaks", "check_unused", "check_plan", "check_data"};
    add_compiler(c);
    add_all(c, sanitizers);
    for (size_t i = 0; i < objects->count; i++) add(c, learn_copy(objects->words[i]));
    add_object(c, "check_guard");
    if (e->check->run) {
        add_object(c, e->name);
        for (size_t i = 0; i < sizeof side / sizeof *side; i++) add_object(c, side[i]);
        add(c, learn_format("-Wl,--defsym=check_the_exercise=check_%s", e->name));
    }
    add(c, learn_copy("-Wl,--wrap=p2p__here"));
    add_library(c, e);
    add(c, learn_copy("-o"));
    add(c, learn_copy(program));
}

/* ... undefined reference to `my_broadcast' */
static void does_not_link(const learn_spawned *done, learn_result *result)
{
    static const char missing[] = "undefined reference to `", twice[] = "multiple definition of `";
    const char *said = learn_string(&done->err), *at = strstr(said, missing), *second = strstr(said, twice);
    learn_text broke = {0}, shown = {0};
    if (at) {
        const char *name = at + sizeof missing - 1;
        int length = (int)strcspn(name, "'\n");
        learn_add(&broke, "There is no function %.*s: ", length, name);
        learn_add(&broke, "%s",
                  has_prefix(name, "my_") ? "it is for you to write, with this very name." : "is it spelled right?");
    } else if (second) {
        const char *name = second + sizeof twice - 1;
        learn_add(&broke, "%.*s is there twice: give yours another name, or make it static.", (int)strcspn(name, "'\n"),
                  name);
    } else {
        learn_add(&broke, "The program cannot be linked.");
    }
    add_lines(&shown, said, SHOWN_LINES);
    learn_fail(result, "link", at || second ? "" : learn_string(&shown), learn_string(&broke));
    learn_text_free(&broke);
    learn_text_free(&shown);
}

static bool link_program(const learn_exercise *e, const command *objects, const char *program,
                         const learn_options *options, learn_result *result)
{
    command c = {.count = 0};
    learn_spawned done;
    link_command(&c, e, objects, program);
    run_command(&c, LEARN_LINK, options, &done);
    bool good = done.status == 0;
    if (!good) does_not_link(&done, result);
    learn_spawned_free(&done);
    return good;
}

bool learn_compile(const learn_exercise *e, const char *folder, const learn_options *options, char *program,
                   learn_result *result)
{
    command objects = {.count = 0};
    char *work = options->work ? learn_copy(options->work) : learn_format("%s/course/work/%s", learn_build(), e->name);
    snprintf(program, LEARN_PATH, "%s/ranks", work);
    bool good = options->keep_program || learn_make_folder(work);
    if (good && !options->keep_program) {
        unlink(program);
        good = compile_own(e, folder, work, options, &objects, result) &&
               only_uses_allowed(e, folder, options, &objects, result) && compile_used(e, &objects, result) &&
               link_program(e, &objects, program, options, result);
    }
    if (!good) learn_fail(result, "checker", "", "The program cannot be built: the build folder cannot be written to.");
    free_words(&objects);
    free(work);
    return good;
}
