/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_winograd: the gradient by weight of a 3 x 3 convolution of stride 1, by Winograd's algorithm
 * (conv_winograd.cl). Forward, in matrices: y = A^T [ (G g G^T) * (B^T d B) ] A, the product in the middle place by
 * place. Backward:
 *
 *      d (4 x 4)   ->  v = B^T d B                     inputs, as forward
 *      dy (2 x 2)  ->  w = A dy A^T                    16 places again
 *                      du[place][k][c] = sum over tiles and images of w * v: 16 products where there were 36
 *      dg = G^T du G                                   once, at the end
 *
 * x has been transposed (transpose.cl), so that lanes are channels:
 *
 *      v[place][channels / WIDE][tile and image][WIDE channels]       w[place][k][tile and image]
 *
 * A task has four of the places, those of one row; rows of B^T and A have two numbers that are not 0, so that is no more
 * work than all places at once, but needs a quarter of the memory.
 */
#define PLACES 16
#define COLUMNS_OF 4 /* places of a row */

/* A row of B^T is d[a] + sign * d[b]; one of A is upper * dy[0] + lower * dy[1]. */
typedef struct {
    int a, b;
    float sign, upper, lower;
} place_row;

inline place_row find_row(int i)
{
    if (i == 0) return (place_row){0, 2, -1.0f, 1.0f, 0.0f};
    if (i == 1) return (place_row){1, 2, 1.0f, 1.0f, 1.0f};
    if (i == 2) return (place_row){2, 1, -1.0f, 1.0f, -1.0f};
    return (place_row){1, 3, -1.0f, 0.0f, -1.0f};
}

/* A tile: where its first output is. */
typedef struct {
    int block, row, column;
} corner;

/* Tiles first to first + count, `tiles` at most, and output channels k to end, `group` at most. */
typedef struct {
    int first, count, tiles, k, end, group;
} strip;

inline corner find_tile(int tile, const shape_weight s)
{
    const int across = (s.out_width + 1) / 2, tiles = (s.out_height + 1) / 2 * across;

    return (corner){tile / tiles, tile % tiles / across * 2, tile % across * 2};
}

/* A pixel's floats; outside the image a vector of zeros again and again. */
typedef struct {
    __global const float *at;
    int mask;
} pixel;

inline pixel find_pixel(__global const float *image, __global const float *zeros, int row, int column, int height,
                        int width, int floats)
{
    const bool inside = row >= 0 && row < height && column >= 0 && column < width;

    return (pixel){inside ? image + (size_t)(row * width + column) * floats : zeros, inside ? -1 : 0};
}

inline vec load_pixel(const pixel p, int i)
{
    return load(p.at + (i & p.mask));
}

/* v of one tile, four places, all input channels. `step`: floats from a place to the next. */
inline void transform_inputs(__global const float *x, __global const float *zeros, __global float *v, size_t step,
                             int images, const corner at, const place_row row, const shape_weight s)
{
    const int floats = s.in_channels * BLOCK, top = at.row - s.padding, left = at.column - s.padding;
    __global const float *image = x + (size_t)at.block * s.in_height * s.in_width * floats;
    pixel a[4], b[4];

    UNROLL
    for (int j = 0; j < 4; j++) {
        a[j] = find_pixel(image, zeros, top + row.a, left + j, s.in_height, s.in_width, floats);
        b[j] = find_pixel(image, zeros, top + row.b, left + j, s.in_height, s.in_width, floats);
    }
    for (int c = 0; c < s.in_channels; c += WIDE)
        for (int i = 0; i < SPAN * WIDE; i += LANES) {
            __global float *to = v + (size_t)c * images + i;
            vec f[4];
            UNROLL
            for (int j = 0; j < 4; j++)
                f[j] = load_pixel(a[j], c * BLOCK + i) + row.sign * load_pixel(b[j], c * BLOCK + i);
            store(to, f[0] - f[2]);
            store(to + step, f[1] + f[2]);
            store(to + 2 * step, f[2] - f[1]);
            store(to + 3 * step, f[1] - f[3]);
        }
}

