/* SPDX-License-Identifier: MIT */
/*
 * conv: convolution, a register tile a work-item: TILE output channels x VECTORS vectors of images, of one pixel.
 *
 *      for each input channel c and tap inside the image
 *                              images 0..15    images 16..31         in[c], two vectors, loaded once
 *          weight[0][c]  x     sum[0][0]       sum[0][1]
 *          weight[1][c]  x     sum[1][0]       sum[1][1]             each weight, one scalar, for all lanes
 *          ...                                                       TILE * VECTORS sums stay in registers
 *
 * 10 loads for 16 multiplications of 16 lanes. Input channels are taken 16 at a time, and all taps for each 16: so the
 * weights in use (TILE * 16 * taps) stay in the first-level cache, and are read in the order in which they lie.
 * find_taps is in conv_plain.cl.
 */
#define PIECE 16

/* Add one tap's products of `count` input channels. */
inline void add_tap(vec sum[TILE][VECTORS], __global const float *in, __global const float *weight, int count,
                    const shape_conv s)
{
    for (int c = 0; c < count; c++, in += BLOCK, weight += s.column) {
        vec x[VECTORS];
        UNROLL
        for (int v = 0; v < VECTORS; v++) x[v] = load(in + v * LANES);
        UNROLL
        for (int t = 0; t < TILE; t++) {
            const vec w = weight[t * s.row];
            UNROLL
            for (int v = 0; v < VECTORS; v++) sum[t][v] = MULTIPLY_ADD(x[v], w, sum[t][v]);
        }
    }
}

/* y: tile of channels, and in it the position of a run; z: run. */
__kernel void conv_tile(SLICE(const float, in), SLICE(const float, weight), SLICE(float, out), const shape_conv s)
{
    const int lane = get_global_id(0) * SPAN;
    const int channel = (int)get_global_id(1) / s.run * TILE;
    const int position = get_global_id(2) * s.run + (int)get_global_id(1) % s.run;
    const int pixels = s.height * s.width, block = position / pixels, pixel = position % pixels;
    const axis rows = find_taps(pixel / s.width, s.in_height, s), columns = find_taps(pixel % s.width, s.in_width, s);
    __global const float *image = OPEN(in) + (size_t)block * s.in_height * s.in_width * STORED(s.in_channels) * BLOCK +
                                  lane;
    __global const float *filter = OPEN(weight) + (size_t)channel * s.row;
    __global float *to = OPEN(out) + ((size_t)position * STORED(s.channels) + channel) * BLOCK + lane;
    vec sum[TILE][VECTORS];

    if (block >= s.blocks) return; /* the last run may be shorter */
    UNROLL
    for (int t = 0; t < TILE; t++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++) sum[t][v] = s.add ? load(to + t * BLOCK + v * LANES) : (vec)0.0f;
    }
    for (int c = 0; c < s.in_channels; c += PIECE)
        for (int r = rows.first, y = rows.at; r < rows.end; r += rows.step, y += rows.move)
            for (int q = columns.first, x = columns.at; q < columns.end; q += columns.step, x += columns.move)
                add_tap(sum, image + ((y * s.in_width + x) * STORED(s.in_channels) + c) * BLOCK,
                        filter + c * s.column + r * s.size + q, min(PIECE, s.in_channels - c), s);
    UNROLL
    for (int t = 0; t < TILE; t++) {
        UNROLL
        for (int v = 0; v < VECTORS; v++) store(to + t * BLOCK + v * LANES, sum[t][v]);
    }
}
