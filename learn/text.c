/* SPDX-License-Identifier: MIT */
/* Texts that grow, lines that are wrapped, files in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/learn.h"

/* ---- Memory ---- */

static void *checked(void *memory)
{
    if (memory) return memory;
    fputs("learn: out of memory\n", stderr);
    exit(1);
}

void *learn_memory(size_t bytes)
{
    return checked(calloc(1, bytes ? bytes : 1));
}

char *learn_copy(const char *text)
{
    return checked(strdup(text));
}

/* ---- Texts ---- */

static char *make_room(learn_text *t, size_t more)
{
    if (t->used + more + 1 > t->room) {
        t->room = 2 * (t->used + more) + 64;
        t->text = checked(realloc(t->text, t->room));
    }
    return t->text + t->used;
}

void learn_add_bytes(learn_text *t, const void *bytes, size_t count)
{
    char *end = make_room(t, count);
    if (count) memcpy(end, bytes, count);
    end[count] = '\0';
    t->used += count;
}

__attribute__((format(printf, 2, 0))) static void add_formatted(learn_text *t, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int count = vsnprintf(NULL, 0, format, args);
    if (count >= 0) {
        vsnprintf(make_room(t, (size_t)count), (size_t)count + 1, format, again);
        t->used += (size_t)count;
    }
    va_end(again);
}

void learn_add(learn_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_formatted(t, format, args);
    va_end(args);
}

char *learn_format(const char *format, ...)
{
    learn_text t = {0};
    va_list args;
    va_start(args, format);
    learn_add_bytes(&t, "", 0);
    add_formatted(&t, format, args);
    va_end(args);
    return t.text;
}

const char *learn_string(const learn_text *t)
{
    return t->text ? t->text : "";
}

bool learn_has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

void learn_text_free(learn_text *t)
{
    free(t->text);
    *t = (learn_text){0};
}

/* Columns that a text in UTF-8 takes: bytes that continue a character take none. */
static size_t columns(const char *text, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++) count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

/* One word behind what the line has already, or on a new line. */
static void add_word(learn_text *t, const char *word, size_t bytes, size_t *column, size_t indent, size_t width)
{
    size_t wide = columns(word, bytes);
    bool first = *column == indent;
    if (!first && *column + 1 + wide > width) {
        learn_add(t, "\n%*s", (int)indent, "");
        *column = indent;
    } else if (!first) {
        learn_add(t, " ");
        ++*column;
    }
    learn_add_bytes(t, word, bytes);
    *column += wide;
}

static bool is_code(const char *line)
{
    return learn_has_prefix(line, "    ");
}

/* A line that stays as it is, on lines of its own. */
static const char *add_code(learn_text *t, const char *line, size_t *column, size_t indent)
{
    size_t bytes = strcspn(line, "\n");
    if (*column != indent) learn_add(t, "\n%*s", (int)indent, "");
    learn_add_bytes(t, line, bytes);
    line += bytes;
    line += *line == '\n';
    if (*line) learn_add(t, "\n%*s", (int)indent, "");
    *column = indent;
    return line;
}

void learn_add_wrapped(learn_text *t, const char *words, size_t indent, size_t width)
{
    size_t column = indent;
    while (*words) {
        bool new_line = column == indent || words[-1] == '\n';
        if (new_line && is_code(words)) {
            words = add_code(t, words, &column, indent);
            continue;
        }
        size_t blanks = strspn(words, " "), bytes = strcspn(words + blanks, " \n");
        if (bytes) add_word(t, words + blanks, bytes, &column, indent, width);
        words += blanks + bytes;
        if (*words != '\n') continue;
        words++;
        if (*words != '\n') continue; /* else a blank line: a new paragraph */
        learn_add(t, "\n\n%*s", (int)indent, "");
        words += strspn(words, "\n");
        column = indent;
    }
}

/* ---- Files ---- */

static char *read_all(FILE *file, size_t *bytes)
{
    learn_text t = {0};
    char part[16384];
    size_t got;
    learn_add_bytes(&t, "", 0);
    while ((got = fread(part, 1, sizeof part, file)) > 0) learn_add_bytes(&t, part, got);
    if (ferror(file)) learn_text_free(&t);
    if (bytes) *bytes = t.used;
    return t.text;
}

char *learn_read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rbe");
    if (!file) return NULL;
    char *text = read_all(file, bytes);
    int error = errno;
    fclose(file);
    errno = error;
    return text;
}

bool learn_write_file(const char *path, const void *bytes, size_t count)
{
    char *temporary = learn_format("%s.%ld.new", path, (long)getpid());
    FILE *file = fopen(temporary, "wbe");
    bool good = file && fwrite(bytes, 1, count, file) == count;
    int error = errno;
    if (file && fclose(file) != 0) {
        error = good ? errno : error;
        good = false;
    }
    if (good && rename(temporary, path) != 0) {
        error = errno;
        good = false;
    }
    if (!good) unlink(temporary);
    free(temporary);
    errno = error;
    return good;
}

bool learn_make_folder(const char *path)
{
    char part[LEARN_PATH];
    snprintf(part, sizeof part, "%s", path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) return false;
        *slash = '/';
    }
    return mkdir(part, 0777) == 0 || errno == EEXIST;
}

/* ---- Hashes: FNV-1a, 64 bits, with the length behind the bytes ---- */

static uint64_t mix(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint64_t learn_hash(uint64_t so_far, const void *bytes, size_t count)
{
    uint64_t length = count, hash = so_far ? so_far : UINT64_C(0xcbf29ce484222325);
    hash = mix(hash, bytes, count);
    hash = mix(hash, (const unsigned char *)&length, sizeof length);
    return hash ? hash : 1;
}

uint64_t learn_hash_file(uint64_t so_far, const char *path)
{
    size_t bytes;
    char *text = learn_read_file(path, &bytes);
    if (!text) return 0;
    uint64_t hash = learn_hash(so_far, text, bytes);
    free(text);
    return hash;
}