/* w of one tile, four places, output channels k to end. */
inline void transform_gradients(__global const float *dy, __global const float *zeros, __global float *w, size_t step,
                                int images, const corner at, const place_row row, int k, int end, const shape_weight s)
{
    const int stored = STORED(s.out_channels) * BLOCK;
    __global const float *image = dy + (size_t)at.block * s.out_height * s.out_width * stored;
    pixel a[2], b[2];

    UNROLL
    for (int j = 0; j < 2; j++) {
        a[j] = find_pixel(image, zeros, at.row, at.column + j, s.out_height, s.out_width, stored);
        b[j] = find_pixel(image, zeros, at.row + 1, at.column + j, s.out_height, s.out_width, stored);
    }
    for (; k < end; k++, w += images)
        for (int i = 0; i < SPAN; i += LANES) {
            vec e[2];
            UNROLL
            for (int j = 0; j < 2; j++)
                e[j] = row.upper * load_pixel(a[j], k * BLOCK + i) + row.lower * load_pixel(b[j], k * BLOCK + i);
            store(w + i, e[0]);
            store(w + step + i, e[0] + e[1]);
            store(w + 2 * step + i, e[0] - e[1]);
            store(w + 3 * step + i, -e[1]);
        }
}

/* du[k][c] += sum over `images` of w[k] * v[c], K x WIDE of them. */
inline void multiply(__global float *du, __global const float *w, __global const float *v, int step, int images)
{
    vec sum[K][WIDE_VECTORS];

    UNROLL
    for (int k = 0; k < K; k++) {
        UNROLL
        for (int i = 0; i < WIDE_VECTORS; i++) sum[k][i] = load(du + k * WIDE + i * LANES);
    }
    for (int n = 0; n < images; n++, v += WIDE) {
        vec x[WIDE_VECTORS];
        UNROLL
        for (int i = 0; i < WIDE_VECTORS; i++) x[i] = load(v + i * LANES);
        UNROLL
        for (int k = 0; k < K; k++) {
            const vec y = w[k * step + n];
            UNROLL
            for (int i = 0; i < WIDE_VECTORS; i++) sum[k][i] = MULTIPLY_ADD(x[i], y, sum[k][i]);
        }
    }
    UNROLL
    for (int k = 0; k < K; k++) {
        UNROLL
        for (int i = 0; i < WIDE_VECTORS; i++) store(du + k * WIDE + i * LANES, sum[k][i]);
    }
}

#if LANES == 16
#define HALF (K / 2)

/* As multiply, half a tile high and two wide; they lie `next` floats apart in v. Loaded are 10 vectors for 16 products,
 * there 17. */
inline void multiply_two(__global float *du, __global const float *w, __global const float *v, int step, int images,
                         int next)
{
    vec sum[HALF][2];

    UNROLL
    for (int k = 0; k < HALF; k++) {
        UNROLL
        for (int i = 0; i < 2; i++) sum[k][i] = load(du + (i * K + k) * WIDE);
    }
    for (int n = 0; n < images; n++, v += WIDE) {
        const vec a = load(v), b = load(v + next);
        UNROLL
        for (int k = 0; k < HALF; k++) {
            const vec y = w[k * step + n];
            sum[k][0] = MULTIPLY_ADD(a, y, sum[k][0]);
            sum[k][1] = MULTIPLY_ADD(b, y, sum[k][1]);
        }
    }
    UNROLL
    for (int k = 0; k < HALF; k++) {
        UNROLL
        for (int i = 0; i < 2; i++) store(du + (i * K + k) * WIDE, sum[k][i]);
    }
}
#endif

/* All sums of one place: `count` output channels, a strip's images. du: [k / K][c / WIDE][K][WIDE]. */
inline void multiply_all(__global float *du, __global const float *w, __global const float *v, int count, int step,
                         int images, int channels)
{
    int c = 0;

#if LANES == 16
    for (; c + 2 * WIDE <= channels; c += 2 * WIDE)
        for (int k = 0; k < count; k += HALF)
            multiply_two(du + k / K * K * channels + c * K + k % K * WIDE, w + k * step, v + c * step, step, images,
                         WIDE * step);
#endif
    for (; c < channels; c += WIDE)
        for (int k = 0; k < count; k += K)
            multiply(du + (k * channels + c * K), w + k * step, v + c * step, step, images);
}

/* One strip, one row of places. Behind the inputs, `v` has room for the gradients; before these, zeros. */
inline void add_strip(__global const float *x, __global const float *dy, __global float *du, __global float *v,
                      const shape_weight s, const strip at, int which, int pair)
{
    const int side = pair ? PAIR_SIDE : COLUMNS_OF, images = at.tiles * SPAN;
    const size_t v_step = (size_t)s.in_channels * images + LANES, w_step = (size_t)at.group * images + LANES;
    const size_t place = (size_t)s.out_channels * s.in_channels;
    const place_row row = find_row(which);
    __global float *w = v + side * v_step, *zeros = w - LANES;

    for (int t = 0; t < at.count; t++) {
        const corner tile = find_tile(at.first + t, s);
        __global float *v_here = v + t * SPAN * WIDE, *w_here = w + t * SPAN;
        if (pair) {
            pair_inputs(x, v_here, v_step, images, tile.block, which, s);
            pair_gradients(dy, w_here, w_step, images, tile.block, which, at.k, at.end, s);
        } else {
            transform_inputs(x, zeros, v_here, v_step, images, tile, row, s);
            transform_gradients(dy, zeros, w_here, w_step, images, tile, row, at.k, at.end, s);
        }
    }
    for (int p = 0; p < side; p++)
        multiply_all(du + p * place, w + p * w_step, v + p * v_step, at.end - at.k, images, at.count * SPAN,
                     s.in_channels);
}

