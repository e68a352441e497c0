/* SPDX-License-Identifier: MIT */
/*
 * Stubs. The solution is the source; what lies between two marks in it is for the learner to write:
 *
 *          in the solution                             in the stub
 *
 *          // TODO: send buf to everyone,              // TODO: send buf to everyone,
 *          // one after the other                      // one after the other
 *          // stub: return P2P_ERR_TODO;               return P2P_ERR_TODO;
 *          for (...)                                   // END TODO
 *              ...
 *          // END TODO
 *
 * A marked place of a learner's file is what stands between the same two marks there. If all of them hold what the stub's
 * hold, the exercise is not started, whatever else has changed in the file.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn.h"

static const char *line_end(const char *at)
{
    const char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

static bool begins(const char *at, const char *word)
{
    at = skip_blanks(at);
    return strncmp(at, word, strlen(word)) == 0;
}

static bool is_todo(const char *at)
{
    const char *rest = skip_blanks(at) + strlen("// TODO");
    return begins(at, "// TODO") && !isalnum((unsigned char)*rest) && *rest != '_';
}

static bool is_end(const char *at)
{
    return begins(at, "// END TODO");
}

static bool is_stub(const char *at)
{
    return begins(at, "// stub:");
}

/* ---- Cutting ---- */

typedef struct {
    const char *at; /* the line that comes next */
    int line;
    learn_text *stub, *why;
} cutter;

static void next(cutter *c)
{
    c->at = line_end(c->at);
    c->line++;
}

static void keep(cutter *c)
{
    learn_add_bytes(c->stub, c->at, (size_t)(line_end(c->at) - c->at));
    next(c);
}

/* The text of a stub line, with the line's own indentation; one blank after the colon is not part of it. */
static void keep_stub(cutter *c)
{
    const char *mark = skip_blanks(c->at), *text = mark + strlen("// stub:");
    if (*text == ' ') text++;
    if (*text != '\n') learn_add_bytes(c->stub, c->at, (size_t)(mark - c->at));
    learn_add_bytes(c->stub, text, (size_t)(line_end(c->at) - text));
    next(c);
}

static bool cut_place(cutter *c)
{
    int first = c->line;
    keep(c);
    while (begins(c->at, "//") && !is_stub(c->at) && !is_end(c->at) && !is_todo(c->at)) keep(c);
    while (*c->at && !is_end(c->at)) {
        if (is_todo(c->at)) {
            learn_add(c->why, "line %d: \"// TODO\" inside the place that begins in line %d", c->line, first);
            return false;
        }
        if (is_stub(c->at))
            keep_stub(c);
        else
            next(c);
    }
    if (!*c->at) {
        learn_add(c->why, "line %d: the place that begins here has no \"// END TODO\"", first);
        return false;
    }
    keep(c);
    return true;
}

static bool cut_line(cutter *c)
{
    if (is_todo(c->at)) return cut_place(c);
    if (is_end(c->at) || is_stub(c->at)) {
        learn_add(c->why, "line %d: \"// %s\" outside of any place: there is no \"// TODO\" before it", c->line,
                  is_end(c->at) ? "END TODO" : "stub:");
        return false;
    }
    keep(c);
    return true;
}

char *learn_cut(const char *solution, learn_text *why)
{
    learn_text stub = {0};
    cutter c = {solution, 1, &stub, why};
    learn_add_bytes(&stub, "", 0);
    bool good = true;
    while (good && *c.at) good = cut_line(&c);
    if (!good) learn_text_free(&stub);
    return stub.text;
}

char *learn_stub(const learn_exercise *e, const char *file, learn_text *why)
{
    char path[LEARN_PATH];
    char *solution = learn_read_file(learn_path(path, "solutions", e, file), NULL), *stub = NULL;
    learn_text wrong = {0};
    if (!solution) {
        learn_add(why, "%s cannot be read", path);
        return NULL;
    }
    stub = learn_cut(solution, &wrong);
    if (!stub) learn_add(why, "%s, %s", path, learn_string(&wrong));
    learn_text_free(&wrong);
    free(solution);
    return stub;
}

/* ---- Comparing ---- */

/* The next marked place from `at` on: what lies between its marks. False if there is none. */
static bool next_place(const char **at, const char **from, const char **to)
{
    while (**at && !is_todo(*at)) *at = line_end(*at);
    if (!**at) return false;
    *from = *at = line_end(*at);
    while (**at && !is_end(*at)) *at = line_end(*at);
    *to = *at;
    return true;
}

static const char *skip_space(const char *at, const char *to)
{
    while (at < to && isspace((unsigned char)*at)) at++;
    return at;
}

static bool same_but_space(const char *a, const char *a_to, const char *b, const char *b_to)
{
    for (;;) {
        a = skip_space(a, a_to);
        b = skip_space(b, b_to);
        if (a == a_to || b == b_to) return a == a_to && b == b_to;
        if (*a++ != *b++) return false;
    }
}

bool learn_same_places(const char *text, const char *stub)
{
    const char *a, *a_to, *b, *b_to;
    for (;;) {
        bool more = next_place(&text, &a, &a_to);
        if (more != next_place(&stub, &b, &b_to)) return false;
        if (!more) return true;
        if (!same_but_space(a, a_to, b, b_to)) return false;
    }
}

static bool is_as_stub(const learn_exercise *e, const char *folder, const char *file)
{
    char *path = learn_format("%s/%s", folder, file);
    learn_text why = {0};
    char *text = learn_read_file(path, NULL), *stub = text ? learn_stub(e, file, &why) : NULL;
    bool same = stub && learn_same_places(text, stub);
    learn_text_free(&why);
    free(path);
    free(text);
    free(stub);
    return same;
}

bool learn_not_started(const learn_exercise *e, const char *folder)
{
    for (const char *const *file = e->check->files; *file; file++)
        if (!is_as_stub(e, folder, *file)) return false;
    return true;
}
