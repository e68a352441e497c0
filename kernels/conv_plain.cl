/* SPDX-License-Identifier: MIT */
/*
 * conv_plain: convolution as it is defined: a work-item has one output channel of one pixel, for its lanes, and adds
 * up input channels and taps. conv.cl does the same work eight channels at a time.
 *
 * Forward, y from x, and backward by input, dx from dy, are one kernel. Call what is written `out`, what is read `in`:
 *
 *      forward      out = y,  in = x:   in row = out row * stride + r - padding
 *      transposed   out = dx, in = dy:  in row = (out row + padding - r) / stride, where that has no remainder
 *
 *      5 columns, size 3, stride 1, padding 1         r = 0   1   2
 *      out row 0 (forward) uses in rows                  -   0   1        tap 0 falls outside: it is left out
 *      out row 4                                         3   4   -
 */

/* The taps of one axis that fall inside: r = first, first + step, ... < end, at in = at, at + move, ... */
typedef struct {
    int first, end, step, at, move;
} axis;

inline axis find_taps(int out, int in_length, const shape_conv s)
{
    axis a;

    if (!s.transposed) {
        const int at = out * s.stride - s.padding;
        a.first = max(0, -at);
        a.end = min(s.size, in_length - at);
        a.step = a.move = 1;
        a.at = at + a.first;
    } else {
        const int reach = out + s.padding; /* r + in * stride */
        a.at = min(in_length - 1, reach / s.stride);
        a.first = reach - a.at * s.stride;
        a.end = min(s.size, reach + 1);
        a.step = s.stride;
        a.move = -1;
    }
    return a;
}

/* y: channel `from` + .., z: position. */
__kernel void conv_plain(SLICE(const float, in), SLICE(const float, weight), SLICE(float, out), const shape_conv s,
                         const int from)
{
    const int lane = get_global_id(0) * SPAN, channel = from + get_global_id(1), position = get_global_id(2);
    const int pixels = s.height * s.width, block = position / pixels, pixel = position % pixels;
    const axis rows = find_taps(pixel / s.width, s.in_height, s), columns = find_taps(pixel % s.width, s.in_width, s);
    __global const float *image = OPEN(in) + (size_t)block * s.in_height * s.in_width * STORED(s.in_channels) * BLOCK +
                                  lane;
    __global const float *filter = OPEN(weight) + (size_t)channel * s.row;
    __global float *to = OPEN(out) + ((size_t)position * STORED(s.channels) + channel) * BLOCK + lane;

    for (int v = 0; v < SPAN; v += LANES) {
        vec sum = 0.0f;
        for (int r = rows.first, y = rows.at; r < rows.end; r += rows.step, y += rows.move)
            for (int q = columns.first, x = columns.at; q < columns.end; q += columns.step, x += columns.move)
                for (int c = 0; c < s.in_channels; c++)
                    sum = MULTIPLY_ADD(load(image + ((y * s.in_width + x) * STORED(s.in_channels) + c) * BLOCK + v),
                                       (vec)filter[c * s.column + r * s.size + q], sum);
        store(to + v, s.add ? load(to + v) + sum : sum);
    }
}
