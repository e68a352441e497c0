/* SPDX-License-Identifier: MIT */
/*
 * Lines from debug information: the line tables of a file (.debug_line), as DWARF 2 to 5 define them (DWARF 5, 6.2). A table
 * is a program for a small machine that makes rows:
 *
 *      address    file  line
 *      0x1139     1     5        a row holds up to the address of the next one
 *      0x1148     1     6
 *      0x1162     -     -        the end of a sequence
 *
 * All rows of a file are made once, and sorted. Nothing that is read is trusted: each read is checked against the end.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mpi/lines.h"

typedef struct {
    const unsigned char *at, *end;
    bool wrong; /* it has been read past the end, or what is there is not known */
} reader;

typedef struct {
    const unsigned char *begin, *end;
} section;

typedef struct {
    uintptr_t address;
    const char *file; /* NULL: no line from here on */
    int line;
} row;

/* A file that has been read. */
typedef struct table {
    struct table *next;
    char *path;
    row *rows;
    size_t count, room;
} table;

/* One line program. */
typedef struct {
    section strings, line_strings;
    int version;
    bool wide; /* offsets have 8 bytes */
    const char *folders[256], *files[1024];
    unsigned folder_of[1024];
    unsigned folder_count, file_count;
} unit;

/* ---- Reading ---- */

static uint64_t number(reader *r, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < bytes || bytes > 8) {
        r->wrong = true;
        r->at = r->end;
        return 0;
    }
    memcpy(&value, r->at, bytes); /* little-endian, as all machines that this runs on */
    r->at += bytes;
    return value;
}

static uint64_t leb(reader *r)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = number(r, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static int64_t signed_leb(reader *r)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; shift < 64 && (byte & 0x80); shift += 7) {
        byte = number(r, 1);
        value |= (byte & 0x7f) << shift;
    }
    if (shift < 64 && (byte & 0x40)) value |= UINT64_MAX << shift;
    return (int64_t)value;
}

static const char *text(reader *r)
{
    const unsigned char *end = memchr(r->at, 0, (size_t)(r->end - r->at));
    const char *at = (const char *)r->at;
    if (!end) {
        r->wrong = true;
        return "";
    }
    r->at = end + 1;
    return at;
}

static const char *text_at(section s, uint64_t offset)
{
    size_t bytes = (size_t)(s.end - s.begin);
    return offset < bytes && memchr(s.begin + offset, 0, bytes - offset) ? (const char *)s.begin + offset : "";
}

/* ---- The head of a line program ---- */

enum {
    FORM_BLOCK = 0x09,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_STRING = 0x08,
    FORM_DATA1 = 0x0b,
    FORM_STRP = 0x0e,
    FORM_UDATA = 0x0f,
    FORM_DATA16 = 0x1e,
    FORM_LINE_STRP = 0x1f
};
enum { CONTENT_PATH = 1, CONTENT_FOLDER = 2 };

static uint64_t read_form(reader *r, const unit *u, uint64_t form, const char **words)
{
    switch (form) {
    case FORM_STRING: *words = text(r); return 0;
    case FORM_LINE_STRP: *words = text_at(u->line_strings, number(r, u->wide ? 8 : 4)); return 0;
    case FORM_STRP: *words = text_at(u->strings, number(r, u->wide ? 8 : 4)); return 0;
    case FORM_DATA1: return number(r, 1);
    case FORM_DATA2: return number(r, 2);
    case FORM_DATA4: return number(r, 4);
    case FORM_DATA8: return number(r, 8);
    case FORM_UDATA: return leb(r);
    case FORM_DATA16: number(r, 8); return number(r, 8);
    case FORM_BLOCK:
        for (uint64_t left = leb(r); left && !r->wrong; left--) number(r, 1);
        return 0;
    default: r->wrong = true; return 0;
    }
}

