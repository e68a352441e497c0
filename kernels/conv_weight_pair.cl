/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_pair: what conv_weight_winograd.cl does differently on images of 2 x 2 pixels, padded by one: nine places
 * instead of 36, as in conv_pair.cl. From its y0 = p0 + p1, y1 = p0 + p2 back, along one axis:
 *
 *      v = d0 + d1, d1, d0        w = dy0 + dy1, dy0, dy1        dg1 = du0 - du1 - du2, dg2 = du1, dg0 = du2
 */
#define PAIR_SIDE 3 /* places of a row */

/* As place_inputs: v of one image, the three places of row `which`. */
inline void pair_inputs(__global const float *x, __global float *v, size_t step, int images, int block, int which,
                        const shape_weight s)
{
    const int floats = s.in_channels * BLOCK;
    const float upper = which == 1 ? 0.0f : 1.0f, lower = which == 2 ? 0.0f : 1.0f;
    __global const float *image = x + (size_t)block * 4 * floats;

    for (int c = 0; c < s.in_channels; c += WIDE)
        for (int i = 0; i < SPAN * WIDE; i += LANES) {
            __global const float *from = image + c * BLOCK + i;
            __global float *to = v + (size_t)c * images + i;
            const vec left = upper * load(from) + lower * load(from + 2 * floats);
            const vec right = upper * load(from + floats) + lower * load(from + 3 * floats);
            store(to, left + right);
            store(to + step, right);
            store(to + 2 * step, left);
        }
}

/* As place_gradients: w of one image. */
inline void pair_gradients(__global const float *dy, __global float *w, size_t step, int images, int block, int which,
                           int k, int end, const shape_weight s)
{
    const int stored = STORED(s.out_channels) * BLOCK;
    const float upper = which == 2 ? 0.0f : 1.0f, lower = which == 1 ? 0.0f : 1.0f;
    __global const float *from = dy + (size_t)block * 4 * stored + k * BLOCK;

    for (; k < end; k++, from += BLOCK, w += images)
        for (int i = 0; i < SPAN; i += LANES) {
            const vec left = upper * load(from + i) + lower * load(from + 2 * stored + i);
            const vec right = upper * load(from + stored + i) + lower * load(from + 3 * stored + i);
            store(w + i, left + right);
            store(w + step + i, left);
            store(w + 2 * step + i, right);
        }
}

/* Along one axis. */
inline void pair_back(vec to[3], vec a, vec b, vec c)
{
    to[0] = c;
    to[1] = a - b - c;
    to[2] = b;
}

/* The nine weights of the sums of nine places. */
inline void pair_finish(vec g[9], const vec *sum)
{
    vec rows[3][3];

    UNROLL
    for (int j = 0; j < 3; j++) pair_back(rows[j], sum[j], sum[3 + j], sum[6 + j]);
    UNROLL
    for (int r = 0; r < 3; r++) pair_back(g + 3 * r, rows[0][r], rows[1][r], rows[2][r]);
}
