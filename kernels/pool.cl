/* SPDX-License-Identifier: MIT */
/*
 * pool: the largest of 3 x 3 (stride 2, padding 1), and the mean of an image. A work-item has a position and its lanes,
 * and goes through the channels.
 *
 *      7 rows in, 4 rows out:   out 0: in -1 0 1    out 1: in 1 2 3    out 2: in 3 4 5    out 3: in 5 6 7
 *      so an even row belongs to one output row, an odd one to two
 */
enum { SIZE = 3 };

/* One vector of a window whose first tap is (row, column), perhaps outside: the largest, and which tap it was; of
 * equals the first, and a NaN is larger than all. `in`: of the image's first pixel. */
inline vec largest(__global const float *in, int row, int column, const shape_image s, ivec *chosen)
{
    vec most = -INFINITY;

    *chosen = 0;
    for (int r = max(0, -row); r < min(SIZE, s.height - row); r++)
        for (int q = max(0, -column); q < min(SIZE, s.width - column); q++) {
            const vec value = load(in + ((row + r) * s.width + column + q) * STORED(s.channels) * BLOCK);
            const ivec better = value > most || value != value;
            most = select(most, value, better);
            *chosen = select(*chosen, (ivec)(r * SIZE + q), better);
        }
    return most;
}

__kernel void max_pool(SLICE(const float, x), SLICE(float, y), SLICE(int, chosen), const shape_image s)
{
    const int height = (s.height - 1) / 2 + 1, width = (s.width - 1) / 2 + 1, pixels = height * width;
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1);
    const int block = position / pixels, row = position % pixels / width * 2 - 1, column = position % width * 2 - 1;
    const size_t at = (size_t)position * STORED(s.channels) * BLOCK + lane;
    __global const float *in = OPEN(x) + (size_t)block * s.height * s.width * STORED(s.channels) * BLOCK + lane;

    for (int c = 0; c < s.channels; c++)
        for (int i = c * BLOCK; i < c * BLOCK + SPAN; i += LANES) {
            ivec which;
            store(OPEN(y) + at + i, largest(in + i, row, column, s, &which));
            *(__global ivec *)(OPEN(chosen) + at + i) = which;
        }
}

/* Each input pixel looks whether the windows that contain it chose it. */
__kernel void max_pool_back(SLICE(const float, dy), SLICE(const int, chosen), SLICE(float, dx), const shape_image s)
{
    const int height = (s.height - 1) / 2 + 1, width = (s.width - 1) / 2 + 1, pixels = s.height * s.width;
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1);
    const int block = position / pixels, row = position % pixels / s.width, column = position % s.width;
    __global float *out = OPEN(dx) + (size_t)position * STORED(s.channels) * BLOCK + lane;

    for (int c = 0; c < s.channels; c++)
        for (int i = c * BLOCK; i < c * BLOCK + SPAN; i += LANES) {
            vec sum = 0.0f;
            for (int r = row / 2; r <= min((row + 1) / 2, height - 1); r++)
                for (int q = column / 2; q <= min((column + 1) / 2, width - 1); q++) {
                    const size_t from = ((size_t)(block * height + r) * width + q) * STORED(s.channels) * BLOCK + lane +
                                        i;
                    const ivec tap = (row - (r * 2 - 1)) * SIZE + column - (q * 2 - 1);
                    const ivec mine = *(__global const ivec *)(OPEN(chosen) + from) == tap;
                    sum += select((vec)0.0f, load(OPEN(dy) + from), mine);
                }
            store(out + i, sum);
        }
}

/* x: lanes, y: channel, z: block. */
__kernel void mean_pool(SLICE(const float, x), SLICE(float, y), const shape_image s)
{
    const int lane = get_global_id(0) * SPAN, c = get_global_id(1), block = get_global_id(2);
    const int pixels = s.height * s.width;
    __global const float *in = OPEN(x) + ((size_t)block * pixels * STORED(s.channels) + c) * BLOCK + lane;
    __global float *out = OPEN(y) + ((size_t)block * STORED(s.channels) + c) * BLOCK + lane;

    for (int v = 0; v < SPAN; v += LANES) {
        vec sum = 0.0f;
        for (int i = 0; i < pixels; i++) sum += load(in + i * STORED(s.channels) * BLOCK + v);
        store(out + v, sum / (float)pixels);
    }
}

/* x: lanes, y: position. */
__kernel void mean_pool_back(SLICE(const float, dy), SLICE(float, dx), const shape_image s)
{
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1), pixels = s.height * s.width;
    __global const float *in = OPEN(dy) + (size_t)(position / pixels) * STORED(s.channels) * BLOCK + lane;
    __global float *out = OPEN(dx) + (size_t)position * STORED(s.channels) * BLOCK + lane;

    for (int c = 0; c < s.channels; c++)
        for (int v = 0; v < SPAN; v += LANES) store(out + c * BLOCK + v, load(in + c * BLOCK + v) / (float)pixels);
}
