/* SPDX-License-Identifier: MIT */
/* What the compiler says is passed on, errors before warnings; what the linker says, in its own way, is said in ours. */
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

enum { SHOWN_LINES = 12 };

/* ---- The compiler ---- */

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

static bool is_kind(const char *line, size_t length, const char *kind)
{
    const char *found = strstr(line, kind);
    return found && (size_t)(found - line) < length;
}

static bool begins_block(const char *line, size_t length)
{
    static const char *const marks[] = {
        ": error: ", ": fatal error: ", ": warning: ", ": note: ", ": In function", ": At top"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (is_kind(line, length, marks[i])) return true;
    return strncmp(line, "In file included", 16) == 0;
}

/* Of what the compiler says: the diagnostics of one kind (NULL: all), each with the lines that belong to it. */
static void add_diagnostics(learn_text *t, const char *said, const char *kind, const char *other, int most)
{
    bool wanted = !kind;
    while (*said) {
        size_t length = strcspn(said, "\n");
        bool expansion = is_kind(said, length, "in expansion of macro");
        if (kind && !expansion && begins_block(said, length))
            wanted = is_kind(said, length, kind) || is_kind(said, length, other);
        if (wanted && most-- == 0) {
            learn_add(t, "...\n");
            return;
        }
        if (wanted) learn_add(t, "%.*s\n", (int)(length < 150 ? length : 150), said);
        said += length + (said[length] == '\n');
    }
}

void learn_does_not_compile(const learn_spawned *done, const char *file, learn_result *result)
{
    learn_text shown = {0}, broke = {0};
    const char *said = learn_string(&done->err);
    snprintf(result->file, sizeof result->file, "%s", file);
    if (done->late)
        learn_add(&broke, "The compiler was stopped after %g seconds.", learn_tool_seconds);
    else if (done->status == 127)
        learn_add(&broke, "The C compiler cannot be started; set CC to the one you have: make CC=gcc test.");
    else
        learn_add(&broke, "%s does not compile.", file);
    find_first_error(said, file, result, &broke);
    add_diagnostics(&shown, said, ": error: ", ": fatal error: ", SHOWN_LINES);
    if (!shown.used) add_diagnostics(&shown, said, NULL, NULL, SHOWN_LINES);
    learn_fail(result, "compile", learn_string(&shown), "%s", learn_string(&broke));
    learn_text_free(&shown);
    learn_text_free(&broke);
}

void learn_note_warnings(learn_result *result, const char *said)
{
    learn_text t = {0};
    learn_add(&t, "%s", result->warnings);
    add_diagnostics(&t, said, ": warning: ", ": warning: ", SHOWN_LINES);
    free(result->warnings);
    result->warnings = t.text;
}

/* ---- The linker ---- */

/* The sanitizers come in libraries of their own, which may lack. */
static bool lacks_sanitizers(const char *said)
{
    const char *cannot = strstr(said, "cannot find ");
    return cannot && (strstr(cannot, "asan") || strstr(cannot, "ubsan") || strstr(cannot, "libclang_rt"));
}

/* ... undefined reference to `my_broadcast' */
void learn_does_not_link(const learn_spawned *done, learn_result *result)
{
    static const char missing[] = "undefined reference to `", twice[] = "multiple definition of `";
    const char *said = learn_string(&done->err), *at = strstr(said, missing), *second = strstr(said, twice);
    learn_text broke = {0}, shown = {0};
    if (at) {
        const char *name = at + sizeof missing - 1;
        int length = (int)strcspn(name, "'\n");
        learn_add(&broke, "There is no function %.*s: ", length, name);
        learn_add(&broke, "%s",
                  learn_has_prefix(name, "my_")
                      ? "your code calls it, and neither your file nor what is linked with it "
                        "in this exercise has it. Is it of another exercise?"
                      : "is it spelled right?");
    } else if (second) {
        const char *name = second + sizeof twice - 1;
        learn_add(&broke, "%.*s is there twice: give yours another name, or make it static.", (int)strcspn(name, "'\n"),
                  name);
    } else if (lacks_sanitizers(said)) {
        learn_add(&broke,
                  "The compiler's sanitizers, which find overruns, are not installed. Debian has them in libgcc-12-dev "
                  "(clang's in libclang-rt-14-dev), Fedora in libasan and libubsan.");
    } else {
        learn_add(&broke, "The program cannot be linked.");
    }
    add_diagnostics(&shown, said, NULL, NULL, SHOWN_LINES);
    learn_fail(result, lacks_sanitizers(said) ? "checker" : "link", at || second ? "" : learn_string(&shown), "%s",
               learn_string(&broke));
    learn_text_free(&broke);
    learn_text_free(&shown);
}
