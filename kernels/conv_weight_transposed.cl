/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_transposed: the gradient by weight with inputs transposed (transpose.cl), patch by patch as in
 * conv_weight_rows.cl, which says why; here the register tile is K output channels times WIDE input channels, with
 * channels as lanes:
 *
 *      for each patch of an image, 8 x 2 or 4 x 4 pixels
 *          for each tap, or each row of three
 *              for each of the pixels and images       one vector of x, K scalars of dy, K multiplications
 *
 * A weight's sum is in one lane from the beginning to the end. Where images are small there are few products a weight,
 * and adding up lanes would take longer than they do. find_pixels is in conv_weight_plain.cl.
 */
#define MOST_TAPS 9
#define PATCH_WIDTH 8
#define PATCH 16 /* pixels */

typedef struct {
    vec at[K][WIDE_VECTORS];
} sums;

/* One pixel: `x` and `dy` are where it has the tile's first channels. */
inline void add_transposed(sums *sum, __global const float *x, __global const float *dy)
{
    for (int n = 0; n < BLOCK; n++, x += WIDE) {
        vec v[WIDE_VECTORS];
        UNROLL
        for (int i = 0; i < WIDE_VECTORS; i++) v[i] = load(x + i * LANES);
        UNROLL
        for (int k = 0; k < K; k++) {
            const vec y = dy[k * BLOCK + n];
            UNROLL
            for (int i = 0; i < WIDE_VECTORS; i++) sum->at[k][i] = MULTIPLY_ADD(v[i], y, sum->at[k][i]);
        }
    }
}

/* Output rows of one block, columns first to end. */
typedef struct {
    int block, first_row, end_row, first, end;
} region;

/* All pixels of a patch for tap (r, q), whose columns inside the image are `inside`. */
inline void add_region(sums *to, __global const float *x, __global const float *dy, const region at, int r, int q,
                       const range inside, const shape_weight s)
{
    const int begin = max(at.first, inside.first), end = min(at.end, inside.end);
    sums sum = *to;

    for (int row = at.first_row; row < at.end_row; row++) {
        const int in_row = row * s.stride + r - s.padding;
        if (in_row < 0 || in_row >= s.in_height) continue;
        for (int column = begin; column < end; column++) {
            const int in = (at.block * s.in_height + in_row) * s.in_width + column * s.stride + q - s.padding;
            const int out = (at.block * s.out_height + row) * s.out_width + column;
            add_transposed(&sum, x + (size_t)in * s.in_channels * BLOCK,
                           dy + (size_t)out * STORED(s.out_channels) * BLOCK);
        }
    }
    *to = sum;
}

/* ---- Rows of three taps: where there are registers for 24 sums ---- */

#if LANES == 16
#define SIDE 3
#define PART 8        /* output channels */
#define LEAST_WIDTH 4 /* of images: on narrower ones few pixels have all three taps */

/* One pixel, three taps: 11 vectors are loaded for 24 products, where add_transposed needs 51; and a patch is read from the
 * second-level cache a third as often. */
inline void add_three(vec sum[SIDE][PART], __global const float *x, __global const float *dy, long next)
{
    for (int n = 0; n < BLOCK; n++, x += WIDE) {
        const vec a = load(x), b = load(x + next), c = load(x + 2 * next);
        UNROLL
        for (int k = 0; k < PART; k++) {
            const vec y = dy[k * BLOCK + n];
            sum[0][k] = MULTIPLY_ADD(a, y, sum[0][k]);
            sum[1][k] = MULTIPLY_ADD(b, y, sum[1][k]);
            sum[2][k] = MULTIPLY_ADD(c, y, sum[2][k]);
        }
    }
}

/* One pixel at the image's edge, one tap. */
inline void add_one(vec sum[PART], __global const float *x, __global const float *dy)
{
    for (int n = 0; n < BLOCK; n++, x += WIDE) {
        const vec a = load(x);
        UNROLL
        for (int k = 0; k < PART; k++) sum[k] = MULTIPLY_ADD(a, (vec)dy[k * BLOCK + n], sum[k]);
    }
}

