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
 * second cache; add_splits puts them together, in order. find_pixels is in conv_weight_plain.cl.
 */

/* A tile's share of the work. Its last channels may not exist: then what lies there is read (kernel_floats has room for
 * it), and the sums are not stored. */
typedef struct {
    __global const float *x, *dy; /* of the tile's first channels */
    int rows, columns;            /* channels that exist, at most ROWS and COLUMNS */
    int first_row, end_row;       /* image rows of all blocks, counted through */
} piece;

inline void add_pixel(vec sum[ROWS][COLUMNS], __global const float *x, __global const float *dy)
{
    for (int i = 0; i < BLOCK; i += LANES) {
        vec a[COLUMNS];
        UNROLL
        for (int c = 0; c < COLUMNS; c++) a[c] = load(x + c * BLOCK + i);
        UNROLL
        for (int k = 0; k < ROWS; k++) {
            const vec b = load(dy + k * BLOCK + i);
            UNROLL
            for (int c = 0; c < COLUMNS; c++) sum[k][c] = MULTIPLY_ADD(b, a[c], sum[k][c]);
        }
    }
}

/* All pixels of this piece for the tap (r, q). */
inline void add_pixels(vec sum[ROWS][COLUMNS], const piece p, int r, int q, const shape_weight s)
{
    const range rows = find_pixels(r, s.in_height, s.out_height, s),
                columns = find_pixels(q, s.in_width, s.out_width, s);
    const int x_step = s.stride * s.in_channels * BLOCK, dy_step = s.out_channels * BLOCK;

    for (int at = p.first_row; at < p.end_row; at++) {
        const int block = at / s.out_height, row = at % s.out_height;
        const int in_row = row * s.stride + r - s.padding, in_column = columns.first * s.stride + q - s.padding;
        if (row < rows.first || row >= rows.end) continue;
        __global const float *x = p.x +
                                  ((block * s.in_height + in_row) * s.in_width + in_column) * s.in_channels * BLOCK;
        __global const float *dy = p.dy + (at * s.out_width + columns.first) * s.out_channels * BLOCK;
        for (int column = columns.first; column < columns.end; column++, x += x_step, dy += dy_step)
            add_pixel(sum, x, dy);
    }
}

/* x: tile of input channels, y: of output channels, z: which of the partial sums. */
__kernel void conv_weight_tile(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight),
                               const shape_weight s)
{
    const int c = get_global_id(0) * COLUMNS, k = get_global_id(1) * ROWS, split = get_global_id(2);
    const int taps = s.size * s.size, all = s.in_channels * taps, rows = s.blocks * s.out_height;
    const piece p = {OPEN(x) + c * BLOCK,
                     OPEN(dy) + k * BLOCK,
                     min(ROWS, s.out_channels - k),
                     min(COLUMNS, s.in_channels - c),
                     (int)((long)rows * split / s.splits),
                     (int)((long)rows * (split + 1) / s.splits)};
    __global float *to = OPEN(dweight) + ((size_t)split * s.out_channels + k) * all + c * taps;

    for (int tap = 0; tap < taps; tap++) {
        vec sum[ROWS][COLUMNS];
        UNROLL
        for (int i = 0; i < ROWS * COLUMNS; i++) sum[i / COLUMNS][i % COLUMNS] = 0.0f;
        add_pixels(sum, p, tap / s.size, tap % s.size, s);
        UNROLL
        for (int i = 0; i < ROWS * COLUMNS; i++)
            if (i / COLUMNS < p.rows && i % COLUMNS < p.columns)
                to[i / COLUMNS * all + i % COLUMNS * taps + tap] = sum_lanes(sum[i / COLUMNS][i % COLUMNS]);
    }
}

/* x: number of a weight. */
__kernel void add_splits(SLICE(const float, parts), SLICE(float, dweight), const int splits, const int count)
{
    const int first = get_global_id(0) * STRETCH, end = min(count, first + STRETCH);
    __global const float *from = OPEN(parts);
    __global float *to = OPEN(dweight);

    for (int i = first; i < end; i++) to[i] = from[i];
    for (int part = 1; part < splits; part++)
        for (int i = first; i < end; i++) to[i] += from[(size_t)part * count + i];
}
