/* SPDX-License-Identifier: MIT */
/*
 * Checkpoints whose checksums are right and whose metadata are anything: lines KEY=VALUE of the weights, an empty line,
 * and those of the optimiser's state.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"
#include "trainer/run.h"
#include "trainer/weights.h"

enum { MOST_NOTES = 20 };

/* Takes lines up to an empty one; what is left. */
static char *take_notes(char *text, train_note *notes, size_t *count)
{
    char *line;
    *count = 0;
    while ((line = strsep(&text, "\n")) && *line) {
        char *value = strchr(line, '=');
        if (!value || *count == MOST_NOTES) continue;
        *value++ = '\0';
        notes[(*count)++] = (train_note){line, value};
    }
    return text;
}

static void write_state(const char *name, const train_model *model, const float *zeros, const train_note *notes,
                        size_t note_count)
{
    static char names[200][80];
    static train_piece pieces[200];
    train_error error;
    size_t used = 0;
    for (size_t i = 0; i < model->tensor_count; i++) {
        const train_tensor *t = &model->tensors[i];
        if (t->kind != TRAIN_PARAMETER) continue;
        snprintf(names[used], sizeof names[used], "%s.momentum_buffer", t->name);
        pieces[used] = (train_piece){names[used], "F32", t->dimensions, t->shape, zeros, t->count * sizeof(float)};
        used++;
    }
    train__file_write(fuzz_file(name, "", 0), pieces, used, notes, note_count, &error);
}

FUZZ(resume)
{
    static const train_description smallest = {"smallest", 3, 1, false, 1, {1}, {1}};
    static train_model *model;
    static float zeros[4096];
    train_settings settings = {.optimizer = KERNEL_SGD, .momentum = 0.9f, .seed = 1, .shuffle = true};
    train_note notes[MOST_NOTES];
    train_error error;
    train_start start;
    size_t used;
    if (!model && train_build(&smallest, &model, &error)) __builtin_trap();
    if (model->parameters > 4096) __builtin_trap();
    train_run_of run = {&settings, model, 100};
    char *text = fuzz_text(bytes, count), *rest = take_notes(text, notes, &used);
    train__save_weights(fuzz_file(TRAIN_MODEL_FILE, "", 0), model, zeros, zeros, 1, notes, used, &error);
    if (rest) take_notes(rest, notes, &used);
    if (rest) write_state("optimizer-7.safetensors", model, zeros, notes, used);
    if (!train__resume(fuzz_folder(), &run, &start, &error)) {
        if (start.position > run.images || !start.epoch) __builtin_trap();
        train_start_free(&start);
    }
    free(text);
    return 0;
}
