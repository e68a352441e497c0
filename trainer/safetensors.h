/* SPDX-License-Identifier: MIT */
/*
 * safetensors: named arrays in a file, the format that PyTorch's libraries exchange (huggingface.co/docs/safetensors).
 *
 *      offset 0      8 bytes, little-endian: length of the header
 *             8      the header: JSON, blanks at its end
 *                        {"__metadata__":{"key":"value",...},
 *                         "conv1.weight":{"dtype":"F32","shape":[64,3,7,7],"data_offsets":[0,37632]}, ...}
 *      8 + length    the data, nothing between the arrays and nothing behind them
 *
 * What we write has in its metadata a version, the CRC32C of every array and that of the header itself (computed with
 * its own digits as zeros), so that any byte that changes is noticed. Files without them, from elsewhere, are read too.
 */
#ifndef PAIRWISE_TRAINER_SAFETENSORS_H
#define PAIRWISE_TRAINER_SAFETENSORS_H

#include "trainer/internal.h"

enum { TRAIN_DIMENSIONS = 8, TRAIN_FILE_VERSION = 1, TRAIN_LENGTH_BYTES = 8 };

#define TRAIN_NOTE_VERSION "pairwise.version"
#define TRAIN_NOTE_HEADER_CRC "crc32c.header"
#define TRAIN_NOTE_CRC "crc32c." /* and the name of an array */

/* One array of a file. Bytes [first, end) of the data. */
typedef struct {
    const char *name, *dtype;
    int dimensions;
    uint64_t shape[TRAIN_DIMENSIONS];
    uint64_t first, end;
} train_array;

/* A line of metadata. */
typedef struct {
    const char *key, *value;
} train_note;

/* The same as it stands in a file: `place` is where the value's text begins, in bytes of the header. */
typedef struct {
    const char *key, *value;
    size_t place;
} train_line;

/* A file in memory. Arrays are in the order of their data, lines in that of their keys. */
typedef struct {
    char *bytes, *strings;
    size_t length, header; /* of the file, of its header */
    train_array *arrays;
    const train_array **by_name; /* the same */
    train_line *lines;
    size_t array_count, line_count;
} train_file;

/* Read a file and check all of it, in time proportional to its size. An error names the file, the offset and what is
 * wrong there; then *file is as it was. Free it with train__file_free. */
p2p_err train__file_read(const char *path, train_file *file, train_error *error);
void train__file_free(train_file *file);

/* NULL if there is none of that name. */
const train_array *train__file_find(const train_file *file, const char *name);
const void *train__file_data(const train_file *file, const train_array *array);
const char *train__file_note(const train_file *file, const char *key);
const train_line *train__file_line(const train_file *file, const char *key);

/* Used by train__file_read: check that the data is as the header says; sort the arrays and the metadata by name. */
p2p_err train__file_check(const char *path, train_file *file, train_error *error);

/* Says what is wrong at this byte of the file, which is P2P_ERR_PROTO. */
void train__wrong_at(const char *path, uint64_t offset, const char *what, train_error *error);

/* An array to write. */
typedef struct {
    const char *name, *dtype;
    int dimensions;
    const size_t *shape;
    const void *data;
    size_t bytes;
} train_piece;

/* Write a file, durably (durable.h). The notes must not have keys of the kinds above. */
p2p_err train__file_write(const char *path, const train_piece *pieces, size_t piece_count, const train_note *notes,
                          size_t note_count, train_error *error);

#endif
