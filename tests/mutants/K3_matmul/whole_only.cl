/* SPDX-License-Identifier: MIT */
// what: tiles that reach over the edge are left out
// expect: elements of c were not written
// expect: of tiles that reach over the edge
#define TILE 4

__kernel void my_matmul(__global const float *a, __global const float *b, __global float *c, const int m, const int n,
                        const int k)
{
    const int row = get_global_id(1) * TILE, column = get_global_id(0) * TILE;
    float sum[TILE][TILE], left[TILE], right[TILE];

    if (row + TILE > m || column + TILE > n) return;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) sum[i][j] = 0.0f;

    for (int p = 0; p < k; p++) {
        for (int i = 0; i < TILE; i++) left[i] = a[min(row + i, m - 1) * k + p];
        for (int j = 0; j < TILE; j++) right[j] = b[p * n + min(column + j, n - 1)];
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < TILE; j++) sum[i][j] += left[i] * right[j];
    }

    for (int i = 0; i < TILE && row + i < m; i++)
        for (int j = 0; j < TILE && column + j < n; j++) c[(row + i) * n + column + j] = sum[i][j];
}
