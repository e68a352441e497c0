/* SPDX-License-Identifier: MIT */
/* Nothing of a file is believed before it is checked: lengths before they are used, every CRC before anything is taken. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trainer/crc.h"
#include "trainer/json.h"
#include "trainer/safetensors.h"

enum { LENGTH_BYTES = 8 };

/* One file being read. */
typedef struct {
    const char *path;
    train_file file;
    size_t strings_used;
    train_json json;
    train_error *error;
} reader;

static p2p_err wrong_at(reader *r, uint64_t offset, const char *what)
{
    return train__fail(r->error, P2P_ERR_PROTO,
                       "%s: at byte %" PRIu64 ": %s\n  try: another copy; nothing was loaded from this one", r->path,
                       offset, what);
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
    int fd = open(r->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return no_reading(r, fd, "open");
    if (fstat(fd, &there) < 0) return no_reading(r, fd, "fstat");
    if (S_ISDIR(there.st_mode)) errno = EISDIR;
    if (S_ISDIR(there.st_mode)) return no_reading(r, fd, "read");
    f->length = (size_t)there.st_size;
    if (f->length < LENGTH_BYTES) {
        close(fd);
        return wrong_at(r, f->length, "the file ends here: this is no safetensors file");
    }
    f->bytes = malloc(f->length);
    for (size_t done = 0; f->bytes && done < f->length;) {
        ssize_t got = read(fd, f->bytes + done, f->length - done);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return no_reading(r, fd, "read");
        if (got == 0) f->length = done; /* it has become shorter: the checks will say so */
        done += (size_t)got;
    }
    close(fd);
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

static void take_notes(reader *r)
{
    train_file *f = &r->file;
    train__json_expect(&r->json, '{');
    if (train__json_next(&r->json, '}')) return;
    do {
        train_note note;
        note.key = take_string(r);
        train__json_expect(&r->json, ':');
        note.value = take_string(r);
        f->notes = another(f->notes, f->note_count, sizeof *f->notes, &r->json.failed);
        if (!r->json.failed) f->notes[f->note_count++] = note;
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

/* The three members may come in any order. */
static void take_array(reader *r, const char *name)
{
    train_file *f = &r->file;
    train_array a = {.name = name, .dtype = ""};
    train__json_expect(&r->json, '{');
    for (int member = 0; member < 3 && !r->json.failed; member++) {
        if (member) train__json_expect(&r->json, ',');
        size_t at = r->json.at;
        const char *key = take_string(r);
        train__json_expect(&r->json, ':');
        if (strcmp(key, "dtype") == 0)
            a.dtype = take_string(r);
        else if (strcmp(key, "shape") == 0)
            take_shape(r, &a);
        else if (strcmp(key, "data_offsets") == 0)
            take_offsets(r, &a);
        else if (!r->json.failed)
            r->json.failed = true, r->json.wrong = at;
    }
    train__json_expect(&r->json, '}');
    f->arrays = another(f->arrays, f->array_count, sizeof *f->arrays, &r->json.failed);
    if (!r->json.failed) f->arrays[f->array_count++] = a;
}

static p2p_err take_header(reader *r)
{
    train_file *f = &r->file;
    uint64_t length = 0;
    for (int i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)(unsigned char)f->bytes[i] << (8 * i);
    if (length > f->length - LENGTH_BYTES)
        return wrong_at(r, 0, "the header would be longer than the file: truncated, or no safetensors file");
    f->header = (size_t)length;
    f->strings = calloc(f->header + 1, 1);
    if (!f->strings) return train__fail(r->error, P2P_ERR_NOMEM, "%s: no memory for its header", r->path);
    r->json = (train_json){.text = f->bytes + LENGTH_BYTES, .length = f->header};
    train__json_expect(&r->json, '{');
    bool empty = train__json_next(&r->json, '}');
    while (!empty && !r->json.failed) {
        const char *name = take_string(r);
        train__json_expect(&r->json, ':');
        if (strcmp(name, "__metadata__") == 0)
            take_notes(r);
        else
            take_array(r, name);
        if (!train__json_next(&r->json, ',')) break;
    }
    if (!empty) train__json_expect(&r->json, '}');
    if (!r->json.failed && train__json_end(&r->json)) return P2P_OK;
    return wrong_at(r, LENGTH_BYTES + (r->json.failed ? r->json.wrong : r->json.at), "the header is damaged");
}

/* ---- What must be true of it ---- */

static p2p_err check_header_crc(reader *r)
{
    static const char key[] = "\"" TRAIN_NOTE_HEADER_CRC "\":\"";
    train_file *f = &r->file;
    char *text = f->bytes + LENGTH_BYTES, digits[9] = "";
    const char *said = train__file_note(f, TRAIN_NOTE_HEADER_CRC), *version = train__file_note(f, TRAIN_NOTE_VERSION);
    if (!said && !version) return P2P_OK; /* from elsewhere */
    char *at = memmem(text, f->header, key, sizeof key - 1);
    if (!said || !version || !at || strlen(said) != 8) return wrong_at(r, LENGTH_BYTES, "the header is damaged");
    at += sizeof key - 1;
    memset(at, '0', 8);
    snprintf(digits, sizeof digits, "%08" PRIx32, train__crc(0, text, f->header));
    memcpy(at, said, 8);
    if (strcmp(digits, said) != 0) return wrong_at(r, LENGTH_BYTES, "the header is damaged: its CRC32C does not match");
    if (strcmp(version, "1") == 0) return P2P_OK;
    at = memmem(text, f->header, TRAIN_NOTE_VERSION, sizeof TRAIN_NOTE_VERSION - 1);
    if (!at) at = text;
    return train__fail(r->error, P2P_ERR_PROTO,
                       "%s: at byte %zu: version %s of the format; this program reads version %d\n"
                       "  try: the newer Pairwise that wrote it",
                       r->path, (size_t)(at - f->bytes), version, TRAIN_FILE_VERSION);
}

static size_t element_size(const char *dtype)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"F64", 8},  {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4}, {"U32", 4}, {"F16", 2},
                 {"BF16", 2}, {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, dtype) == 0) return types[i].size;
    return 0;
}

static bool shape_fits(const train_array *a)
{
    uint64_t bytes = element_size(a->dtype);
    if (!bytes || a->end < a->first) return false;
    for (int d = 0; d < a->dimensions; d++) {
        if (a->shape[d] && bytes > UINT64_MAX / a->shape[d]) return false;
        bytes *= a->shape[d];
    }
    return bytes == a->end - a->first;
}

static int by_place(const void *left, const void *right)
{
    const train_array *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

static p2p_err check_places(reader *r)
{
    train_file *f = &r->file;
    uint64_t data = LENGTH_BYTES + f->header, end = 0;
    char what[200];
    if (f->array_count) qsort(f->arrays, f->array_count, sizeof *f->arrays, by_place);
    for (size_t i = 0; i < f->array_count; i++) {
        const train_array *a = &f->arrays[i];
        snprintf(what, sizeof what, "the shape of %.60s does not fit its %" PRIu64 " bytes of %.8s", a->name,
                 a->end - a->first, a->dtype);
        if (!shape_fits(a)) return wrong_at(r, data + a->first, what);
        snprintf(what, sizeof what, "%.60s begins here, not at byte %" PRIu64 " where the one before it ends", a->name,
                 data + end);
        if (a->first != end) return wrong_at(r, data + a->first, what);
        end = a->end;
    }
    uint64_t there = f->length - data;
    snprintf(what, sizeof what, "the file has %" PRIu64 " bytes of data, its header speaks of %" PRIu64 ": %s", there,
             end, there < end ? "truncated" : "something is behind them");
    return there == end ? P2P_OK : wrong_at(r, data + (there < end ? there : end), what);
}

static p2p_err check_arrays(reader *r)
{
    train_file *f = &r->file;
    char key[200], digits[9], what[200];
    bool ours = train__file_note(f, TRAIN_NOTE_VERSION);
    for (size_t i = 0; i < f->array_count; i++) {
        const train_array *a = &f->arrays[i];
        if (train__file_find(f, a->name) != a) return wrong_at(r, LENGTH_BYTES, "two arrays have the same name");
        snprintf(key, sizeof key, TRAIN_NOTE_CRC "%s", a->name);
        const char *said = train__file_note(f, key);
        if (!said && !ours) continue;
        snprintf(digits, sizeof digits, "%08" PRIx32, train__crc(0, train__file_data(f, a), a->end - a->first));
        if (said && strcmp(said, digits) == 0) continue;
        snprintf(what, sizeof what,
                 "%.60s, which begins here and has %" PRIu64 " bytes, is damaged: its CRC32C is %s, "
                 "not %.8s",
                 a->name, a->end - a->first, digits, said ? said : "recorded");
        return wrong_at(r, LENGTH_BYTES + f->header + a->first, what);
    }
    return P2P_OK;
}

p2p_err train__file_read(const char *path, train_file *file, train_error *error)
{
    reader r = {.path = path, .error = error};
    p2p_err err = read_bytes(&r);
    if (!err) err = take_header(&r);
    if (!err) err = check_header_crc(&r);
    if (!err) err = check_places(&r);
    if (!err) err = check_arrays(&r);
    if (err)
        train__file_free(&r.file);
    else
        *file = r.file;
    return err;
}

/* ---- Looking up ---- */

void train__file_free(train_file *file)
{
    free(file->bytes);
    free(file->strings);
    free(file->arrays);
    free(file->notes);
    *file = (train_file){0};
}

const train_array *train__file_find(const train_file *file, const char *name)
{
    for (size_t i = 0; i < file->array_count; i++)
        if (strcmp(file->arrays[i].name, name) == 0) return &file->arrays[i];
    return NULL;
}

const void *train__file_data(const train_file *file, const train_array *array)
{
    return file->bytes + LENGTH_BYTES + file->header + array->first;
}

const char *train__file_note(const train_file *file, const char *key)
{
    for (size_t i = 0; i < file->note_count; i++)
        if (strcmp(file->notes[i].key, key) == 0) return file->notes[i].value;
    return NULL;
}