/* x: worker. A task is a row of places, a group of output channels, and a partial sum; of W workers, worker w has tasks
 * w, w + W, ... Each has its own part of `scratch` for v and w of a strip of `tiles` tiles. */
__kernel void winograd_gradient(SLICE(const float, x), SLICE(const float, dy), SLICE(float, du), SLICE(float, scratch),
                                const shape_weight s, const int tiles, const int group, const int pair)
{
    const int all = s.blocks * ((s.out_height + 1) / 2) * ((s.out_width + 1) / 2);
    const int side = pair ? PAIR_SIDE : COLUMNS_OF, groups = (s.out_channels + group - 1) / group;
    const size_t v_step = (size_t)s.in_channels * tiles * SPAN + LANES, w_step = (size_t)group * tiles * SPAN + LANES;
    const size_t place = (size_t)s.out_channels * s.in_channels;
    __global float *v = OPEN(scratch) + get_global_id(0) * side * (v_step + w_step);

    store(v + side * v_step - LANES, 0.0f);
    for (int task = get_global_id(0); task < side * groups * s.splits; task += get_global_size(0)) {
        const int which = task % side, k = task / side % groups * group, split = task / side / groups;
        const int begin = (int)((long)all * split / s.splits), end = (int)((long)all * (split + 1) / s.splits);
        __global float *to = OPEN(du) + (split * side + which) * side * place + (size_t)k * s.in_channels;
        strip at = {begin, 0, tiles, k, min(k + group, s.out_channels), group};
        for (int p = 0; p < side; p++)
            for (int i = 0; i < (at.end - k) * s.in_channels; i += LANES) store(to + p * place + i, 0.0f);
        for (; at.first < end; at.first += tiles) {
            at.count = min(tiles, end - at.first);
            add_strip(OPEN(x), OPEN(dy), to, v, s, at, which, pair);
        }
    }
}

/* Along one axis: four become three. */
inline void transform_back(vec to[3], vec a, vec b, vec c, vec d)
{
    const vec sum = (b + c) * 0.5f;

    to[0] = a + sum;
    to[1] = (b - c) * 0.5f;
    to[2] = sum + d;
}

/* The nine weights of the sums of sixteen places: dg = G^T du G. */
inline void finish(vec g[9], const vec *sum)
{
    vec rows[4][3];

    UNROLL
    for (int j = 0; j < 4; j++) transform_back(rows[j], sum[j], sum[4 + j], sum[8 + j], sum[12 + j]);
    UNROLL
    for (int r = 0; r < 3; r++) transform_back(g + 3 * r, rows[0][r], rows[1][r], rows[2][r], rows[3][r]);
}

/* Add up the partial sums, and store them as weights. x: vector of input channels, y: output channel. */
__kernel void winograd_finish(SLICE(const float, du), SLICE(float, dweight), const shape_weight s, const int pair)
{
    const int c = get_global_id(0) * LANES, k = get_global_id(1), places = pair ? PAIR_SIDE * PAIR_SIDE : PLACES;
    const size_t place = (size_t)s.out_channels * s.in_channels;
    __global const float *from = OPEN(du) + ((size_t)(k / K) * s.in_channels + c / WIDE * WIDE) * K + k % K * WIDE +
                                 c % WIDE;
    __global float *to = OPEN(dweight) + ((size_t)k * s.in_channels + c) * 9;
    vec sum[PLACES], g[9];
    float each[9][LANES];

    for (int p = 0; p < places; p++) {
        sum[p] = load(from + p * place);
        for (int split = 1; split < s.splits; split++) sum[p] += load(from + (split * places + p) * place);
    }
    if (pair)
        pair_finish(g, sum);
    else
        finish(g, sum);
    UNROLL
    for (int i = 0; i < 9; i++) *(vec *)each[i] = g[i];
    for (int l = 0; l < LANES; l++) {
        UNROLL
        for (int i = 0; i < 9; i++) to[l * 9 + i] = each[i][l];
    }
}