/* DWARF 5: entries of a format that the table describes itself. */
static void read_entries(reader *r, unit *u, bool files)
{
    uint64_t kinds[16] = {0}, forms[16] = {0};
    unsigned formats = (unsigned)number(r, 1);
    for (unsigned i = 0; i < formats && !r->wrong; i++) {
        uint64_t kind = leb(r), form = leb(r);
        if (i < 16) kinds[i] = kind, forms[i] = form;
    }
    if (formats > 16) r->wrong = true;
    uint64_t count = leb(r);
    for (uint64_t k = 0; k < count && !r->wrong; k++) {
        const char *path = "";
        uint64_t folder = 0;
        for (unsigned i = 0; i < formats; i++) {
            const char *words = "";
            uint64_t value = read_form(r, u, forms[i], &words);
            if (kinds[i] == CONTENT_PATH) path = words;
            if (kinds[i] == CONTENT_FOLDER) folder = value;
        }
        if (files && u->file_count < 1024) {
            u->folder_of[u->file_count] = (unsigned)folder;
            u->files[u->file_count++] = path;
        } else if (!files && u->folder_count < 256) {
            u->folders[u->folder_count++] = path;
        }
    }
}

/* DWARF 2 to 4: folders and files are counted from 1. */
static void read_lists(reader *r, unit *u)
{
    u->folders[u->folder_count++] = "";
    for (const char *folder; *(folder = text(r)) && !r->wrong;)
        if (u->folder_count < 256) u->folders[u->folder_count++] = folder;
    u->files[u->file_count++] = "";
    for (const char *file; *(file = text(r)) && !r->wrong;) {
        unsigned folder = (unsigned)leb(r);
        leb(r), leb(r); /* when it was changed, and its length */
        if (u->file_count >= 1024) continue;
        u->folder_of[u->file_count] = folder;
        u->files[u->file_count++] = file;
    }
}

/* The path as the compiler was given it, as __FILE__ has it: without the folder in which the compiler ran. */
static const char *path_of(const unit *u, uint64_t file)
{
    if (file >= u->file_count) return NULL;
    const char *name = u->files[file];
    unsigned folder = u->folder_of[file];
    if (name[0] == '/' || folder >= u->folder_count || !folder || strcmp(u->folders[folder], u->folders[0]) == 0)
        return strdup(name);
    char *path = malloc(strlen(u->folders[folder]) + strlen(name) + 2);
    if (path) sprintf(path, "%s/%s", u->folders[folder], name);
    return path;
}

/* ---- The machine ---- */

static void add_row(table *t, uintptr_t address, const char *file, int line)
{
    if (t->count == t->room) {
        size_t room = 2 * t->room + 1024;
        row *more = realloc(t->rows, room * sizeof *more);
        if (!more) return;
        t->rows = more;
        t->room = room;
    }
    t->rows[t->count++] = (row){address, file, line};
}

typedef struct {
    uint64_t least, opcodes_from, range;
    int64_t base;
    unsigned char lengths[256];
} machine;

static void run(reader *r, unit *u, const machine *m, table *t)
{
    static const char *paths[1024];
    uint64_t address = 0, file = 1;
    int64_t line = 1;
    memset(paths, 0, sizeof paths);
    while (r->at < r->end && !r->wrong) {
        uint64_t op = number(r, 1);
        bool emits = false, ends = false;
        if (op >= m->opcodes_from) {
            address += (op - m->opcodes_from) / m->range * m->least;
            line += m->base + (int64_t)((op - m->opcodes_from) % m->range);
            emits = true;
        } else if (op == 0) {
            uint64_t length = leb(r);
            if (!length || length > (uint64_t)(r->end - r->at)) return;
            reader inner = {r->at, r->at + length, false};
            r->at += length;
            uint64_t extended = number(&inner, 1);
            ends = extended == 1;
            if (extended == 2) address = number(&inner, (size_t)(length - 1));
        } else if (op == 1) {
            emits = true;
        } else if (op == 2) {
            address += leb(r) * m->least;
        } else if (op == 3) {
            line += signed_leb(r);
        } else if (op == 4) {
            file = leb(r);
        } else if (op == 8) {
            address += (255 - m->opcodes_from) / m->range * m->least;
        } else if (op == 9) {
            address += number(r, 2);
        } else {
            for (unsigned i = 0; i < m->lengths[op]; i++) leb(r);
        }
        if (emits && file < 1024 && !paths[file]) paths[file] = path_of(u, file);
        if (emits) add_row(t, address, file < 1024 ? paths[file] : NULL, (int)line);
        if (!ends) continue;
        add_row(t, address, NULL, 0);
        address = 0, file = 1, line = 1;
    }
}

