/* SPDX-License-Identifier: MIT */
/* Names: which functions the learner's code uses, which it may not use (and nm knows the line), and which it lacks. */
#include <string.h>

#include "learn/check/build.h"

/* What there is against a name; NULL if nothing. */
typedef const char *judge(const learn_exercise *e, const char *name);

typedef struct {
    const learn_exercise *e;
    judge *against;
    char *found;
} search;

/* Weak names need not be defined, and count as well. */
static void look_at(void *arg, const learn_symbol *symbol)
{
    search *s = arg;
    if (!symbol->defined && !s->found && s->against(s->e, symbol->name)) s->found = learn_copy(symbol->name);
}

/* The first name that an object or a program leaves to others to define and that there is something against, or NULL; free
 * it. False if the file cannot be read. */
static bool undefined_name(const char *path, const learn_exercise *e, judge *against, char **found)
{
    search s = {e, against, NULL};
    bool good = learn_each_symbol(path, look_at, &s);
    *found = s.found;
    return good;
}

/* ---- What is allowed ---- */

/* Note where an object uses a name, as nm says: "                 U coll_broadcast\t/home/me/pairwise/broadcast.c:14". */
static void note_place_of(const char *object, const char *name, const learn_exercise *e, const learn_options *o,
                          learn_result *result)
{
    learn_tool t = {.count = 0};
    OWNED_SPAWNED done;
    learn_tool_add_words(&t, "nm -u -l");
    learn_tool_add(&t, "%s", object);
    learn_tool_run(&t, LEARN_LINK, o, &done);
    OWNED char *wanted = learn_format(" %s\t", name);
    const char *found = strstr(learn_string(&done.out), wanted);
    if (!found) return;
    found += strlen(wanted);
    OWNED char *place = learn_format("%.*s", (int)strcspn(found, "\n"), found);
    learn_note_tools_line(result, e, place);
}

/* What is wrong with using a function; NULL if nothing is. */
static const char *forbidden(const learn_exercise *e, const char *name)
{
    static const char *const checkers[] = {"check_report", "check_number",   "check_returned", "check_value",
                                           "check_buffer", "check_fraction", "check_given",    "check_the_exercise",
                                           "check_key",    "check_context",  "check_common",   "check_peak",
                                           "check_leaked", "check_plan_make"};
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

bool learn_only_uses_allowed(const learn_exercise *e, const learn_options *o, const learn_tool *objects,
                             learn_result *result)
{
    OWNED char *name = NULL;
    for (size_t i = 0; i < objects->count && !name; i++) {
        if (!undefined_name(objects->words[i], e, forbidden, &name)) {
            learn_fail(result, "link", "", "The compiler made something of it in which names cannot be looked up.");
            break;
        }
        if (name) note_place_of(objects->words[i], name, e, o, result);
    }
    if (name) {
        OWNED char *where = result->line ? learn_format("Line %d of %s", result->line, result->file) : learn_copy("It");
        learn_fail(result, "link", "", "%s uses %s, %s.%s", where, name, forbidden(e, name),
                   learn_has_prefix(name, "check_") ? ""
                                                    : " Messages are all you need: p2p_send, p2p_recv and their kin.");
    }
    return result->state != LEARN_FAILED;
}

static const char *missing(const learn_exercise *e, const char *name)
{
    return learn_has_prefix(name, "my_") ? e->name : NULL;
}

bool learn_nothing_missing(const learn_exercise *e, const char *program, learn_result *result)
{
    OWNED char *name;
    undefined_name(program, e, missing, &name);
    if (name)
        learn_fail(result, "link", "", "There is no function %s in %s: it is for you to write, with this very name.",
                   name, e->check->files[0]);
    return result->state != LEARN_FAILED;
}
