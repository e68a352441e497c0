/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/shared/crc.h"
#include "trainer/durable.h"
#include "trainer/safetensors.h"

static void put_string(FILE *out, const char *prefix, const char *text)
{
    fprintf(out, "\"%s", prefix);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        if ((unsigned char)*text < ' ')
            fprintf(out, "\\u%04x", *text);
        else
            fputc(*text, out);
    }
    fputc('"', out);
}

static void put_metadata(FILE *out, const train_piece *pieces, size_t piece_count, const train_note *notes,
                         size_t note_count)
{
    fprintf(out,
            "{\"__metadata__\":{\"" TRAIN_NOTE_HEADER_CRC "\":\"00000000\",\"format\":\"pt\",\"" TRAIN_NOTE_VERSION
            "\":\"%d\"",
            TRAIN_FILE_VERSION);
    for (size_t i = 0; i < note_count; i++) {
        fputc(',', out);
        put_string(out, "", notes[i].key);
        fputc(':', out);
        put_string(out, "", notes[i].value);
    }
    for (size_t i = 0; i < piece_count; i++) {
        fputc(',', out);
        put_string(out, TRAIN_NOTE_CRC, pieces[i].name);
        fprintf(out, ":\"%08" PRIx32 "\"", p2p__crc32c(0, pieces[i].data, pieces[i].bytes));
    }
    fputc('}', out);
}

static void put_array(FILE *out, const train_piece *piece, size_t first)
{
    fputc(',', out);
    put_string(out, "", piece->name);
    fprintf(out, ":{\"dtype\":\"%s\",\"shape\":[", piece->dtype);
    for (int d = 0; d < piece->dimensions; d++) fprintf(out, "%s%zu", d ? "," : "", piece->shape[d]);
    fprintf(out, "],\"data_offsets\":[%zu,%zu]}", first, first + piece->bytes);
}

/* The header with its CRC in place; NULL if there is no memory. */
static char *make_header(const train_piece *pieces, size_t piece_count, const train_note *notes, size_t note_count,
                         size_t *length)
{
    static const char before_crc[] = "{\"__metadata__\":{\"" TRAIN_NOTE_HEADER_CRC "\":\"";
    char *text = NULL, digits[9];
    size_t first = 0;
    FILE *out = open_memstream(&text, length);
    if (!out) return NULL;
    put_metadata(out, pieces, piece_count, notes, note_count);
    for (size_t i = 0; i < piece_count; i++) {
        put_array(out, &pieces[i], first);
        first += pieces[i].bytes;
    }
    fputc('}', out);
    while (ftell(out) % 8) fputc(' ', out); /* so that the data is aligned */
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    snprintf(digits, sizeof digits, "%08" PRIx32, p2p__crc32c(0, text, *length));
    memcpy(text + sizeof before_crc - 1, digits, 8);
    return text;
}

p2p_err train__file_write(const char *path, const train_piece *pieces, size_t piece_count, const train_note *notes,
                          size_t note_count, train_error *error)
{
    train_durable file;
    unsigned char eight[8];
    size_t length;
    char *header = make_header(pieces, piece_count, notes, note_count, &length);
    if (!header) return train__fail(error, P2P_ERR_NOMEM, "%s: no memory for its header", path);
    for (int i = 0; i < 8; i++) eight[i] = (unsigned char)((uint64_t)length >> (8 * i));
    p2p_err err = train__durable_begin(&file, path, error);
    if (!err) err = train__durable_write(&file, eight, sizeof eight, error);
    if (!err) err = train__durable_write(&file, header, length, error);
    for (size_t i = 0; i < piece_count && !err; i++)
        err = train__durable_write(&file, pieces[i].data, pieces[i].bytes, error);
    if (!err) err = train__durable_commit(&file, error);
    free(header);
    return err;
}
