/* SPDX-License-Identifier: MIT */
/*
 * conv_strips: the three steps of conv_winograd.cl or, with `pair`, of conv_pair.cl, for one strip of tiles after
 * another.
 */

/* x: worker; of W workers, worker w takes strips w, w + W, ... y: group of output channels. Each has its own part of
 * `scratch` for v and m. */
__kernel void winograd(SLICE(const float, in), SLICE(const float, u), SLICE(float, scratch), SLICE(float, out),
                       const shape_conv s, const int tiles, const int group, const int pair)
{
    const int all = s.blocks * tiles_along(s.height) * tiles_along(s.width), places = pair ? PAIR_PLACES : PLACES;
    const int padding = s.transposed ? 2 - s.padding : s.padding;
    const int from = get_global_id(1) * group, end = min(s.channels, from + group), wide = end - from;
    const size_t v_place = (size_t)tiles * s.in_channels * SPAN + LINE, m_place = (size_t)tiles * group * SPAN + LINE;
    const size_t item = get_global_id(1) * get_global_size(0) + get_global_id(0);
    __global float *v = OPEN(scratch) + item * places * (v_place + m_place), *m = v + places * v_place;

    for (int first = get_global_id(0) * tiles; first < all; first += get_global_size(0) * tiles) {
        const int count = min(tiles, all - first);
        for (int t = 0; t < count; t++) {
            __global float *to = v + t * s.in_channels * SPAN;
            if (pair)
                pair_in(OPEN(in), to, v_place, find_tile(first + t, s.height, s.width), s);
            else
                transform_in(OPEN(in), to, v_place, find_tile(first + t, s.height, s.width), padding, s);
        }
        for (int p = 0; p < places; p++)
            for (int k = 0; k < wide; k += TILE)
                for (int t = 0; t < count; t++)
                    multiply(m + p * m_place + (t * wide + k) * SPAN,
                             OPEN(u) + (size_t)((from + k) / TILE * places + p) * weight_place(s),
                             v + p * v_place + t * s.in_channels * SPAN, s.in_channels);
        for (int t = 0; t < count; t++) {
            __global const float *products = m + t * wide * SPAN;
            if (pair)
                pair_out(OPEN(out), products, m_place, find_tile(first + t, s.height, s.width), from, end, s);
            else
                transform_out(OPEN(out), products, m_place, find_tile(first + t, s.height, s.width), from, end, s);
        }
    }
}
