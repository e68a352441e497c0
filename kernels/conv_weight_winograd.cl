/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_winograd: the gradient by weight of a 3 x 3 convolution of stride 1, by Winograd's algorithm
 * (winograd.cl). Forward, in matrices: y = A^T [ (G g G^T) * (B^T d B) ] A, the product in the middle place by
 * place. Backward:
 *
 *      d (6 x 6)   ->  v = B^T d B                     inputs, as forward
 *      dy (4 x 4)  ->  w = A dy A^T                    36 places again
 *                      du[place][k][c] = sum over tiles and images of w * v: 36 products where there were 144
 *      dg = G^T du G                                   once, at the end
 *
 * x has been transposed (transpose.cl), so that lanes are channels:
 *
 *      v[place][channels / WIDE][tile and image][WIDE channels]       w[place][k][tile and image]
 *
 * A task has twelve of the places, those of two rows that are computed together (input_places), so that is no more work
 * than all places at once, but needs a third of the memory.
 */
#define TASK_PLACES (2 * ROW_PLACES)
#define THIRDS 3 /* the places are divided among three tasks, those of conv_weight_pair.cl as well */

/* Tiles first to first + count, `tiles` at most, and output channels k to end, `group` at most. */
typedef struct {
    int first, count, tiles, k, end, group;
} strip;

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

/* v of one tile, two rows of places, all input channels. `step`: floats from a place to the next. */
inline void place_inputs(__global const float *x, __global const float *zeros, __global float *v, size_t step,
                         int images, const corner at, int points, const shape_weight s)
{
    const int floats = s.in_channels * BLOCK, top = at.row - s.padding, left = at.column - s.padding;
    __global const float *image = x + (size_t)at.block * s.in_height * s.in_width * floats;
    pixel d[ROW_PLACES][ROW_PLACES];

    for (int r = 0; r < ROW_PLACES; r++)
        for (int q = 0; q < ROW_PLACES; q++)
            d[r][q] = find_pixel(image, zeros, top + r, left + q, s.in_height, s.in_width, floats);
    for (int c = 0; c < s.in_channels; c += WIDE)
        for (int i = 0; i < SPAN * WIDE; i += LANES) {
            __global float *to = v + (size_t)c * images + i;
            vec rows[2][ROW_PLACES], places[ROW_PLACES];
            UNROLL
            for (int q = 0; q < ROW_PLACES; q++) {
                vec column[ROW_PLACES];
                UNROLL
                for (int r = 0; r < ROW_PLACES; r++) column[r] = load_pixel(d[r][q], c * BLOCK + i);
                input_places(&rows[0][q], &rows[1][q], column, points);
            }
            UNROLL
            for (int r = 0; r < 2; r++) {
                transform_inputs(places, rows[r]);
                UNROLL
                for (int q = 0; q < ROW_PLACES; q++) store(to + (r * ROW_PLACES + q) * step, places[q]);
            }
        }
}

/* w of one tile, two rows of places, output channels k to end. */
inline void place_gradients(__global const float *dy, __global const float *zeros, __global float *w, size_t step,
                            int images, const corner at, int points, int k, int end, const shape_weight s)
{
    const int stored = STORED(s.out_channels) * BLOCK;
    __global const float *image = dy + (size_t)at.block * s.out_height * s.out_width * stored;
    pixel e[STEP][STEP];

    for (int r = 0; r < STEP; r++)
        for (int q = 0; q < STEP; q++)
            e[r][q] = find_pixel(image, zeros, at.row + r, at.column + q, s.out_height, s.out_width, stored);
    for (; k < end; k++, w += images)
        for (int i = 0; i < SPAN; i += LANES) {
            vec rows[2][STEP], places[ROW_PLACES];
            UNROLL
            for (int q = 0; q < STEP; q++) {
                vec column[STEP];
                UNROLL
                for (int r = 0; r < STEP; r++) column[r] = load_pixel(e[r][q], k * BLOCK + i);
                gradient_places(&rows[0][q], &rows[1][q], column, points);
            }
            UNROLL
            for (int r = 0; r < 2; r++) {
                transform_gradients(places, rows[r]);
                UNROLL
                for (int q = 0; q < ROW_PLACES; q++) store(w + (r * ROW_PLACES + q) * step + i, places[q]);
            }
        }
}

