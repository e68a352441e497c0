/* SPDX-License-Identifier: MIT */
// what: each sum one place too far to the front
// expect: each sum lies one place too far to the front
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i + 1 < n) c[i] = a[i + 1] + b[i + 1]; else if (i < n) c[i] = 0;
}
