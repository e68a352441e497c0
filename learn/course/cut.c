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
#include <string.h>

#include "learn/course/commands.h"

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

/* ---- Cutting ---- */

char *learn_cut(const char *solution, learn_text *why)
{
    learn_text stub = {0};
    int line = 1, first = 0;        /* the line in which the place begins that we are in */
    bool task = false, good = true; /* in the comment lines behind its mark, which stay */
    learn_add_bytes(&stub, "", 0);
    for (const char *at = solution, *end; *at && good; at = end, line++) {
        bool todo = is_todo(at), last = begins(at, "// END TODO"), ours = begins(at, "// stub:");
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

/* What lies in the marked places, without white space, each place on a line of its own. */
static void add_places(learn_text *t, const char *text)
{
    bool inside = false;
    for (const char *next; *text; text = next) {
        next = learn_next_line(text);
        if (inside ? begins(text, "// END TODO") : is_todo(text)) {
            inside = !inside;
            if (inside) learn_add(t, "\n");
            continue;
        }
        for (; inside && text < next; text++)
            if (!isspace((unsigned char)*text)) learn_add_bytes(t, text, 1);
    }
}

bool learn_same_places(const char *text, const char *stub)
{
    OWNED_TEXT a = {0}, b = {0};
    add_places(&a, text);
    add_places(&b, stub);
    return strcmp(learn_string(&a), learn_string(&b)) == 0;
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

/* ---- learn cut: print the stubs of an exercise, or write them ---- */

static bool cut_file(const learn_exercise *e, const char *file, bool write)
{
    OWNED_TEXT why = {0};
    OWNED char *stub = learn_stub(e, file, &why);
    if (stub && !write) fputs(stub, stdout);
    if (stub && write) learn_put_stub(e, file, stub, &why);
    if (why.used) fprintf(stderr, "learn cut: %s\n", learn_string(&why));
    return !why.used;
}

int learn_command_cut(int argc, char **argv)
{
    static const learn_usage usage = {.what = "Print the stub that is cut from a solution; EXERCISE may be all.",
                                      .takes_all = true,
                                      .flag = "write",
                                      .flag_key = 'w',
                                      .flag_what = "write it to exercises/NN_name/, over whatever is there"};
    learn_call call = {0};
    bool good = true;
    if (!learn_called(argc, argv, &usage, &call)) return 2;
    for (const learn_exercise *e = learn_course(NULL); e->check; e++)
        for (const char *const *file = e->check->files; *file && (!call.e || call.e == e); file++)
            good = cut_file(e, *file, call.flag) && good;
    return good ? 0 : 1;
}
