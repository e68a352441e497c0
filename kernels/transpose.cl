/* SPDX-License-Identifier: MIT */
/*
 * transpose: for gradients by weight. The sum goes over images, which are a vector's lanes, and to add up lanes after
 * every few products costs as much as the products. So inputs are transposed, a square of LANES channels and LANES
 * images at a time, and channels become the lanes: then a lane of the output's gradient is a scalar for a whole vector,
 * as a weight is in the forward pass, and no sum crosses lanes.
 */
/* The register tile: K output channels times WIDE input channels. */
#if LANES == 16
#define K 16
#define WIDE_VECTORS 1
#else
#define K 4
#define WIDE_VECTORS 2
#endif
#define WIDE (WIDE_VECTORS * LANES)

/* LANES vectors of LANES, transposed: lane i of vector j goes to lane j of vector i. One step interleaves the first
 * halves of two vectors, and the second halves; log2(LANES) steps transpose the square. */
inline void transpose_lanes(vec v[LANES])
{
    vec other[LANES];

    UNROLL
    for (int step = 1; step < LANES; step *= 2) {
        UNROLL
        for (int i = 0; i < LANES / 2; i++) {
            other[2 * i].even = v[i].lo;
            other[2 * i].odd = v[i + LANES / 2].lo;
            other[2 * i + 1].even = v[i].hi;
            other[2 * i + 1].odd = v[i + LANES / 2].hi;
        }
        UNROLL
        for (int i = 0; i < LANES; i++) v[i] = other[i];
    }
}

/* x[position][c][image] to transposed[position][c / WIDE][image][WIDE]. x: position. */
__kernel void transpose_images(SLICE(const float, x), SLICE(float, transposed), const int channels)
{
    __global const float *from = OPEN(x) + (size_t)get_global_id(0) * STORED(channels) * BLOCK;
    __global float *to = OPEN(transposed) + (size_t)get_global_id(0) * channels * BLOCK;

    for (int c = 0; c < channels; c += LANES)
        for (int i = 0; i < BLOCK; i += LANES) {
            vec v[LANES];
            UNROLL
            for (int l = 0; l < LANES; l++) v[l] = load(from + (c + l) * BLOCK + i);
            transpose_lanes(v);
            UNROLL
            for (int l = 0; l < LANES; l++) store(to + (c / WIDE * BLOCK + i + l) * WIDE + c % WIDE, v[l]);
        }
}
