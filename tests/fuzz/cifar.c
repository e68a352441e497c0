/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trainer/trainer.h"

enum { MOST_RECORDS = 8 };

/* A byte is the label of a record; the last one, how many bytes follow that are no whole record. */
static void write_records(const char *name, const uint8_t *labels, size_t records)
{
    static uint8_t file[MOST_RECORDS * TRAIN_RECORD + 256];
    memset(file, 7, sizeof file);
    for (size_t i = 0; i + 1 < records; i++) file[i * TRAIN_RECORD] = labels[i];
    size_t over = records ? labels[records - 1] : 0;
    fuzz_file(name, file, (records ? records - 1 : 0) * TRAIN_RECORD + over);
}

FUZZ(cifar)
{
    train_data data;
    train_error error;
    size_t first = count / 2 < MOST_RECORDS ? count / 2 : MOST_RECORDS;
    size_t second = count - count / 2 < MOST_RECORDS ? count - count / 2 : MOST_RECORDS;
    write_records("data_batch_1.bin", bytes, first);
    write_records("test_batch.bin", bytes + count / 2, second);
    if (train_data_cifar(fuzz_folder(), count % 3, count % 2, &data, &error)) return 0;
    for (size_t i = 0; i < data.train.count; i++)
        if (train_label(&data.train, i) >= TRAIN_CLASSES) __builtin_trap();
    train_data_free(&data);
    return 0;
}
