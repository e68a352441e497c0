/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_plain: the gradient by weight as it is defined: a work-item has one weight, and adds up the products of
 * what it was multiplied with (x) and the gradient of what it was added to (dy), over all output pixels and images.
 * conv_weight.cl does the same work sixteen weights at a time.
 *
 *      dweight[k][c][r][q] = sum over n, row, column of
 *          dy[n][k][row][column] * x[n][c][row * stride + r - padding][column * stride + q - padding]
 */

/* The output pixels of one axis whose tap r falls inside: first <= out < end. */
typedef struct {
    int first, end;
} range;

inline range find_pixels(int r, int in_length, int out_length, const shape_weight s)
{
    const int before = max(0, s.padding - r), reach = in_length - 1 - r + s.padding;
    range a;

    if (s.stride == 1) { /* a division costs as much as a dozen pixels */
        a.first = before;
        a.end = min(out_length, reach + 1);
    } else {
        a.first = (before + s.stride - 1) / s.stride;
        a.end = reach < 0 ? 0 : min(out_length, reach / s.stride + 1);
    }
    return a;
}

/* x: the weight's number among those of an output channel, y: output channel. */
__kernel void conv_weight_plain(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight),
                                const shape_weight s)
{
    const int taps = s.size * s.size, weight = get_global_id(0), k = get_global_id(1);
    const int c = weight / taps, r = weight % taps / s.size, q = weight % s.size;
    const range rows = find_pixels(r, s.in_height, s.out_height, s),
                columns = find_pixels(q, s.in_width, s.out_width, s);
    vec sum = 0.0f;

    for (int block = 0; block < s.blocks; block++)
        for (int row = rows.first; row < rows.end; row++)
            for (int column = columns.first; column < columns.end; column++) {
                const int in_row = row * s.stride + r - s.padding, in_column = column * s.stride + q - s.padding;
                __global const float *a =
                    OPEN(x) +
                    (((block * s.in_height + in_row) * s.in_width + in_column) * STORED(s.in_channels) + c) * BLOCK;
                __global const float *b =
                    OPEN(dy) +
                    (((block * s.out_height + row) * s.out_width + column) * STORED(s.out_channels) + k) * BLOCK;
                for (int i = 0; i < BLOCK; i += LANES) sum = MULTIPLY_ADD(load(a + i), load(b + i), sum);
            }
    OPEN(dweight)[(size_t)k * s.in_channels * taps + weight] = sum_lanes(sum);
}
