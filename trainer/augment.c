/* SPDX-License-Identifier: MIT */
/* From bytes to numbers: normalised, and cut and mirrored at random (as He et al. 2016 train on CIFAR-10). */
#include "trainer/internal.h"
#include "trainer/random.h"

enum { PADDING = 4 };

static const float mean[TRAIN_CHANNELS] = {0.4914f, 0.4822f, 0.4465f};
static const float deviation[TRAIN_CHANNELS] = {0.2470f, 0.2435f, 0.2616f};

/* The same three roundings as ToTensor and Normalize make. */
static float number_of(int channel, uint8_t pixel)
{
    return ((float)pixel / 255.0f - mean[channel]) / deviation[channel];
}

/* Offset of the image in what is cut out: -4 to 4 in each direction. */
typedef struct {
    int x, y;
    bool mirror;
} cut;

static cut choose(size_t image, const train_view *view)
{
    if (!view->augment) return (cut){0, 0, false};
    train_random random = train__random(view->seed, STREAM_AUGMENT, view->epoch);
    uint64_t bits = train__bits(random, image);
    enum { PLACES = 2 * PADDING + 1 };
    return (cut){(int)(bits % PLACES) - PADDING, (int)((bits >> 20) % PLACES) - PADDING, (bits >> 40) & 1};
}

/* One row: black where the cut goes beyond the image. */
static void preprocess_row(const uint8_t *row, bool inside, const cut *c, const float table[256], float *out)
{
    for (int x = 0; x < TRAIN_SIDE; x++) {
        int from = (c->mirror ? TRAIN_SIDE - 1 - x : x) + c->x;
        out[x] = table[inside && from >= 0 && from < TRAIN_SIDE ? row[from] : 0];
    }
}

void train_preprocess(const train_images *images, size_t image, const train_view *view, float out[TRAIN_PIXELS])
{
    const uint8_t *pixels = images->records + image * TRAIN_RECORD + 1;
    cut c = choose(image, view);
    float table[256];
    for (int channel = 0; channel < TRAIN_CHANNELS; channel++) {
        for (int value = 0; value < 256; value++) table[value] = number_of(channel, (uint8_t)value);
        const uint8_t *plane = pixels + channel * TRAIN_SIDE * TRAIN_SIDE;
        for (int y = 0; y < TRAIN_SIDE; y++, out += TRAIN_SIDE) {
            bool inside = y + c.y >= 0 && y + c.y < TRAIN_SIDE;
            preprocess_row(inside ? plane + (y + c.y) * TRAIN_SIDE : plane, inside, &c, table, out);
        }
    }
}
