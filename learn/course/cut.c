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
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "learn/learn.h"

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

/* ---- Cutting ---- */

char *learn_cut(const char *solution, learn_text *why)
{
    learn_text stub = {0};
    int line = 1, first = 0;        /* the line in which the place begins that we are in */
    bool task = false, good = true; /* in the comment lines behind its mark, which stay */
    learn_add_bytes(&stub, "", 0);
    for (const char *at = solution, *end; *at && good; at = end, line++) {
        bool todo = is_todo(at), last = is_end(at), ours = begins(at, "// stub:");
        end = learn_next_line(at);
        good = first ? !todo : !last && !ours;
        if (!good && first)
            learn_add(why, "line %d: \"// TODO\" inside the place that begins in line %d", line, first);
        else if (!good)
            learn_add(why, "line %d: \"// %s\" outside of any place: there is no \"// TODO\" before it", line,
                      last ? "END TODO" : "stub:");
        if (todo) first = line;
        task = (todo || task) && begins(at, "//") && !ours && !last;
        if (!first || task || last) {
            learn_add_bytes(&stub, at, (size_t)(end - at));
        } else if (ours) {
            /* with the line's own indentation; one blank after the colon is not part of it */
            const char *mark = skip_blanks(at), *text = mark + strlen("// stub:");
            if (*text == ' ') text++;
            if (*text != '\n') learn_add_bytes(&stub, at, (size_t)(mark - at));
            learn_add_bytes(&stub, text, (size_t)(end - text));
        }
        if (last) first = 0;
    }
    if (good && first) learn_add(why, "line %d: the place that begins here has no \"// END TODO\"", first);
    if (!good || first) learn_text_free(&stub);
    return stub.text;
}

char *learn_stub(const learn_exercise *e, const char *file, learn_text *why)
{
    char path[LEARN_PATH];
    OWNED char *solution = learn_read_file(learn_path(path, "solutions", e, file), NULL);
    OWNED_TEXT wrong = {0};
    char *stub = solution ? learn_cut(solution, &wrong) : NULL;
    if (!solution)
        learn_add(why, "%s cannot be read", path);
    else if (!stub)
        learn_add(why, "%s, %s", path, learn_string(&wrong));
    return stub;
}

bool learn_put_stub(const learn_exercise *e, const char *file, const char *stub, learn_text *why)
{
    char path[LEARN_PATH];
    if (learn_put_file(learn_path(path, "exercises", e, file), stub, strlen(stub))) return true;
    learn_add(why, "%s cannot be written: %s", path, strerror(errno));
    return false;
}

/* ---- Comparing ---- */

/* The next marked place from `at` on: what lies between its marks. False if there is none. */
static bool next_place(const char **at, const char **from, const char **to)
{
    while (**at && !is_todo(*at)) *at = learn_next_line(*at);
    if (!**at) return false;
    *from = *at = learn_next_line(*at);
    while (**at && !is_end(*at)) *at = learn_next_line(*at);
    *to = *at;
    return true;
}

static bool same_but_space(const char *a, const char *a_to, const char *b, const char *b_to)
{
    for (;;) {
        while (a < a_to && isspace((unsigned char)*a)) a++;
        while (b < b_to && isspace((unsigned char)*b)) b++;
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

bool learn_not_started(const learn_exercise *e, const char *folder)
{
    for (const char *const *file = e->check->files; *file; file++) {
        OWNED char *path = learn_format("%s/%s", folder, *file);
        OWNED char *text = learn_read_file(path, NULL), *stub = text ? learn_stub(e, *file, NULL) : NULL;
        if (!stub || !learn_same_places(text, stub)) return false;
    }
    return true;
}
