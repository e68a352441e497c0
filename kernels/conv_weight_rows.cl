/* SPDX-License-Identifier: MIT */
/*
 * conv_weight_rows: the gradient by weight with the same register tile as conv_weight.cl, which goes through all pixels
 * for one tap, then again for the next, and so reads x and dy once for each tap. Here all taps are computed for a few
 * pixels at a time, while these are in the first-level cache:
 *
 *      for each patch of an image, 8 x 2 or 4 x 4 pixels
 *          for each of the 9 taps                  load the tap's sums into registers (they stay in the first-level
 *              for each of the pixels              cache: 9 KiB), 512 multiplications of 16 lanes, store them
 *
 * So x and dy are read from memory once, whatever their size, the partial sums can be long, and lanes are added up
 * rarely. On images with fewer than four columns conv_weight.cl is faster.
 */
#define MOST_SIZE 3
#define PATCH_WIDTH 8
#define PATCH 16 /* pixels */

/* What a tile's work-item uses all the time. */
typedef struct {
    piece p;
    shape_weight s;
    range columns[MOST_SIZE]; /* of each tap */
    int x_step, dy_step;      /* floats from an output pixel to the next */
} plan;

/* Where a patch lies in the output: rows of this block, columns. */
typedef struct {
    int block, first_row, end_row, first, end;
} patch;

/* All pixels of a patch for one tap. */
inline void add_patch(vec sums[ROWS * COLUMNS], const plan *l, const patch at, int r, int q)
{
    const int begin = max(at.first, l->columns[q].first), end = min(at.end, l->columns[q].end);
    vec sum[ROWS * COLUMNS];

    if (begin >= end) return;
    UNROLL
    for (int i = 0; i < ROWS * COLUMNS; i++) sum[i] = sums[i];
    for (int row = at.first_row; row < at.end_row; row++) {
        const int in_row = row * l->s.stride + r - l->s.padding;
        const int corner = (at.block * l->s.in_height + in_row) * l->s.in_width + q - l->s.padding;
        __global const float *x = l->p.x + corner * STORED(l->s.in_channels) * BLOCK + begin * l->x_step;
        __global const float *dy = l->p.dy + ((at.block * l->s.out_height + row) * l->s.out_width + begin) * l->dy_step;
        if (in_row < 0 || in_row >= l->s.in_height) continue;
        for (int column = begin; column < end; column++, x += l->x_step, dy += l->dy_step) add_pixel(sum, x, dy);
    }
    UNROLL
    for (int i = 0; i < ROWS * COLUMNS; i++) sums[i] = sum[i];
}

/* Rows first_row to end_row of a block, patch by patch. */
inline void add_rows(vec sums[MOST_SIZE * MOST_SIZE][ROWS * COLUMNS], const plan *l, int block, int first_row,
                     int end_row)
{
    for (int first = 0; first < l->s.out_width; first += PATCH_WIDTH) {
        const patch at = {block, first_row, end_row, first, min(l->s.out_width, first + PATCH_WIDTH)};
        for (int tap = 0; tap < l->s.size * l->s.size; tap++)
            add_patch(sums[tap], l, at, tap / l->s.size, tap % l->s.size);
    }
}

/* x: tile of input channels, y: of output channels, z: which of the partial sums. */
__kernel void conv_weight_rows(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight),
                               const shape_weight s)
{
    const int c = get_global_id(0) * COLUMNS, k = get_global_id(1) * ROWS, split = get_global_id(2);
    const int taps = s.size * s.size, all = s.in_channels * taps,
              height = max(1, PATCH / min(PATCH_WIDTH, s.out_width));
    __global float *to = OPEN(dweight) + ((size_t)split * s.out_channels + k) * all + c * taps;
    vec sums[MOST_SIZE * MOST_SIZE][ROWS * COLUMNS];
    plan l = {.p = find_piece(OPEN(x), OPEN(dy), c, k, split, s),
              .s = s,
              .x_step = s.stride * STORED(s.in_channels) * BLOCK,
              .dy_step = STORED(s.out_channels) * BLOCK};

    for (int q = 0; q < s.size; q++) l.columns[q] = find_pixels(q, s.in_width, s.out_width, s);
    for (int tap = 0; tap < taps; tap++)
        for (int i = 0; i < ROWS * COLUMNS; i++) sums[tap][i] = 0.0f;
    for (int at = l.p.first_row, block = l.p.block, row = l.p.row; at < l.p.end_row;) {
        const int rows = min(height, min(l.p.end_row - at, s.out_height - row));
        add_rows(sums, &l, block, row, row + rows);
        at += rows, row += rows;
        if (row == s.out_height) row = 0, block++;
    }
    for (int tap = 0; tap < taps; tap++) store_tap(to + tap, sums[tap], l.p, all, taps);
}
