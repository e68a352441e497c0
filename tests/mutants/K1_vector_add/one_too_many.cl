/* SPDX-License-Identifier: MIT */
// what: <= for <
// expect: reads a[1000]
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i <= n) c[i] = a[i] + b[i];
}
