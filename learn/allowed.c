/* SPDX-License-Identifier: MIT */
/*
 * Names: which functions the learner's code uses, which it may not use, and which it lacks. nm knows them, and the line
 * each is used in.
 */
#include <stdlib.h>
#include <string.h>

#include "learn/build.h"

/* "                 U coll_broadcast\t/home/me/pairwise/broadcast.c:14": the name, and the rest of the line. */
typedef struct {
    const char *name, *place;
} use;

/* The next line of what nm printed; false at the end. Cuts the text into pieces. */
static bool next_use(char **rest, use *u)
{
    for (char *line; (line = strtok_r(*rest, "\n", rest));) {
        char *words = line;
        const char *kind = strtok_r(words, " ", &words);
        u->name = strtok_r(words, " \t", &words);
        if (!kind || !u->name || strlen(kind) != 1) continue;
        u->place = words ? words : "";
        return true;
    }
    return false;
}

static void list_names(learn_tool *files, const learn_options *o, learn_spawned *done)
{
    static const char *const nm[] = {"nm", "-u", "-l", NULL};
    learn_tool t = {.count = 0};
    learn_tool_add_all(&t, nm);
    for (size_t i = 0; i < files->count; i++) learn_tool_add(&t, learn_copy(files->words[i]));
    learn_tool_run(&t, LEARN_LINK, o, done);
}

/* What is wrong with using a function; NULL if nothing is. */
static const char *forbidden(const learn_exercise *e, const char *name)
{
    static const char *const checkers[] = {"check_report", "check_number",   "check_returned", "check_value",
                                           "check_buffer", "check_fraction", "check_given",    "check_the_exercise"};
    enum check_library library = e->check->library;
    bool collective = learn_has_prefix(name, "coll_"), ring = learn_has_prefix(name, "ring_");
    for (size_t i = 0; i < sizeof checkers / sizeof *checkers; i++)
        if (strcmp(name, checkers[i]) == 0) return "which belongs to the checker";
    if (learn_has_prefix(name, "p2p__") && strcmp(name, "p2p__here") != 0)
        return "which is a part of Pairwise that is not for use outside of it";
    if ((collective && library == CHECK_LIBRARY_P2P) || (ring && library != CHECK_LIBRARY_ALL))
        return "which the library has not got in this exercise, because something like it is what you are writing";
    return NULL;
}

static void say_forbidden(const learn_exercise *e, const use *u, const char *why, learn_result *result)
{
    learn_text broke = {0};
    learn_note_place(result, e, u->place);
    if (result->line)
        learn_add(&broke, "Line %d of %s uses %s, %s.", result->line, result->file, u->name, why);
    else
        learn_add(&broke, "It uses %s, %s.", u->name, why);
    if (!learn_has_prefix(u->name, "check_"))
        learn_add(&broke, " Messages are all you need: p2p_send, p2p_recv and their kin.");
    learn_fail(result, "link", "", learn_string(&broke));
    learn_text_free(&broke);
}

bool learn_only_uses_allowed(const learn_exercise *e, const learn_options *o, const learn_tool *objects,
                             learn_result *result)
{
    learn_spawned done;
    const char *why = NULL;
    learn_tool files = *objects;
    list_names(&files, o, &done);
    char *rest = done.out.text;
    for (use u; !why && next_use(&rest, &u);)
        if ((why = forbidden(e, u.name))) say_forbidden(e, &u, why, result);
    learn_spawned_free(&done);
    return !why;
}

bool learn_nothing_missing(const learn_exercise *e, const char *program, const learn_options *o, learn_result *result)
{
    learn_spawned done;
    char path[LEARN_PATH];
    bool missing = false;
    snprintf(path, sizeof path, "%s", program);
    learn_tool file = {.words = {path}, .count = 1};
    list_names(&file, o, &done);
    char *rest = done.out.text;
    for (use u; !missing && next_use(&rest, &u);) {
        if (!learn_has_prefix(u.name, "my_")) continue;
        char *broke = learn_format("There is no function %s in %s: it is for you to write, with this very name.",
                                   u.name, e->check->files[0]);
        learn_fail(result, "link", "", broke);
        free(broke);
        missing = true;
    }
    learn_spawned_free(&done);
    return !missing;
}
