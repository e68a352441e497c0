/* SPDX-License-Identifier: MIT */
/* Texts that grow, lines that are wrapped, files in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learn/learn.h"
#include "p2p/shared/file.h"

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

void *learn_grow(void *items, size_t count, size_t each)
{
    return checked(reallocarray(items, count + 1, each));
}

char *learn_copy(const char *text)
{
    return checked(strdup(text));
}

void learn_free_owned(void *pointer_to_it)
{
    void *memory;
    memcpy(&memory, pointer_to_it, sizeof memory);
    free(memory);
}

void learn_replace(char **text, char *with)
{
    free(*text);
    *text = with;
}

/* ---- Texts ---- */

void learn_add_bytes(learn_text *t, const void *bytes, size_t count)
{
    if (t->used + count + 1 > t->room) {
        t->room = 2 * (t->used + count) + 64;
        t->text = checked(realloc(t->text, t->room));
    }
    if (count) memcpy(t->text + t->used, bytes, count);
    t->text[t->used += count] = '\0';
}

void learn_add(learn_text *t, const char *format, ...)
{
    OWNED char *text = NULL;
    va_list args;
    if (!t) return;
    va_start(args, format);
    int count = vasprintf(&text, format, args);
    va_end(args);
    learn_add_bytes(t, checked(count < 0 ? NULL : text), (size_t)count);
}

char *learn_format(const char *format, ...)
{
    char *text;
    va_list args;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0) text = NULL;
    va_end(args);
    return checked(text);
}

const char *learn_string(const learn_text *t)
{
    return t->text ? t->text : "";
}

bool learn_has_prefix(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *learn_next_line(const char *text)
{
    const char *end = strchrnul(text, '\n');
    return *end ? end + 1 : end;
}

bool learn_has_ending(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);
    return length > tail && strcmp(text + length - tail, ending) == 0;
}

bool learn_is_source(const char *name)
{
    return *name != '.' &&
           (learn_has_ending(name, ".c") || learn_has_ending(name, ".h") || learn_has_ending(name, ".cl"));
}

void learn_text_free(learn_text *t)
{
    free(t->text);
    *t = (learn_text){0};
}

/* One word behind what the line has already, or on a new line. Bytes that continue a character of UTF-8 take no column. */
static void add_word(learn_text *t, const char *word, size_t bytes, size_t *column, size_t indent, size_t width)
{
    size_t wide = 0;
    for (size_t i = 0; i < bytes; i++) wide += ((unsigned char)word[i] & 0xc0) != 0x80;
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
        if (new_line && learn_has_prefix(words, "    ")) {
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

size_t learn_columns(void)
{
    enum { LEAST = 40, USUAL = 80, MOST = 100 };
    struct winsize size;
    const char *set = getenv("COLUMNS");
    int columns = set ? atoi(set) : 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col) columns = size.ws_col;
    if (columns <= 0) columns = USUAL;
    return (size_t)(columns < LEAST ? LEAST : columns > MOST ? MOST : columns);
}

/* ---- Files ---- */

char *learn_read_file(const char *path, size_t *bytes)
{
    learn_text t = {0};
    char part[16384];
    FILE *file = fopen(path, "rbe");
    if (!file) return NULL;
    learn_add_bytes(&t, "", 0);
    for (size_t got; (got = fread(part, 1, sizeof part, file)) > 0;) learn_add_bytes(&t, part, got);
    int error = errno;
    if (ferror(file)) learn_text_free(&t);
    if (bytes) *bytes = t.used;
    fclose(file);
    errno = error;
    return t.text;
}

char *learn_read_plain_file(const char *path, size_t most, size_t *bytes)
{
    struct stat s;
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool plain = fd >= 0 && fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_nlink == 1 && (size_t)s.st_size <= most;
    char *text = plain ? learn_memory((size_t)s.st_size + 1) : NULL;
    size_t got = 0;
    for (ssize_t more; plain && got < (size_t)s.st_size; got += (size_t)more)
        if ((more = read(fd, text + got, (size_t)s.st_size - got)) <= 0) break;
    if (bytes) *bytes = got;
    if (fd >= 0) close(fd);
    return text;
}

bool learn_write_file(const char *path, const void *bytes, size_t count)
{
    p2p_file file;
    return p2p__file_begin(&file, path) && p2p__file_end(&file, fwrite(bytes, 1, count, file.stream) == count);
}

bool learn_put_file(const char *path, const void *bytes, size_t count)
{
    char folder[LEARN_PATH];
    snprintf(folder, sizeof folder, "%s", path);
    *strrchr(folder, '/') = '\0';
    return learn_make_folder(folder) && learn_write_file(path, bytes, count);
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

uint64_t learn_hash(uint64_t so_far, const void *bytes, size_t count)
{
    const uint64_t length = count;
    const unsigned char *of[] = {bytes, (const unsigned char *)&length};
    const size_t counts[] = {count, sizeof length};
    uint64_t hash = so_far ? so_far : UINT64_C(0xcbf29ce484222325);
    for (int part = 0; part < 2; part++)
        for (size_t i = 0; i < counts[part]; i++) hash = (hash ^ of[part][i]) * UINT64_C(0x100000001b3);
    return hash ? hash : 1;
}

uint64_t learn_hash_file(uint64_t so_far, const char *path)
{
    size_t bytes;
    char *text = learn_read_file(path, &bytes);
    uint64_t hash = text ? learn_hash(so_far, text, bytes) : 0;
    free(text);
    return hash;
}
