/* SPDX-License-Identifier: MIT */
/*
 * Rung 5, registers: as many sums as there are registers for: TILE channels times VECTORS vectors (8 x 2 of 32 with
 * AVX-512, 4 x 2 of 16 with AVX2). Now a weight is used for two vectors, too: 10 loads for 16 multiplications. As a
 * multiplication takes four cycles and two may begin in each, eight sums or more must be under way at a time.
 *
 * What is left for rung 6 (conv.cl): this one goes through all input channels of a tap, then of the next. Weights lie
 * with the taps side by side, so it reads one number of each cache line, and needs the next number when the line is no
 * longer in the cache.
 */

/* y: position, z: tile of channels. */
__kernel void registers(SLICE(const float, in), SLICE(const float, weight), SLICE(float, out), const shape_conv s)
{
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1), channel = get_global_id(2) * TILE;
    const int pixels = s.height * s.width, block = position / pixels, pixel = position % pixels;
    const axis rows = find_taps(pixel / s.width, s.in_height, s), columns = find_taps(pixel % s.width, s.in_width, s);
    __global const float *image = OPEN(in) + (size_t)block * s.in_height * s.in_width * STORED(s.in_channels) * BLOCK +
                                  lane;
    __global const float *filter = OPEN(weight) + (size_t)channel * s.row;
    __global float *to = OPEN(out) + ((size_t)position * STORED(s.channels) + channel) * BLOCK + lane;
    vec sum[TILE][VECTORS];

    UNROLL
    for (int t = 0; t < TILE; t++)
        for (int v = 0; v < VECTORS; v++) sum[t][v] = 0.0f;
    for (int r = rows.first, y = rows.at; r < rows.end; r += rows.step, y += rows.move)
        for (int q = columns.first, x = columns.at; q < columns.end; q += columns.step, x += columns.move) {
            __global const float *at = image + (y * s.in_width + x) * STORED(s.in_channels) * BLOCK;
            __global const float *w = filter + r * s.size + q;
            for (int c = 0; c < s.in_channels; c++, at += BLOCK, w += s.column) {
                UNROLL
                for (int t = 0; t < TILE; t++)
                    for (int v = 0; v < VECTORS; v++)
                        sum[t][v] = MULTIPLY_ADD(load(at + v * LANES), (vec)w[t * s.row], sum[t][v]);
            }
        }
    UNROLL
    for (int t = 0; t < TILE; t++)
        for (int v = 0; v < VECTORS; v++) store(to + t * BLOCK + v * LANES, sum[t][v]);
}
