/* SPDX-License-Identifier: MIT */
/*
 * conv_weight: the gradient by weight, a register tile a work-item: ROWS output x COLUMNS input channels of one tap
 * after the other.
 *
 *      for each output pixel whose tap falls inside, and vector of images
 *                      x[c]        x[c+1]      x[c+2]      x[c+3]
 *          dy[k]       sum[0][0]   sum[0][1]   ...                       8 loads for 16 multiplications of 16 lanes
 *          dy[k+1]     sum[1][0]
 *          ...                                             the lanes of a sum are added up once, at the end
 *
 * The pixels are divided among `splits` partial sums, so that the piece of x and dy that all tiles read stays in the
 * second-level cache; add_splits (vector.cl) adds them up. find_pixels is in conv_weight_plain.cl. Where images are
 * larger, conv_weight_rows.cl does better.
 */

/* A tile's share of the work. Its last channels may not exist: then what lies there is read (kernel_floats has room for
 * it), and the sums are not stored. */
typedef struct {
    __global const float *x, *dy; /* of the tile's first channels */
    int rows, columns;            /* channels that exist, at most ROWS and COLUMNS */
    int first_row, end_row;       /* image rows of all blocks, counted through */
    int block, row;               /* of the first */
} piece;

inline void add_pixel(vec sum[ROWS * COLUMNS], __global const float *x, __global const float *dy)
{
    for (int i = 0; i < BLOCK; i += LANES) {
        vec a[COLUMNS];
        UNROLL
        for (int c = 0; c < COLUMNS; c++) a[c] = load(x + c * BLOCK + i);
        UNROLL
        for (int k = 0; k < ROWS; k++) {
            const vec b = load(dy + k * BLOCK + i);
            UNROLL
            for (int c = 0; c < COLUMNS; c++) sum[k * COLUMNS + c] = MULTIPLY_ADD(b, a[c], sum[k * COLUMNS + c]);
        }
    }
}

/* All pixels of this piece for the tap (r, q). False if there are none: the tap always falls outside. */
inline bool add_pixels(vec sum[ROWS * COLUMNS], const piece p, int r, int q, const shape_weight s)
{
    const range rows = find_pixels(r, s.in_height, s.out_height, s),
                columns = find_pixels(q, s.in_width, s.out_width, s);
    const int x_step = s.stride * STORED(s.in_channels) * BLOCK, dy_step = STORED(s.out_channels) * BLOCK;

    if (rows.first >= rows.end || columns.first >= columns.end) return false;
    for (int at = p.first_row, block = p.block, row = p.row; at < p.end_row; at++) {
        if (row >= rows.first && row < rows.end) {
            const int in_row = row * s.stride + r - s.padding, in_column = columns.first * s.stride + q - s.padding;
            __global const float *x = p.x + ((block * s.in_height + in_row) * s.in_width + in_column) *
                                                STORED(s.in_channels) * BLOCK;
            __global const float *dy = p.dy + (at * s.out_width + columns.first) * STORED(s.out_channels) * BLOCK;
            for (int column = columns.first; column < columns.end; column++, x += x_step, dy += dy_step)
                add_pixel(sum, x, dy);
        }
        if (++row == s.out_height) row = 0, block++;
    }
    return true;
}

/* LANES sums of a tile for one tap, from number `first` on, into their places. */
inline void store_sums(__global float *to, vec sums, int first, const piece p, int row, int column)
{
    float each[LANES];

    *(vec *)each = sums;
    for (int i = 0; i < LANES; i++) {
        const int k = (first + i) / COLUMNS, c = (first + i) % COLUMNS;
        if (k < p.rows && c < p.columns) to[k * row + c * column] = each[i];
    }
}

/* The same where no channel is missing, so the compiler knows all places. */
inline void store_all_sums(__global float *to, vec sums, int first, int row, int column)
{
    float each[LANES];

    *(vec *)each = sums;
    UNROLL
    for (int i = 0; i < LANES; i++) to[(first + i) / COLUMNS * row + (first + i) % COLUMNS * column] = each[i];
}

/* The sums of a tile for one tap; `to` is the place of its first weight. */
inline void store_tap(__global float *to, const vec sum[ROWS * COLUMNS], const piece p, int row, int column)
{
    UNROLL
    for (int i = 0; i < ROWS * COLUMNS; i += LANES) {
        const vec sums = sum_lanes_of(sum + i);
        if (p.rows == ROWS && p.columns == COLUMNS)
            store_all_sums(to, sums, i, row, column);
        else
            store_sums(to, sums, i, p, row, column);
    }
}

/* Zeros for a tile whose taps are not all used: its rows lie in one piece each. */
inline void clear_tile(__global float *to, const piece p, int row, int taps)
{
    for (int k = 0; k < p.rows; k++)
        for (int i = 0; i < p.columns * taps; i++) to[k * row + i] = 0.0f;
}

inline piece find_piece(__global const float *x, __global const float *dy, int c, int k, int split,
                        const shape_weight s)
{
    const int rows = s.blocks * s.out_height;
    const int first = (int)((long)rows * split / s.splits), end = (int)((long)rows * (split + 1) / s.splits);
    const piece p = {
        x + c * BLOCK, dy + k * BLOCK,       min(ROWS, s.out_channels - k), min(COLUMNS, s.in_channels - c), first,
        end,           first / s.out_height, first % s.out_height};

    return p;
}

/* x: tile of input channels, y: of output channels, z: which of the partial sums. */
__kernel void conv_weight_tile(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight),
                               const shape_weight s)
{
    const int c = get_global_id(0) * COLUMNS, k = get_global_id(1) * ROWS, split = get_global_id(2);
    const int taps = s.size * s.size, all = s.in_channels * taps;
    const piece p = find_piece(OPEN(x), OPEN(dy), c, k, split, s);
    __global float *to = OPEN(dweight) + ((size_t)split * s.out_channels + k) * all + c * taps;

    if (s.some_unused) clear_tile(to, p, all, taps);
    for (int r = 0; r < s.size; r++)
        for (int q = 0; q < s.size; q++) {
            vec sum[ROWS * COLUMNS];
            UNROLL
            for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = 0.0f;
            if (add_pixels(sum, p, r, q, s)) store_tap(to + r * s.size + q, sum, p, all, taps);
        }
}
