/* SPDX-License-Identifier: MIT */
/*
 * conv_winograd: a 3 x 3 convolution of stride 1 with 4 multiplications a pixel instead of 9: Winograd's F(2x2, 3x3),
 * as in Lavin and Gray, "Fast algorithms for convolutional neural networks" (2016).
 *
 * In one dimension: two results of three weights from four inputs take six products. Four are enough:
 *
 *      p0 = (d0 - d2) g0                       y0 = d0 g0 + d1 g1 + d2 g2 = p0 + p1 + p2
 *      p1 = (d1 + d2) (g0 + g1 + g2) / 2       y1 = d1 g0 + d2 g1 + d3 g2 = p1 - p2 - p3
 *      p2 = (d2 - d1) (g0 - g1 + g2) / 2
 *      p3 = (d1 - d3) g2
 *
 * The same along rows and columns: from a tile of 4 x 4 inputs, 16 products instead of 36 give a tile of 2 x 2 results.
 * The sums of inputs and of weights are computed once for all channels, those of products once at the end:
 *
 *      weights (3 x 3)  ->  u[k][place][c]         16 places; winograd_weights
 *      inputs (4 x 4)   ->  v[place][tile][c]      transform_in
 *                           m[place][tile][k] = sum over c of u * v: 16 products of matrices, by the register tile
 *                                                  of conv.cl; multiply
 *      m (4 x 4)        ->  results (2 x 2)        transform_out
 *
 * A strip of tiles goes through all three steps before the next strip begins; it is short enough for v and m to stay in
 * the second-level cache. What is outside the image is a zero in a tile. Backward by input is the same with the taps of
 * the weights in reverse order.
 */
#define PLACES 16
#define PAIR_PLACES 9 /* of conv_pair.cl */
#define LINE 16       /* floats: places lie a line more than a power of two apart, else they share cache sets */

/* Along one axis, of four numbers of a tile. */
#define TRANSFORM_IN(d, a, b, c, e)                                                       \
    do {                                                                                  \
        const vec p_ = d[a] - d[c], q_ = d[b] + d[c], r_ = d[c] - d[b], s_ = d[b] - d[e]; \
        d[a] = p_, d[b] = q_, d[c] = r_, d[e] = s_;                                       \
    } while (0)

/* Of TILE channels side by side, so that the compiler can use vectors. */
typedef struct {
    float at[TILE];
} filters;

#define EACH for (int t = 0; t < TILE; t++)

/* Along one axis: three weights become four. */
inline void transform_three(filters to[4], const filters a, const filters b, const filters c)
{
    EACH
    {
        to[0].at[t] = a.at[t];
        to[1].at[t] = (a.at[t] + b.at[t] + c.at[t]) * 0.5f;
        to[2].at[t] = (a.at[t] - b.at[t] + c.at[t]) * 0.5f;
        to[3].at[t] = c.at[t];
    }
}

/* Floats from a place of a tile of output channels to the next. */
inline size_t weight_place(const shape_conv s)
{
    return s.in_channels * TILE + LINE;
}

/* The nine weights of TILE filters; transposed, taps run backwards. */
inline void load_filters(filters g[9], __global const float *from, const shape_conv s)
{
    EACH
    {
        UNROLL
        for (int i = 0; i < 9; i++) g[i].at[t] = from[(size_t)t * s.row + (s.transposed ? 8 - i : i)];
    }
}

/* x: tile of output channels; u lies as multiply reads it: [tile][place][c][channel of the tile]. */
__kernel void winograd_weights(SLICE(const float, weight), SLICE(float, u), const shape_conv s)
{
    const int tile = get_global_id(0);
    __global const float *from = OPEN(weight) + (size_t)tile * TILE * s.row;
    __global float *to = OPEN(u) + tile * PLACES * weight_place(s);

    for (int c = 0; c < s.in_channels; c++, from += s.column, to += TILE) {
        filters g[9], rows[3][4], transformed[4];
        load_filters(g, from, s);
        UNROLL
        for (int q = 0; q < 3; q++) transform_three(rows[q], g[q], g[3 + q], g[6 + q]);
        UNROLL
        for (int r = 0; r < 4; r++) {
            transform_three(transformed, rows[0][r], rows[1][r], rows[2][r]);
            UNROLL
            for (int q = 0; q < 4; q++) EACH to[(r * 4 + q) * weight_place(s) + t] = transformed[q].at[t];
        }
    }
}

