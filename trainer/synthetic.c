/* SPDX-License-Identifier: MIT */
/*
 * The built-in set. Each class is a pattern of a few waves in each colour. An image is its class's pattern shifted,
 * mirrored and dimmed at random, with some of another class's pattern and much noise over it: a linear classifier
 * recognises few of the images, a small ResNet most.
 */
#include <math.h>
#include <stdlib.h>

#include "trainer/internal.h"
#include "trainer/random.h"

enum { WAVES = 4, SEED = 20, CYCLES = 3 };

typedef struct {
    float at[TRAIN_CHANNELS][TRAIN_SIDE][TRAIN_SIDE]; /* about -1 to 1 */
} pattern;

/* Whole numbers of cycles, so that a shifted pattern has no edge. */
static void add_wave(pattern *p, int channel, train_random random, uint64_t wave)
{
    const double turn = 2.0 * 3.14159265358979323846;
    double across = (double)train__below(random, 4 * wave, CYCLES + 1);
    double down = (double)train__below(random, 4 * wave + 1, 2 * CYCLES + 1) - CYCLES;
    double phase = turn * train__uniform(random, 4 * wave + 2);
    for (int y = 0; y < TRAIN_SIDE; y++)
        for (int x = 0; x < TRAIN_SIDE; x++)
            p->at[channel][y][x] += (float)(0.6 * cos(turn * (across * x + down * y) / TRAIN_SIDE + phase));
}

static void make_pattern(pattern *p, int class)
{
    train_random random = train__random(SEED, STREAM_PATTERN, (uint64_t) class);
    *p = (pattern){0};
    for (int wave = 0; wave < WAVES * TRAIN_CHANNELS; wave++)
        add_wave(p, wave % TRAIN_CHANNELS, random, (uint64_t)wave);
}

static uint8_t to_byte(double value)
{
    return value < 0 ? 0 : value > 255 ? 255 : (uint8_t)lround(value);
}

/* How an image shows a pattern. */
typedef struct {
    const pattern *shown;
    int x, y;
    bool mirror;
    double strength;
} showing;

static showing choose(const pattern patterns[], int class, train_random random, uint64_t first, double low, double high)
{
    return (showing){&patterns[class], (int)train__below(random, first, TRAIN_SIDE),
                     (int)train__below(random, first + 1, TRAIN_SIDE), train__below(random, first + 2, 2) == 1,
                     low + (high - low) * train__uniform(random, first + 3)};
}

static double pixel_of(const showing *s, int channel, int y, int x)
{
    int across = s->mirror ? TRAIN_SIDE - 1 - x : x;
    return s->strength * (double)s->shown->at[channel][(y + s->y) % TRAIN_SIDE][(across + s->x) % TRAIN_SIDE];
}

static void make_image(uint8_t *record, uint64_t number, const pattern patterns[])
{
    enum { NOISE = 16 }; /* numbers before it are for other things */
    train_random random = train__random(SEED, STREAM_IMAGE, number);
    int class = (int)train__below(random, 0, TRAIN_CLASSES);
    int other = (class + 1 + (int)train__below(random, 1, TRAIN_CLASSES - 1)) % TRAIN_CLASSES;
    showing main = choose(patterns, class, random, 2, 25, 60), mixed = choose(patterns, other, random, 6, 0, 25);
    double light = 128 + 60 * (train__uniform(random, 10) - 0.5);
    uint8_t *pixel = record + 1;
    uint64_t next = NOISE;
    record[0] = (uint8_t) class;
    for (int channel = 0; channel < TRAIN_CHANNELS; channel++)
        for (int y = 0; y < TRAIN_SIDE; y++)
            for (int x = 0; x < TRAIN_SIDE; x++) {
                double noise = 120 * (train__uniform(random, next++) - 0.5);
                *pixel++ = to_byte(light + pixel_of(&main, channel, y, x) + pixel_of(&mixed, channel, y, x) + noise);
            }
}

/* Images number `first` and following. */
static bool make_images(train_images *images, size_t count, uint64_t first, const pattern patterns[])
{
    images->records = malloc(count * TRAIN_RECORD);
    if (!images->records) return false;
    images->count = count;
    for (size_t i = 0; i < count; i++) make_image(images->records + i * TRAIN_RECORD, first + i, patterns);
    return true;
}

static size_t smaller(size_t limit, size_t all)
{
    return limit && limit < all ? limit : all;
}

p2p_err train_data_synthetic(size_t train_limit, size_t test_limit, train_data *data, train_error *error)
{
    pattern *patterns = calloc(TRAIN_CLASSES, sizeof *patterns);
    train_data made = {.classes = TRAIN_CLASSES};
    for (int class = 0; patterns && class < TRAIN_CLASSES; class ++) make_pattern(&patterns[class], class);
    bool fine = patterns && make_images(&made.train, smaller(train_limit, TRAIN_SYNTHETIC), 0, patterns) &&
                make_images(&made.test, smaller(test_limit, TRAIN_SYNTHETIC_TEST), TRAIN_SYNTHETIC, patterns);
    free(patterns);
    if (!fine) {
        train_data_free(&made);
        return train__fail(error, P2P_ERR_NOMEM, "no memory for the built-in images");
    }
    *data = made;
    return P2P_OK;
}
