/* SPDX-License-Identifier: MIT */
/*
 * K3_matmul: a work-item computes a tile of TILE x TILE elements, whose sums are in registers. The page is README.md in
 * this folder.
 *
 *      make test EX=K3
 */
#define TILE 4

__kernel void my_matmul(__global const float *a, __global const float *b, __global float *c, const int m, const int n,
                        const int k)
{
    const int row = get_global_id(1) * TILE, column = get_global_id(0) * TILE;
    float sum[TILE][TILE], left[TILE], right[TILE];

    if (row >= m || column >= n) return;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) sum[i][j] = 0.0f;

    // TODO: for each of the k steps: a column of TILE elements of a to left, a row of TILE elements of b to right, and
    // TILE x TILE multiply-adds with them. Where the tile is larger than what is left of c, no element outside is read.
    (void)a, (void)b, (void)k, (void)left, (void)right;
    // END TODO

    // TODO: the tile to c, as far as there are such elements.
    (void)c, (void)sum;
    // END TODO
}