/* All pixels of a patch for the three taps of row r, output channels from `first` on. */
inline void add_row(sums to[SIDE], int first, __global const float *x, __global const float *dy, const region at, int r,
                    const shape_weight s)
{
    const long next = (long)s.in_channels * BLOCK;
    vec sum[SIDE][PART];

    UNROLL
    for (int i = 0; i < SIDE * PART; i++) sum[i / PART][i % PART] = to[i / PART].at[first + i % PART][0];
    for (int row = at.first_row; row < at.end_row; row++) {
        const int in_row = row * s.stride + r - s.padding;
        if (in_row < 0 || in_row >= s.in_height) continue;
        for (int column = at.first; column < at.end; column++) {
            const int left = column * s.stride - s.padding;
            const int in = (at.block * s.in_height + in_row) * s.in_width + left;
            const int out = (at.block * s.out_height + row) * s.out_width + column;
            __global const float *a = x + in * next;
            __global const float *b = dy + (size_t)out * STORED(s.out_channels) * BLOCK + first * BLOCK;
            if (left >= 0 && left + 2 < s.in_width) {
                add_three(sum, a, b, next);
            } else {
                UNROLL
                for (int q = 0; q < SIDE; q++)
                    if (left + q >= 0 && left + q < s.in_width) add_one(sum[q], a + q * next, b);
            }
        }
    }
    UNROLL
    for (int i = 0; i < SIDE * PART; i++) to[i / PART].at[first + i % PART][0] = sum[i / PART][i % PART];
}
#endif

/* The sums of a tile into their places, taps side by side; `used`: those of taps that fall inside at all. */
inline void store_taps(__global float *to, const sums all[MOST_TAPS], const bool used[MOST_TAPS], bool some_unused,
                       int taps, int row)
{
    for (int k = 0; k < K; k++, to += row) {
        if (some_unused)
            for (int i = 0; i < WIDE * taps; i++) to[i] = 0.0f;
        for (int tap = 0; tap < taps; tap++) {
            if (!used[tap]) continue;
            UNROLL
            for (int i = 0; i < WIDE_VECTORS; i++) {
                float each[LANES];
                *(vec *)each = all[tap].at[k][i];
                UNROLL
                for (int l = 0; l < LANES; l++) to[(i * LANES + l) * taps + tap] = each[l];
            }
        }
    }
}

/* x: tile of input channels, y: of output channels, z: which of the partial sums. `x` has been transposed. */
__kernel void transposed_gradient(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight),
                                  const shape_weight s)
{
    const int c = get_global_id(0) * WIDE, k = get_global_id(1) * K, split = get_global_id(2);
    const int taps = s.size * s.size, row = s.in_channels * taps, lines = s.blocks * s.out_height;
    const int first = (int)((long)lines * split / s.splits), end = (int)((long)lines * (split + 1) / s.splits);
    const int height = max(1, PATCH / min(PATCH_WIDTH, s.out_width));
    __global const float *in = OPEN(x) + c * BLOCK, *out = OPEN(dy) + k * BLOCK;
    sums all[MOST_TAPS];
    range columns[MOST_TAPS];
    bool used[MOST_TAPS];

    for (int tap = 0; tap < taps; tap++) {
        const range rows = find_pixels(tap / s.size, s.in_height, s.out_height, s);
        columns[tap] = find_pixels(tap % s.size, s.in_width, s.out_width, s);
        used[tap] = rows.first < rows.end && columns[tap].first < columns[tap].end;
        UNROLL
        for (int i = 0; i < K * WIDE_VECTORS; i++) all[tap].at[i / WIDE_VECTORS][i % WIDE_VECTORS] = 0.0f;
    }
    for (int line = first; line < end;) {
        const int block = line / s.out_height, at = line % s.out_height,
                  rows = min(height, min(end - line, s.out_height - at));
        for (int from = 0; from < s.out_width; from += PATCH_WIDTH) {
            const region p = {block, at, at + rows, from, min(s.out_width, from + PATCH_WIDTH)};
#if LANES == 16
            if (s.size == SIDE && s.out_width >= LEAST_WIDTH) {
                for (int r = 0; r < SIDE; r++)
                    for (int k_part = 0; k_part < K; k_part += PART) add_row(all + r * SIDE, k_part, in, out, p, r, s);
                continue;
            }
#endif
            for (int tap = 0; tap < taps; tap++)
                if (used[tap]) add_region(&all[tap], in, out, p, tap / s.size, tap % s.size, columns[tap], s);
        }
        line += rows;
    }
    store_taps(OPEN(dweight) + ((size_t)split * s.out_channels + k) * row + c * taps, all, used, s.some_unused, taps,
               row);
}
