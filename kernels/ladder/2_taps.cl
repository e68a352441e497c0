/* SPDX-License-Identifier: MIT */
/*
 * Rung 2, taps: the same, but what depends on the pixel alone is computed once for the pixel: which taps are inside the
 * image (find_taps, in conv_plain.cl). So padding is neither multiplied nor tested, and the innermost loop is a product
 * and two steps. On images of 2 x 2 that is 4 taps of 9, on 1 x 1 one.
 */

/* Forward, and with s.transposed backward by input. x: column, y: row, z: image and channel of what is written. */
__kernel void taps(SLICE(const float, in), SLICE(const float, weight), SLICE(float, out), const shape_conv s)
{
    const int q = get_global_id(0), p = get_global_id(1), n = get_global_id(2) / s.channels,
              k = get_global_id(2) % s.channels;
    const axis rows = find_taps(p, s.in_height, s), columns = find_taps(q, s.in_width, s);
    __global const float *image = OPEN(in) + (size_t)n * s.in_channels * s.in_height * s.in_width;
    __global const float *filter = OPEN(weight) + (size_t)k * s.row;
    float sum = 0.0f;

    for (int c = 0; c < s.in_channels; c++, image += s.in_height * s.in_width, filter += s.column)
        for (int r = rows.first, y = rows.at; r < rows.end; r += rows.step, y += rows.move)
            for (int t = columns.first, x = columns.at; t < columns.end; t += columns.step, x += columns.move)
                sum += image[y * s.in_width + x] * filter[r * s.size + t];
    OPEN(out)[((n * s.channels + k) * s.height + p) * s.width + q] = sum;
}
