/* SPDX-License-Identifier: MIT */
// what: rows of c are taken to be k long
// expect: Were rows of c taken to be k
#define TILE 4

__kernel void my_matmul(__global const float *a, __global const float *b, __global float *c, const int m, const int n,
                        const int k)
{
    const int row = get_global_id(1) * TILE, column = get_global_id(0) * TILE;
    float sum[TILE][TILE], left[TILE], right[TILE];

    if (row >= m || column >= n) return;
    for (int i = 0; i < TILE; i++)
        for (int j = 0; j < TILE; j++) sum[i][j] = 0.0f;

    for (int p = 0; p < k; p++) {
        for (int i = 0; i < TILE; i++) left[i] = a[min(row + i, m - 1) * k + p];
        for (int j = 0; j < TILE; j++) right[j] = b[p * n + min(column + j, n - 1)];
        for (int i = 0; i < TILE; i++)
            for (int j = 0; j < TILE; j++) sum[i][j] += left[i] * right[j];
    }

    for (int i = 0; i < TILE && row + i < m; i++)
        for (int j = 0; j < TILE && column + j < n; j++) c[(row + i) * k + column + j] = sum[i][j];
}
