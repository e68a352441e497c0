/* SPDX-License-Identifier: MIT */
/*
 * The symbols of an object file or a program, read from its symbol table, however many there are. The file was made of what a
 * learner wrote: nothing in it is believed before it has been compared with the file's size.
 */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "learn/check/build.h"

typedef struct {
    const char *bytes;
    size_t count;
    const ElfW(Ehdr) * head;
} file;

static bool lies_in(const file *f, uint64_t at, uint64_t bytes)
{
    return at <= f->count && bytes <= f->count - at;
}

static const ElfW(Shdr) * section(const file *f, size_t i)
{
    uint64_t at = f->head->e_shoff + i * sizeof(ElfW(Shdr));
    if (i >= f->head->e_shnum || !lies_in(f, at, sizeof(ElfW(Shdr)))) return NULL;
    const ElfW(Shdr) *s = (const ElfW(Shdr) *)(const void *)(f->bytes + at);
    return lies_in(f, s->sh_offset, s->sh_type == SHT_NOBITS ? 0 : s->sh_size) ? s : NULL;
}

/* Does a symbol lie where a program may write? */
static bool is_writable(const file *f, const ElfW(Sym) * symbol)
{
    const ElfW(Shdr) *s = symbol->st_shndx < SHN_LORESERVE ? section(f, symbol->st_shndx) : NULL;
    return symbol->st_shndx == SHN_COMMON || (s && (s->sh_flags & SHF_ALLOC) && (s->sh_flags & SHF_WRITE));
}

/* False if this is no table of symbols with names. */
static bool read_table(const file *f, const ElfW(Shdr) * symbols, learn_symbol_visit *visit, void *arg)
{
    const ElfW(Shdr) *names = section(f, symbols->sh_link);
    if (!names || names->sh_type != SHT_STRTAB || !names->sh_size) return false;
    if (f->bytes[names->sh_offset + names->sh_size - 1]) return false;
    const ElfW(Sym) *symbol = (const ElfW(Sym) *)(const void *)(f->bytes + symbols->sh_offset);
    for (size_t i = 0; i < symbols->sh_size / sizeof *symbol; i++, symbol++) {
        if (!symbol->st_name) continue;
        if (symbol->st_name >= names->sh_size) return false;
        const learn_symbol s = {.name = f->bytes + names->sh_offset + symbol->st_name,
                                .bytes = symbol->st_size,
                                .defined = symbol->st_shndx != SHN_UNDEF,
                                .function = (symbol->st_info & 0xf) == STT_FUNC,
                                .global = symbol->st_info >> 4 != STB_LOCAL,
                                .writable = is_writable(f, symbol)};
        visit(arg, &s);
    }
    return true;
}

bool learn_each_symbol(const char *path, learn_symbol_visit *visit, void *arg)
{
    file f;
    OWNED char *bytes = learn_read_plain_file(path, LEARN_MADE_BYTES, &f.count);
    f.bytes = bytes;
    f.head = (const ElfW(Ehdr) *)(const void *)bytes;
    bool good = bytes && f.count >= sizeof *f.head && memcmp(bytes, ELFMAG, SELFMAG) == 0 &&
                f.head->e_shentsize == sizeof(ElfW(Shdr));
    size_t tables = 0;
    for (size_t i = 0; good && i < f.head->e_shnum; i++) {
        const ElfW(Shdr) *s = section(&f, i);
        good = s && (s->sh_type != SHT_SYMTAB || (++tables && read_table(&f, s, visit, arg)));
    }
    return good && tables == 1;
}
