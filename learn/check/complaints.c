/* SPDX-License-Identifier: MIT */
/* What the compiler says is passed on, errors before warnings; what the linker says, in its own way, is said in ours. */
#include <string.h>

#include "learn/check/build.h"

enum { SHOWN_LINES = 12 };

/* ---- The compiler ---- */

static bool is_kind(const char *line, size_t length, const char *kind)
{
    const char *found = strstr(line, kind);
    return found && (size_t)(found - line) < length;
}

/* Of what the compiler says: the diagnostics of one kind (NULL: all), each with the lines that belong to it. */
static void add_diagnostics(learn_text *t, const char *said, const char *kind, const char *other)
{
    static const char *const begins[] = {
        ": error: ", ": fatal error: ", ": warning: ", ": note: ", ": In function", ": At top"};
    bool wanted = !kind;
    for (int most = SHOWN_LINES; *said; said = learn_next_line(said)) {
        size_t length = strcspn(said, "\n");
        bool block = learn_has_prefix(said, "In file included");
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) block |= is_kind(said, length, begins[i]);
        if (kind && block && !is_kind(said, length, "in expansion of macro"))
            wanted = is_kind(said, length, kind) || is_kind(said, length, other);
        if (wanted && most-- == 0) {
            learn_add(t, "...\n");
            return;
        }
        if (wanted) learn_add(t, "%.*s\n", (int)(length < 150 ? length : 150), said);
    }
}

/* The first error is where it says: exercises/08_broadcast/broadcast.c:17:5: error: text */
void learn_does_not_compile(const learn_spawned *done, const char *file, learn_result *result)
{
    OWNED_TEXT shown = {0}, broke = {0};
    const char *said = learn_string(&done->err), *error = strstr(said, ": error: "),
               *fatal = strstr(said, ": fatal error: "), *line = fatal && (!error || fatal < error) ? fatal : error;
    snprintf(result->file, sizeof result->file, "%s", file);
    if (done->late)
        learn_add(&broke, "The compiler was stopped after %g seconds.", learn_tool_seconds);
    else if (done->status == 127)
        learn_add(&broke, "The C compiler cannot be started; set CC to the one you have: make CC=gcc test.");
    else
        learn_add(&broke, "%s does not compile.", file);
    error = line;
    while (line && line > said && line[-1] != '\n') line--;
    const char *name = line ? strstr(line, file) : NULL;
    if (name && name <= error && sscanf(name + strlen(file), ":%d", &result->line) == 1) {
        const char *text = strstr(error, "error: ") + strlen("error: ");
        learn_add(&broke, " The first error is in line %d: %.*s.", result->line, (int)strcspn(text, "\n"), text);
    }
    add_diagnostics(&shown, said, ": error: ", ": fatal error: ");
    if (!shown.used) add_diagnostics(&shown, said, NULL, NULL);
    learn_fail(result, "compile", learn_string(&shown), "%s", learn_string(&broke));
}

void learn_note_warnings(learn_result *result, const char *said)
{
    learn_text t = {0};
    learn_add(&t, "%s", result->warnings);
    add_diagnostics(&t, said, ": warning: ", ": warning: ");
    learn_replace(&result->warnings, t.text);
}

/* ---- The linker ---- */

/* ... undefined reference to `my_broadcast' */
void learn_does_not_link(const learn_spawned *done, learn_result *result)
{
    static const char missing[] = "undefined reference to `", twice[] = "multiple definition of `";
    const char *said = learn_string(&done->err), *at = strstr(said, missing), *second = strstr(said, twice),
               *name = at       ? at + sizeof missing - 1
                       : second ? second + sizeof twice - 1
                                : "",
               *cannot = strstr(said, "cannot find ");
    int length = (int)strcspn(name, "'\n");
    /* The sanitizers come in libraries of their own, which may lack. */
    bool lacks = cannot && (strstr(cannot, "asan") || strstr(cannot, "ubsan") || strstr(cannot, "libclang_rt"));
    const char *key = lacks ? "checker" : "link";
    OWNED_TEXT shown = {0};
    add_diagnostics(&shown, said, NULL, NULL);
    if (at)
        learn_fail(result, key, "", "There is no function %.*s: %s", length, name,
                   learn_has_prefix(name, "my_")
                       ? "your code calls it, and neither your file nor what is linked with it "
                         "in this exercise has it. Is it of another exercise?"
                       : "is it spelled right?");
    else if (second)
        learn_fail(result, key, "", "%.*s is there twice: give yours another name, or make it static.", length, name);
    else
        learn_fail(result, key, learn_string(&shown), "%s",
                   lacks ? "The compiler's sanitizers, which find overruns, are not installed. Debian has them in "
                           "libgcc-12-dev (clang's in libclang-rt-14-dev), Fedora in libasan and libubsan."
                         : "The program cannot be linked.");
}
