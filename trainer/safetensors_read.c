/* SPDX-License-Identifier: MIT */
/* Every value of a file is checked before it is used: lengths here, the rest in safetensors_check.c. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/json.h"
#include "trainer/safetensors.h"

/* One file being read. */
typedef struct {
    const char *path;
    train_file file;
    size_t strings_used;
    train_json json;
    train_error *error;
} reader;

static p2p_err wrong_at(const reader *r, uint64_t offset, const char *what)
{
    train__wrong_at(r->path, offset, what, r->error);
    return P2P_ERR_PROTO;
}

/* ---- The bytes ---- */

static p2p_err no_reading(reader *r, int fd, const char *call)
{
    int cause = errno;
    if (fd >= 0) close(fd);
    return train__fail(r->error, P2P_ERR_SYS, "%s: %s: %s", r->path, call, strerror(cause));
}

static p2p_err read_bytes(reader *r)
{
    struct stat there;
    train_file *f = &r->file;
    int fd = open(r->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return no_reading(r, fd, "open");
    if (fstat(fd, &there) < 0) return no_reading(r, fd, "fstat");
    if (!S_ISREG(there.st_mode)) errno = S_ISDIR(there.st_mode) ? EISDIR : EINVAL; /* a pipe might never end */
    if (!S_ISREG(there.st_mode)) return no_reading(r, fd, "read");
    f->length = (size_t)there.st_size;
    if (f->length < TRAIN_LENGTH_BYTES) {
        close(fd);
        return wrong_at(r, f->length, "the file ends here: this is no safetensors file");
    }
    f->bytes = malloc(f->length);
    for (size_t done = 0; f->bytes && done < f->length;) {
        ssize_t got = read(fd, f->bytes + done, f->length - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return no_reading(r, fd, "read");
        if (got == 0) f->length = done; /* it has become shorter */
        done += (size_t)got;
    }
    close(fd);
    if (f->bytes && f->length < (size_t)there.st_size)
        return wrong_at(r, f->length, "the file ended here while it was read: another process is writing it");
    if (!f->bytes) return train__fail(r->error, P2P_ERR_NOMEM, "%s: no memory for %zu bytes", r->path, f->length);
    return P2P_OK;
}

/* ---- The header ---- */

/* No string is longer than what it is written as, so all of them fit into as many bytes as the header has. */
static const char *take_string(reader *r)
{
    char *at = r->file.strings + r->strings_used;
    train__json_string(&r->json, at, r->file.header - r->strings_used);
    r->strings_used += strlen(at) + 1;
    return at;
}

static void *another(void *list, size_t count, size_t element, bool *failed)
{
    void *larger = (count & (count - 1)) == 0 ? realloc(list, 2 * (count ? count : 1) * element) : list;
    if (!larger) *failed = true;
    return larger ? larger : list;
}

static void take_metadata(reader *r)
{
    train_file *f = &r->file;
    train__json_expect(&r->json, '{');
    if (train__json_next(&r->json, '}')) return;
    do {
        train_line line;
        line.key = take_string(r);
        train__json_expect(&r->json, ':');
        line.place = train__json_place(&r->json) + 1;
        line.value = take_string(r);
        f->lines = another(f->lines, f->line_count, sizeof *f->lines, &r->json.failed);
        if (!r->json.failed) f->lines[f->line_count++] = line;
    } while (!r->json.failed && train__json_next(&r->json, ','));
    train__json_expect(&r->json, '}');
}

static void take_shape(reader *r, train_array *a)
{
    train__json_expect(&r->json, '[');
    if (train__json_next(&r->json, ']')) return;
    do {
        uint64_t side = train__json_number(&r->json);
        if (a->dimensions == TRAIN_DIMENSIONS)
            r->json.failed = true, r->json.wrong = r->json.at;
        else
            a->shape[a->dimensions++] = side;
    } while (!r->json.failed && train__json_next(&r->json, ','));
    train__json_expect(&r->json, ']');
}

static void take_offsets(reader *r, train_array *a)
{
    train__json_expect(&r->json, '[');
    a->first = train__json_number(&r->json);
    train__json_expect(&r->json, ',');
    a->end = train__json_number(&r->json);
    train__json_expect(&r->json, ']');
}

static int member_of(const char *key)
{
    static const char *const members[] = {"dtype", "shape", "data_offsets"};
    for (int i = 0; i < 3; i++)
        if (strcmp(members[i], key) == 0) return i;
    return -1;
}

/* The three members may come in any order, each once. */
static void take_array(reader *r, const char *name)
{
    train_file *f = &r->file;
    train_array a = {.name = name, .dtype = ""};
    bool seen[3] = {false};
    train__json_expect(&r->json, '{');
    for (int i = 0; i < 3 && !r->json.failed; i++) {
        if (i) train__json_expect(&r->json, ',');
        size_t at = r->json.at;
        int member = member_of(take_string(r));
        if (member < 0 || seen[member]) {
            r->json.failed = true, r->json.wrong = at;
            return;
        }
        seen[member] = true;
        train__json_expect(&r->json, ':');
        if (member == 0) a.dtype = take_string(r);
        if (member == 1) take_shape(r, &a);
        if (member == 2) take_offsets(r, &a);
    }
    train__json_expect(&r->json, '}');
    f->arrays = another(f->arrays, f->array_count, sizeof *f->arrays, &r->json.failed);
    if (!r->json.failed) f->arrays[f->array_count++] = a;
}

static p2p_err take_header(reader *r)
{
    train_file *f = &r->file;
    uint64_t length = 0;
    for (int i = 0; i < TRAIN_LENGTH_BYTES; i++) length |= (uint64_t)(unsigned char)f->bytes[i] << (8 * i);
    if (length > f->length - TRAIN_LENGTH_BYTES)
        return wrong_at(r, 0, "the header would be longer than the file: truncated, or no safetensors file");
    f->header = (size_t)length;
    f->strings = calloc(f->header + 1, 1);
    if (!f->strings) return train__fail(r->error, P2P_ERR_NOMEM, "%s: no memory for its header", r->path);
    r->json = (train_json){.text = f->bytes + TRAIN_LENGTH_BYTES, .length = f->header};
    train__json_expect(&r->json, '{');
    bool empty = train__json_next(&r->json, '}');
    while (!empty && !r->json.failed) {
        const char *name = take_string(r);
        train__json_expect(&r->json, ':');
        if (strcmp(name, "__metadata__") == 0)
            take_metadata(r);
        else
            take_array(r, name);
        if (!train__json_next(&r->json, ',')) break;
    }
    if (!empty) train__json_expect(&r->json, '}');
    if (!r->json.failed && train__json_end(&r->json)) return P2P_OK;
    return wrong_at(r, TRAIN_LENGTH_BYTES + (r->json.failed ? r->json.wrong : r->json.at), "the header is damaged");
}

p2p_err train__file_read(const char *path, train_file *file, train_error *error)
{
    reader r = {.path = path, .error = error};
    p2p_err err = read_bytes(&r);
    if (!err) err = take_header(&r);
    if (!err) err = train__file_check(path, &r.file, error);
    if (err)
        train__file_free(&r.file);
    else
        *file = r.file;
    return err;
}

void train__file_free(train_file *file)
{
    free(file->bytes);
    free(file->strings);
    free(file->arrays);
    free(file->by_name);
    free(file->lines);
    *file = (train_file){0};
}
