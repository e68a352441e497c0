/* SPDX-License-Identifier: MIT */
/*
 * Rung 4, reuse: rung 3 (conv_plain.cl) loads a vector and a weight for each multiplication, and a core loads no faster
 * than it multiplies; so half of its time is loading, and each addition still waits for the one before. Here a
 * work-item has four output channels: a vector that has been loaded is multiplied four times, into four sums that do
 * not wait for one another.
 */
#define REUSE 4

/* y: position, z: channel / REUSE. */
__kernel void reuse(SLICE(const float, in), SLICE(const float, weight), SLICE(float, out), const shape_conv s)
{
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1), channel = get_global_id(2) * REUSE;
    const int pixels = s.height * s.width, block = position / pixels, pixel = position % pixels;
    const axis rows = find_taps(pixel / s.width, s.in_height, s), columns = find_taps(pixel % s.width, s.in_width, s);
    __global const float *image = OPEN(in) + (size_t)block * s.in_height * s.in_width * STORED(s.in_channels) * BLOCK +
                                  lane;
    __global const float *filter = OPEN(weight) + (size_t)channel * s.row;
    __global float *to = OPEN(out) + ((size_t)position * STORED(s.channels) + channel) * BLOCK + lane;

    for (int v = 0; v < SPAN; v += LANES) {
        vec sum[REUSE] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int r = rows.first, y = rows.at; r < rows.end; r += rows.step, y += rows.move)
            for (int q = columns.first, x = columns.at; q < columns.end; q += columns.step, x += columns.move)
                for (int c = 0; c < s.in_channels; c++) {
                    const vec value = load(image + ((y * s.in_width + x) * STORED(s.in_channels) + c) * BLOCK + v);
                    __global const float *w = filter + c * s.column + r * s.size + q;
                    UNROLL
                    for (int t = 0; t < REUSE; t++) sum[t] = MULTIPLY_ADD(value, (vec)w[t * s.row], sum[t]);
                }
        UNROLL
        for (int t = 0; t < REUSE; t++) store(to + t * BLOCK + v, sum[t]);
    }
}
