/* SPDX-License-Identifier: MIT */
/*
 * The names that an object file leaves to others to define, read from its symbol table: however many there are, and whether
 * or not they must be defined (weak ones need not).
 */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "learn/check/build.h"

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
                       learn_against *against, char **found)
{
    if (!names || !names->sh_size || f->bytes[names->sh_offset + names->sh_size - 1]) return false;
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)(f->bytes + symbols->sh_offset);
    for (size_t i = 0; i < symbols->sh_size / sizeof *symbol; i++) {
        if (symbol[i].st_shndx != SHN_UNDEF || !symbol[i].st_name) continue;
        if (symbol[i].st_name >= names->sh_size) return false;
        const char *name = f->bytes + names->sh_offset + symbol[i].st_name;
        if (!*found && against(e, name)) *found = learn_copy(name);
    }
    return true;
}

bool learn_undefined_name(const char *path, const learn_exercise *e, learn_against *against, char **found)
{
    file f;
    OWNED char *bytes = learn_read_file(path, &f.count);
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
