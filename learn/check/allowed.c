/* SPDX-License-Identifier: MIT */
/* Names: which functions the learner's code uses, which it may not use (and nm knows the line), and which it lacks. */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "learn/check/build.h"

/* ---- The names that an object file leaves to others to define, read from its symbol table: however many there are, and
 * whether or not they must be defined (weak ones need not) ---- */

/* What there is against a name; NULL if nothing. */
typedef const char *judge(const learn_exercise *e, const char *name);

typedef struct {
    const char *bytes;
    size_t count;
} file;

static bool lies_in(const file *f, uint64_t at, uint64_t bytes)
{
    return at <= f->count && bytes <= f->count - at;
}

static const ElfW(Shdr) * section(const file *f, const ElfW(Ehdr) * head, size_t i)
{
    uint64_t at = head->e_shoff + i * sizeof(ElfW(Shdr));
    if (i >= head->e_shnum || !lies_in(f, at, sizeof(ElfW(Shdr)))) return NULL;
    const ElfW(Shdr) *s = (const ElfW(Shdr) *)(const void *)(f->bytes + at);
    return lies_in(f, s->sh_offset, s->sh_type == SHT_NOBITS ? 0 : s->sh_size) ? s : NULL;
}

/* False if this is no table of symbols with names. */
static bool read_table(const file *f, const ElfW(Shdr) * symbols, const ElfW(Shdr) * names, const learn_exercise *e,
                       judge *against, char **found)
{
    if (!names || names->sh_type != SHT_STRTAB || !names->sh_size || f->bytes[names->sh_offset + names->sh_size - 1])
        return false;
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)(f->bytes + symbols->sh_offset);
    for (size_t i = 0; i < symbols->sh_size / sizeof *symbol; i++) {
        if (symbol[i].st_shndx != SHN_UNDEF || !symbol[i].st_name) continue;
        if (symbol[i].st_name >= names->sh_size) return false;
        const char *name = f->bytes + names->sh_offset + symbol[i].st_name;
        if (!*found && against(e, name)) *found = learn_copy(name);
    }
    return true;
}

/* The first name that an object or a program leaves undefined and that there is something against, or NULL; free it. False if
 * the file cannot be read. */
static bool undefined_name(const char *path, const learn_exercise *e, judge *against, char **found)
{
    file f;
    OWNED char *bytes = learn_read_plain_file(path, LEARN_MADE_BYTES, &f.count);
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)(const void *)bytes;
    bool good = bytes && f.count >= sizeof *head && memcmp(head->e_ident, ELFMAG, SELFMAG) == 0 &&
                head->e_shentsize == sizeof(ElfW(Shdr));
    size_t tables = 0;
    f.bytes = bytes;
    *found = NULL;
    for (size_t i = 0; good && i < head->e_shnum; i++) {
        const ElfW(Shdr) *s = section(&f, head, i);
        good = s && (s->sh_type != SHT_SYMTAB ||
                     (++tables && read_table(&f, s, section(&f, head, s->sh_link), e, against, found)));
    }
    return good && tables == 1;
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
