/* SPDX-License-Identifier: MIT */
/* Names: which functions the learner's code uses, which it may not use (and nm knows the line), and which it lacks. */
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

/* Where an object uses a name, as nm says: "                 U coll_broadcast\t/home/me/pairwise/broadcast.c:14"; "" if it
 * does not say. Free it. */
static char *place_of(const char *object, const char *name, const learn_options *o)
{
    const char *const nm[] = {"nm", "-u", "-l", object, NULL};
    learn_tool t = {.count = 0};
    learn_spawned done;
    learn_tool_add_all(&t, nm);
    learn_tool_run(&t, LEARN_LINK, o, &done);
    char *wanted = learn_format(" %s\t", name);
    const char *found = strstr(learn_string(&done.out), wanted);
    if (found) found += strlen(wanted);
    char *place = learn_format("%.*s", found ? (int)strcspn(found, "\n") : 0, found ? found : "");
    learn_spawned_free(&done);
    free(wanted);
    return place;
}

/* What is wrong with using a function; NULL if nothing is. */
static const char *forbidden(const learn_exercise *e, const char *name)
{
    static const char *const checkers[] = {"check_report", "check_number",   "check_returned", "check_value",
                                           "check_buffer", "check_fraction", "check_given",    "check_the_exercise",
                                           "check_key",    "check_context",  "check_leaked",   "check_plan_make"};
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

static void say_forbidden(const learn_exercise *e, const char *name, const char *place, learn_result *result)
{
    learn_text broke = {0};
    const char *why = forbidden(e, name);
    learn_note_tools_line(result, e, place);
    if (result->line)
        learn_add(&broke, "Line %d of %s uses %s, %s.", result->line, result->file, name, why);
    else
        learn_add(&broke, "It uses %s, %s.", name, why);
    if (!learn_has_prefix(name, "check_"))
        learn_add(&broke, " Messages are all you need: p2p_send, p2p_recv and their kin.");
    learn_fail(result, "link", "", "%s", learn_string(&broke));
    learn_text_free(&broke);
}

/* The first name of its kind. */
typedef struct {
    const learn_exercise *e;
    char *name;
} first;

static void keep_forbidden(void *arg, const char *name)
{
    first *f = arg;
    if (!f->name && forbidden(f->e, name)) f->name = learn_copy(name);
}

static void keep_missing(void *arg, const char *name)
{
    first *f = arg;
    if (!f->name && learn_has_prefix(name, "my_")) f->name = learn_copy(name);
}

static bool object_is_allowed(const learn_exercise *e, const learn_options *o, const char *object, learn_result *result)
{
    first f = {.e = e};
    if (!learn_undefined_names(object, keep_forbidden, &f)) {
        learn_fail(result, "link", "", "The compiler made something of it in which names cannot be looked up.");
        return false;
    }
    if (!f.name) return true;
    char *place = place_of(object, f.name, o);
    say_forbidden(e, f.name, place, result);
    free(place);
    free(f.name);
    return false;
}

bool learn_only_uses_allowed(const learn_exercise *e, const learn_options *o, const learn_tool *objects,
                             learn_result *result)
{
    for (size_t i = 0; i < objects->count; i++)
        if (!object_is_allowed(e, o, objects->words[i], result)) return false;
    return true;
}

bool learn_nothing_missing(const learn_exercise *e, const char *program, learn_result *result)
{
    first f = {.e = e};
    learn_undefined_names(program, keep_missing, &f);
    if (!f.name) return true;
    learn_fail(result, "link", "", "There is no function %s in %s: it is for you to write, with this very name.",
               f.name, e->check->files[0]);
    free(f.name);
    return false;
}
