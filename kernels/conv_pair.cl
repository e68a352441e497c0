/* SPDX-License-Identifier: MIT */
/*
 * conv_pair: Winograd's algorithm (winograd.cl) for images of 2 x 2 pixels, padded by one: of a tile's 6 x 6 inputs and
 * 4 x 4 results only 2 x 2 would be inside. Along one axis, two results of two inputs are four products, and three are
 * enough:
 *
 *      y0 = d0 g1 + d1 g2        p0 = (d0 + d1) g1        y0 = p0 + p1
 *      y1 = d0 g0 + d1 g1        p1 = d1 (g2 - g1)        y1 = p0 + p2
 *                                p2 = d0 (g0 - g1)
 *
 * Along rows and columns 9 products for four pixels, where taps inside the image alone are 16.
 */

/* Along one axis: three weights become three. */
inline void pair_three(filters to[3], const filters a, const filters b, const filters c)
{
    EACH
    {
        to[0].at[t] = b.at[t];
        to[1].at[t] = c.at[t] - b.at[t];
        to[2].at[t] = a.at[t] - b.at[t];
    }
}

/* As winograd_weights. */
__kernel void pair_weights(SLICE(const float, weight), SLICE(float, u), const shape_conv s)
{
    const int tile = get_global_id(0);
    __global const float *from = OPEN(weight) + (size_t)tile * TILE * s.row;
    __global float *to = OPEN(u) + tile * PAIR_PLACES * weight_place(s);

    for (int c = 0; c < s.in_channels; c++, from += s.column, to += TILE) {
        filters g[9], rows[3][3], transformed[3];
        load_filters(g, from, s);
        UNROLL
        for (int q = 0; q < 3; q++) pair_three(rows[q], g[q], g[3 + q], g[6 + q]);
        UNROLL
        for (int r = 0; r < 3; r++) {
            pair_three(transformed, rows[0][r], rows[1][r], rows[2][r]);
            UNROLL
            for (int q = 0; q < 3; q++) EACH to[(r * 3 + q) * weight_place(s) + t] = transformed[q].at[t];
        }
    }
}

/* v[place][c] of one image. */
inline void pair_in(__global const float *in, __global float *v, size_t place, const corner at, const shape_conv s)
{
    const int stored = STORED(s.in_channels) * BLOCK;
    __global const float *d = in + at.block * 4 * stored;

    for (int i = 0; i < s.in_channels * SPAN; i += LANES) {
        const vec a = load(d + i), b = load(d + stored + i), c = load(d + 2 * stored + i), e = load(d + 3 * stored + i);
        const vec left = a + c, right = b + e;
        store(v + i, left + right);
        store(v + place + i, right);
        store(v + 2 * place + i, left);
        store(v + 3 * place + i, c + e);
        store(v + 4 * place + i, e);
        store(v + 5 * place + i, c);
        store(v + 6 * place + i, a + b);
        store(v + 7 * place + i, b);
        store(v + 8 * place + i, a);
    }
}

/* Results of one image, all channels from k to end; m has those only. */
inline void pair_out(__global float *out, __global const float *m, size_t place, const corner at, int k, int end,
                     const shape_conv s)
{
    for (int i = k * SPAN; i < end * SPAN; i += LANES, m += LANES) {
        vec upper[3], lower[3];
        UNROLL
        for (int j = 0; j < 3; j++) {
            const vec a = load(m + j * place);
            upper[j] = a + load(m + (3 + j) * place);
            lower[j] = a + load(m + (6 + j) * place);
        }
        put(out, at, 0, 0, i, upper[0] + upper[1], s);
        put(out, at, 0, 1, i, upper[0] + upper[2], s);
        put(out, at, 1, 0, i, lower[0] + lower[1], s);
        put(out, at, 1, 1, i, lower[0] + lower[2], s);
    }
}