/* Where a tile's first output is. */
typedef struct {
    int block, row, column;
} corner;

inline corner find_tile(int tile, const shape_conv s)
{
    const int across = (s.width + 1) / 2, tiles = (s.height + 1) / 2 * across;

    return (corner){tile / tiles, tile % tiles / across * 2, tile % across * 2};
}

/* v[place][c] of one tile; `padding` rows and columns of the image come before the first. */
inline void transform_in(__global const float *in, __global float *v, size_t place, const corner at, int padding,
                         const shape_conv s)
{
    const int stored = STORED(s.in_channels) * BLOCK;

    for (int i = 0; i < s.in_channels * SPAN; i += LANES) {
        vec d[PLACES];
        UNROLL
        for (int p = 0; p < PLACES; p++) {
            const int row = at.row + p / 4 - padding, column = at.column + p % 4 - padding;
            const bool inside = row >= 0 && row < s.in_height && column >= 0 && column < s.in_width;
            d[p] = 0.0f;
            if (inside) d[p] = load(in + ((at.block * s.in_height + row) * s.in_width + column) * stored + i);
        }
        UNROLL
        for (int j = 0; j < 4; j++) TRANSFORM_IN(d, j, 4 + j, 8 + j, 12 + j);
        UNROLL
        for (int j = 0; j < 4; j++) TRANSFORM_IN(d, 4 * j, 4 * j + 1, 4 * j + 2, 4 * j + 3);
        UNROLL
        for (int p = 0; p < PLACES; p++) store(v + p * place + i, d[p]);
    }
}

/* One place, TILE channels of one tile: m[t] = sum over c of u[c][t] * v[c]. */
inline void multiply(__global float *m, __global const float *u, __global const float *v, int channels)
{
    vec sum[TILE][VECTORS];

    UNROLL
    for (int t = 0; t < TILE; t++) {
        UNROLL
        for (int i = 0; i < VECTORS; i++) sum[t][i] = 0.0f;
    }
    for (int c = 0; c < channels; c++, u += TILE, v += SPAN) {
        vec x[VECTORS];
        UNROLL
        for (int i = 0; i < VECTORS; i++) x[i] = load(v + i * LANES);
        UNROLL
        for (int t = 0; t < TILE; t++) {
            const vec w = u[t];
            UNROLL
            for (int i = 0; i < VECTORS; i++) sum[t][i] = MULTIPLY_ADD(x[i], w, sum[t][i]);
        }
    }
    UNROLL
    for (int t = 0; t < TILE; t++) {
        UNROLL
        for (int i = 0; i < VECTORS; i++) store(m + t * SPAN + i * LANES, sum[t][i]);
    }
}

/* One result, unless it is outside (the last row or column of an odd image). */
inline void put(__global float *out, const corner at, int row, int column, int i, vec value, const shape_conv s)
{
    const int y = at.row + row, x = at.column + column;
    __global float *to = out + ((at.block * s.height + y) * s.width + x) * STORED(s.channels) * BLOCK + i;

    if (y < s.height && x < s.width) store(to, s.add ? load(to) + value : value);
}

/* Results of one tile, channels k to end; m has those only. */
inline void transform_out(__global float *out, __global const float *m, size_t place, const corner at, int k, int end,
                          const shape_conv s)
{
    for (int i = k * SPAN; i < end * SPAN; i += LANES, m += LANES) {
        vec upper[4], lower[4];
        UNROLL
        for (int j = 0; j < 4; j++) {
            const vec a = load(m + j * place), b = load(m + (4 + j) * place), c = load(m + (8 + j) * place),
                      d = load(m + (12 + j) * place);
            upper[j] = a + b + c;
            lower[j] = b - c - d;
        }
        put(out, at, 0, 0, i, upper[0] + upper[1] + upper[2], s);
        put(out, at, 0, 1, i, upper[1] - upper[2] - upper[3], s);
        put(out, at, 1, 0, i, lower[0] + lower[1] + lower[2], s);
        put(out, at, 1, 1, i, lower[1] - lower[2] - lower[3], s);
    }
}
