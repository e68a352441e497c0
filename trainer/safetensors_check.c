/* SPDX-License-Identifier: MIT */
/*
 * What must be true of a file before anything of it is used: no name twice, the header's CRC, every byte of the data in
 * exactly one array, every array's CRC. Names are sorted first, so that each is found in a few steps.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/crc.h"
#include "trainer/safetensors.h"

void train__wrong_at(const char *path, uint64_t offset, const char *what, train_error *error)
{
    train__explain(error, "%s: at byte %" PRIu64 ": %s\n  try: another copy; nothing was loaded from this one", path,
                   offset, what);
}

/* One file being checked. */
typedef struct {
    const char *path;
    train_file *file;
    train_error *error;
} checker;

static p2p_err wrong_at(const checker *c, uint64_t offset, const char *what)
{
    train__wrong_at(c->path, offset, what, c->error);
    return P2P_ERR_PROTO;
}

/* ---- Names ---- */

static int by_key(const void *left, const void *right)
{
    const train_line *a = left, *b = right;
    return strcmp(a->key, b->key);
}

static int by_name(const void *left, const void *right)
{
    const train_array *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static int by_place(const void *left, const void *right)
{
    const train_array *a = left, *b = right;
    if (a->first != b->first) return a->first < b->first ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

const train_line *train__file_line(const train_file *file, const char *key)
{
    train_line wanted = {.key = key};
    return file->line_count ? bsearch(&wanted, file->lines, file->line_count, sizeof wanted, by_key) : NULL;
}

const char *train__file_note(const train_file *file, const char *key)
{
    const train_line *line = train__file_line(file, key);
    return line ? line->value : NULL;
}

const train_array *train__file_find(const train_file *file, const char *name)
{
    const train_array array = {.name = name}, *wanted = &array, **found = NULL;
    if (file->array_count) found = bsearch(&wanted, file->by_name, file->array_count, sizeof wanted, by_name);
    return found ? *found : NULL;
}

const void *train__file_data(const train_file *file, const train_array *array)
{
    return file->bytes + TRAIN_LENGTH_BYTES + file->header + array->first;
}

static p2p_err check_names(const checker *c)
{
    train_file *f = c->file;
    if (f->line_count) qsort(f->lines, f->line_count, sizeof *f->lines, by_key);
    for (size_t i = 1; i < f->line_count; i++)
        if (strcmp(f->lines[i - 1].key, f->lines[i].key) == 0)
            return wrong_at(c, TRAIN_LENGTH_BYTES, "two lines of metadata have the same key");
    if (!f->array_count) return P2P_OK;
    f->by_name = malloc(f->array_count * sizeof *f->by_name);
    if (!f->by_name) return train__fail(c->error, P2P_ERR_NOMEM, "%s: no memory for its names", c->path);
    qsort(f->arrays, f->array_count, sizeof *f->arrays, by_place);
    for (size_t i = 0; i < f->array_count; i++) f->by_name[i] = &f->arrays[i];
    qsort(f->by_name, f->array_count, sizeof *f->by_name, by_name);
    for (size_t i = 1; i < f->array_count; i++)
        if (strcmp(f->by_name[i - 1]->name, f->by_name[i]->name) == 0)
            return wrong_at(c, TRAIN_LENGTH_BYTES, "two arrays have the same name");
    return P2P_OK;
}

/* ---- The header's CRC ---- */

/* As if the eight digits at `place` were zeros. */
static uint32_t header_crc(const train_file *f, size_t place)
{
    const char *text = f->bytes + TRAIN_LENGTH_BYTES;
    uint32_t crc = p2p__crc32c(p2p__crc32c(0, text, place), "00000000", 8);
    return p2p__crc32c(crc, text + place + 8, f->header - place - 8);
}

static p2p_err check_header_crc(const checker *c)
{
    const train_file *f = c->file;
    const train_line *said = train__file_line(f, TRAIN_NOTE_HEADER_CRC),
                     *version = train__file_line(f, TRAIN_NOTE_VERSION);
    char digits[9];
    if (!said && !version) return P2P_OK; /* from elsewhere */
    /* Written without escapes, the digits are their own text. */
    bool plain = said && strlen(said->value) == 8 &&
                 memcmp(f->bytes + TRAIN_LENGTH_BYTES + said->place, said->value, 8) == 0;
    if (!plain || !version) return wrong_at(c, TRAIN_LENGTH_BYTES, "the header is damaged");
    snprintf(digits, sizeof digits, "%08" PRIx32, header_crc(f, said->place));
    if (strcmp(digits, said->value) != 0)
        return wrong_at(c, TRAIN_LENGTH_BYTES, "the header is damaged: its CRC32C does not match");
    if (strcmp(version->value, "1") == 0) return P2P_OK;
    return train__fail(c->error, P2P_ERR_PROTO,
                       "%s: at byte %zu: version %.20s of the format; this program reads version %d\n"
                       "  try: the newer Pairwise that wrote it",
                       c->path, TRAIN_LENGTH_BYTES + version->place, version->value, TRAIN_FILE_VERSION);
}

/* ---- Places ---- */

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

static p2p_err wrong_shape(const checker *c, const train_array *a, uint64_t at)
{
    char what[200];
    snprintf(what, sizeof what, "the shape of %.60s does not fit its %" PRIu64 " bytes of %.8s", a->name,
             a->end - a->first, a->dtype);
    return wrong_at(c, at, what);
}

static p2p_err wrong_place(const checker *c, const train_array *a, uint64_t data, uint64_t end)
{
    char what[200];
    snprintf(what, sizeof what, "%.60s begins here, not at byte %" PRIu64 " where the one before it ends", a->name,
             data + end);
    return wrong_at(c, data + a->first, what);
}

static p2p_err check_places(const checker *c)
{
    const train_file *f = c->file;
    uint64_t data = TRAIN_LENGTH_BYTES + f->header, end = 0;
    char what[200];
    for (size_t i = 0; i < f->array_count; i++) {
        const train_array *a = &f->arrays[i];
        if (!shape_fits(a)) return wrong_shape(c, a, data + a->first);
        if (a->first != end) return wrong_place(c, a, data, end);
        end = a->end;
    }
    uint64_t there = f->length - data;
    snprintf(what, sizeof what, "the file has %" PRIu64 " bytes of data, its header speaks of %" PRIu64 ": %s", there,
             end, there < end ? "truncated" : "something is behind them");
    return there == end ? P2P_OK : wrong_at(c, data + (there < end ? there : end), what);
}

/* ---- The arrays' CRCs ---- */

/* NULL if none is recorded. `key` has room for the prefix and any name of the file. */
static const char *recorded_crc(const train_file *f, const train_array *a, char *key)
{
    memcpy(key, TRAIN_NOTE_CRC, sizeof TRAIN_NOTE_CRC);
    memcpy(key + sizeof TRAIN_NOTE_CRC - 1, a->name, strlen(a->name) + 1);
    return train__file_note(f, key);
}

static p2p_err check_array(const checker *c, const train_array *a, const char *said)
{
    const train_file *f = c->file;
    char digits[9], what[200];
    snprintf(digits, sizeof digits, "%08" PRIx32, p2p__crc32c(0, train__file_data(f, a), a->end - a->first));
    if (said && strcmp(said, digits) == 0) return P2P_OK;
    snprintf(what, sizeof what,
             "%.60s, which begins here and has %" PRIu64 " bytes, is damaged: its CRC32C is %s, not %.8s", a->name,
             a->end - a->first, digits, said ? said : "recorded");
    return wrong_at(c, TRAIN_LENGTH_BYTES + f->header + a->first, what);
}

static p2p_err check_arrays(const checker *c)
{
    const train_file *f = c->file;
    bool ours = train__file_note(f, TRAIN_NOTE_VERSION);
    char *key = malloc(f->header + sizeof TRAIN_NOTE_CRC);
    p2p_err err = key ? P2P_OK : train__fail(c->error, P2P_ERR_NOMEM, "%s: no memory for its names", c->path);
    for (size_t i = 0; i < f->array_count && !err; i++) {
        const char *said = recorded_crc(f, &f->arrays[i], key);
        if (said || ours) err = check_array(c, &f->arrays[i], said);
    }
    free(key);
    return err;
}

p2p_err train__file_check(const char *path, train_file *file, train_error *error)
{
    checker c = {path, file, error};
    p2p_err err = check_names(&c);
    if (!err) err = check_header_crc(&c);
    if (!err) err = check_places(&c);
    return err ? err : check_arrays(&c);
}
