/* SPDX-License-Identifier: MIT */
/*
 * conv_winograd: a 3 x 3 convolution of stride 1 with 2.25 multiplications a pixel instead of 9 (where sides are
 * multiples of 4): Winograd's F(4x4, 3x3). winograd.cl has it along one axis. The same along rows and columns: from a
 * tile of 6 x 6 inputs, 36 products instead of 144 give a tile of 4 x 4 results. The sums of inputs and of weights are
 * computed once for all channels, those of products once at the end:
 *
 *      weights (3 x 3)  ->  u[k][place][c]         36 places; winograd_weights
 *      inputs (6 x 6)   ->  v[place][tile][c]      transform_in
 *                           m[place][tile][k] = sum over c of u * v: 36 products of matrices, by the register tile
 *                                                  of conv.cl; multiply
 *      m (6 x 6)        ->  results (4 x 4)        transform_out
 *
 * A strip of a few tiles goes through all three steps before the next strip begins, so that v and m are in a cache.
 * What is outside the image is a zero in a tile. Backward by input is the same with the taps of the weights in reverse
 * order.
 */
#define PAIR_PLACES 9 /* of conv_pair.cl */
#define LINE 16       /* floats: places lie a line more than a power of two apart, else they share cache sets */

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
        filters g[9], rows[3][ROW_PLACES], transformed[ROW_PLACES];
        load_filters(g, from, s);
        UNROLL
        for (int q = 0; q < 3; q++) transform_weights(rows[q], g[q], g[3 + q], g[6 + q]);
        UNROLL
        for (int r = 0; r < ROW_PLACES; r++) {
            transform_weights(transformed, rows[0][r], rows[1][r], rows[2][r]);
            UNROLL
            for (int q = 0; q < ROW_PLACES; q++)
                EACH to[(r * ROW_PLACES + q) * weight_place(s) + t] = transformed[q].at[t];
        }
    }
}

/* v[place][c] of one tile; `padding` rows and columns of the image come before the first. */
inline void transform_in(__global const float *in, __global float *v, size_t place, const corner at, int padding,
                         const shape_conv s)
{
    const int stored = STORED(s.in_channels) * BLOCK;

    for (int i = 0; i < s.in_channels * SPAN; i += LANES) {
        vec columns[ROW_PLACES][ROW_PLACES];
        UNROLL
        for (int q = 0; q < ROW_PLACES; q++) {
            const int column = at.column + q - padding;
            vec d[ROW_PLACES];
            UNROLL
            for (int r = 0; r < ROW_PLACES; r++) {
                const int row = at.row + r - padding;
                const bool inside = row >= 0 && row < s.in_height && column >= 0 && column < s.in_width;
                d[r] = 0.0f;
                if (inside) d[r] = load(in + ((at.block * s.in_height + row) * s.in_width + column) * stored + i);
            }
            transform_inputs(columns[q], d);
        }
        UNROLL
        for (int r = 0; r < ROW_PLACES; r++) {
            vec d[ROW_PLACES], places[ROW_PLACES];
            UNROLL
            for (int q = 0; q < ROW_PLACES; q++) d[q] = columns[q][r];
            transform_inputs(places, d);
            UNROLL
            for (int q = 0; q < ROW_PLACES; q++) store(v + (r * ROW_PLACES + q) * place + i, places[q]);
        }
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

/* One result, unless it is outside: the last tile of a row or column may have up to three of each too many. */
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
        vec columns[ROW_PLACES][STEP];
        UNROLL
        for (int q = 0; q < ROW_PLACES; q++) {
            vec places[ROW_PLACES];
            UNROLL
            for (int r = 0; r < ROW_PLACES; r++) places[r] = load(m + (r * ROW_PLACES + q) * place);
            transform_results(columns[q], places);
        }
        UNROLL
        for (int r = 0; r < STEP; r++) {
            vec places[ROW_PLACES], results[STEP];
            UNROLL
            for (int q = 0; q < ROW_PLACES; q++) places[q] = columns[q][r];
            transform_results(results, places);
            UNROLL
            for (int q = 0; q < STEP; q++) put(out, at, r, q, i, results[q], s);
        }
    }
}
