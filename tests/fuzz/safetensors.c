/* SPDX-License-Identifier: MIT */
#include "trainer/safetensors.h"

#include "tests/fuzz/fuzz.h"
#include "trainer/trainer.h"

/* Every byte of the data is used, and every name is found again. */
static void use(const train_file *file)
{
    volatile unsigned sum = 0;
    for (size_t i = 0; i < file->array_count; i++) {
        const train_array *a = &file->arrays[i];
        const unsigned char *data = train__file_data(file, a);
        if (train__file_find(file, a->name) != a) __builtin_trap();
        for (uint64_t k = 0; k < a->end - a->first; k++) sum = sum + data[k];
    }
    for (size_t i = 0; i < file->line_count; i++)
        if (train__file_line(file, file->lines[i].key) != &file->lines[i]) __builtin_trap();
}

FUZZ(safetensors)
{
    static train_model *model;
    train_file file;
    train_start start;
    train_error error;
    const char *path = fuzz_file("model.safetensors", bytes, count);
    if (!model && train_build(train_describe("resnet20"), &model, &error)) __builtin_trap();
    if (train__file_read(path, &file, &error)) return 0;
    use(&file);
    train__file_free(&file);
    if (!train_start_from(path, model, &start, &error)) train_start_free(&start);
    return 0;
}