static void read_unit(reader r, unit *u, table *t)
{
    machine m = {0};
    u->version = (int)number(&r, 2);
    if (u->version < 2 || u->version > 5) return;
    if (u->version == 5) number(&r, 2); /* sizes of an address and of a segment */
    uint64_t head = number(&r, u->wide ? 8 : 4);
    if (head > (uint64_t)(r.end - r.at)) return;
    reader program = {r.at + head, r.end, false};
    m.least = number(&r, 1);
    if (u->version >= 4) number(&r, 1); /* operations in an instruction */
    number(&r, 1);                      /* whether rows are statements at first */
    uint64_t base = number(&r, 1);      /* signed */
    m.base = (int64_t)base - (base > 127 ? 256 : 0);
    m.range = number(&r, 1);
    m.opcodes_from = number(&r, 1);
    for (uint64_t i = 1; i < m.opcodes_from; i++) m.lengths[i] = (unsigned char)number(&r, 1);
    if (!m.range || r.wrong) return;
    u->folder_count = u->file_count = 0;
    if (u->version == 5) {
        read_entries(&r, u, false);
        read_entries(&r, u, true);
    } else {
        read_lists(&r, u);
    }
    if (!r.wrong) run(&program, u, &m, t);
}

/* ---- Files ---- */

static section find_section(const unsigned char *bytes, size_t size, const char *name)
{
    const section none = {NULL, NULL};
    Elf64_Ehdr head;
    if (size < sizeof head) return none;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
        head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > size ||
        (size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum || head.e_shstrndx >= head.e_shnum)
        return none;
    const Elf64_Shdr *all = (const Elf64_Shdr *)(const void *)(bytes + head.e_shoff), *names = &all[head.e_shstrndx];
    if (names->sh_offset > size || names->sh_size > size - names->sh_offset) return none;
    const section words = {bytes + names->sh_offset, bytes + names->sh_offset + names->sh_size};
    for (int i = 0; i < head.e_shnum; i++) {
        if (strcmp(text_at(words, all[i].sh_name), name) != 0 || (all[i].sh_flags & SHF_COMPRESSED)) continue;
        if (all[i].sh_offset > size || all[i].sh_size > size - all[i].sh_offset) return none;
        return (section){bytes + all[i].sh_offset, bytes + all[i].sh_offset + all[i].sh_size};
    }
    return none;
}

static int by_address(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return !x->file != !y->file ? (x->file ? 1 : -1) : 0; /* the end of a sequence comes before what begins there */
}

static void read_tables(const unsigned char *bytes, size_t size, table *t)
{
    static unit u;
    const section lines = find_section(bytes, size, ".debug_line");
    u.strings = find_section(bytes, size, ".debug_str");
    u.line_strings = find_section(bytes, size, ".debug_line_str");
    reader r = {lines.begin, lines.end, false};
    while (r.at < r.end && !r.wrong) {
        uint64_t length = number(&r, 4);
        u.wide = length == 0xffffffff;
        if (u.wide) length = number(&r, 8);
        if (length > (uint64_t)(r.end - r.at)) break;
        read_unit((reader){r.at, r.at + length, false}, &u, t);
        r.at += length;
    }
    if (t->count) qsort(t->rows, t->count, sizeof *t->rows, by_address);
}

/* What is mapped stays: names of files lie in it. */
static void read_file(table *t)
{
    struct stat info;
    int fd = open(t->path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes != MAP_FAILED) read_tables(bytes, (size_t)info.st_size, t);
    }
    if (fd >= 0) close(fd);
}

static table *table_of(const char *path)
{
    static table *tables;
    for (table *t = tables; t; t = t->next)
        if (strcmp(t->path, path) == 0) return t;
    table *t = calloc(1, sizeof *t);
    if (!t || !(t->path = strdup(path))) {
        free(t);
        return NULL;
    }
    t->next = tables;
    tables = t;
    read_file(t);
    return t;
}

bool mpi__line_in(const char *path, uintptr_t address, const char **file, int *line)
{
    const table *t = table_of(path);
    size_t low = 0, high = t ? t->count : 0;
    while (low < high) { /* the first row behind the address */
        size_t middle = low + (high - low) / 2;
        if (t->rows[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || !t->rows[low - 1].file) return false;
    *file = t->rows[low - 1].file;
    *line = t->rows[low - 1].line;
    return true;
}