/* du[k][c] = or, with `add`, += sum over `images` of w[k] * v[c], K x WIDE of them. */
inline void multiply(__global float *du, __global const float *w, __global const float *v, int step, int images,
                     int add)
{
    vec sum[K][WIDE_VECTORS];

    UNROLL
    for (int k = 0; k < K; k++) {
        UNROLL
        for (int i = 0; i < WIDE_VECTORS; i++) sum[k][i] = add ? load(du + k * WIDE + i * LANES) : 0.0f;
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
                         int next, int add)
{
    vec sum[HALF][2];

    UNROLL
    for (int k = 0; k < HALF; k++) {
        UNROLL
        for (int i = 0; i < 2; i++) sum[k][i] = add ? load(du + (i * K + k) * WIDE) : 0.0f;
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
                         int images, int channels, int add)
{
    int c = 0;

#if LANES == 16
    for (; c + 2 * WIDE <= channels; c += 2 * WIDE)
        for (int k = 0; k < count; k += HALF)
            multiply_two(du + k / K * K * channels + c * K + k % K * WIDE, w + k * step, v + c * step, step, images,
                         WIDE * step, add);
#endif
    for (; c < channels; c += WIDE)
        for (int k = 0; k < count; k += K)
            multiply(du + (k * channels + c * K), w + k * step, v + c * step, step, images, add);
}

/* One strip, the places of a task. Behind the inputs, `v` has room for the gradients; before these, zeros. */
inline void add_strip(__global const float *x, __global const float *dy, __global float *du, __global float *v,
                      const shape_weight s, const strip at, int which, int pair, int add)
{
    const int places = pair ? PAIR_SIDE : TASK_PLACES, images = at.tiles * SPAN;
    const size_t v_step = (size_t)s.in_channels * images + LANES, w_step = (size_t)at.group * images + LANES;
    const size_t place = (size_t)s.out_channels * s.in_channels;
    __global float *w = v + places * v_step, *zeros = w - LANES;

    for (int t = 0; t < at.count; t++) {
        const corner tile = find_tile(at.first + t, s.out_height, s.out_width);
        __global float *v_here = v + t * SPAN * WIDE, *w_here = w + t * SPAN;
        if (pair) {
            pair_inputs(x, v_here, v_step, images, tile.block, which, s);
            pair_gradients(dy, w_here, w_step, images, tile.block, which, at.k, at.end, s);
        } else {
            place_inputs(x, zeros, v_here, v_step, images, tile, which, s);
            place_gradients(dy, zeros, w_here, w_step, images, tile, which, at.k, at.end, s);
        }
    }
    for (int p = 0; p < places; p++)
        multiply_all(du + p * place, w + p * w_step, v + p * v_step, at.end - at.k, images, at.count * SPAN,
                     s.in_channels, add);
}

/* x: worker. A task is some of the places, a group of output channels, and a partial sum; of W workers, worker w has
 * tasks w, w + W, ... Each has its own part of `scratch` for v and w of a strip of `tiles` tiles. */
__kernel void winograd_gradient(SLICE(const float, x), SLICE(const float, dy), SLICE(float, du), SLICE(float, scratch),
                                const shape_weight s, const int tiles, const int group, const int pair)
{
    const int all = s.blocks * tiles_along(s.out_height) * tiles_along(s.out_width);
    const int places = pair ? PAIR_SIDE : TASK_PLACES, groups = (s.out_channels + group - 1) / group;
    const size_t v_step = (size_t)s.in_channels * tiles * SPAN + LANES, w_step = (size_t)group * tiles * SPAN + LANES;
    const size_t place = (size_t)s.out_channels * s.in_channels;
    __global float *v = OPEN(scratch) + get_global_id(0) * places * (v_step + w_step);

    store(v + places * v_step - LANES, 0.0f);
    for (int task = get_global_id(0); task < THIRDS * groups * s.splits; task += get_global_size(0)) {
        const int which = task % THIRDS, k = task / THIRDS % groups * group, split = task / THIRDS / groups;
        const int begin = (int)((long)all * split / s.splits), end = (int)((long)all * (split + 1) / s.splits);
        __global float *to = OPEN(du) + (split * THIRDS + which) * places * place + (size_t)k * s.in_channels;
        /* A partial sum has one tile at least: its first strip sets the sums. */
        strip at = {begin, 0, tiles, k, min(k + group, s.out_channels), group};
        for (; at.first < end; at.first += tiles) {
            at.count = min(tiles, end - at.first);
            add_strip(OPEN(x), OPEN(dy), to, v, s, at, which, pair, at.first > begin);
        }
    }
}

/* The nine weights of the sums of all places, in the order of the tasks: dg = G^T du G. */
inline void finish(vec g[9], const vec *sum)
{
    const int order[ROW_PLACES] = {0, 2, 3, 4, 5, 1}; /* of the rows 0 and 5, 1 and 2, 3 and 4 */
    vec columns[ROW_PLACES][3], of[ROW_PLACES];

    UNROLL
    for (int q = 0; q < ROW_PLACES; q++) {
        UNROLL
        for (int r = 0; r < ROW_PLACES; r++) of[r] = sum[order[r] * ROW_PLACES + q];
        transform_sums(columns[q], of);
    }
    UNROLL
    for (int r = 0; r < 3; r++) {
        UNROLL
        for (int q = 0; q < ROW_PLACES; q++) of[q] = columns[q][r];
        transform_sums(g + 3 * r, of);
    }
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
