/* SPDX-License-Identifier: MIT */
// what: adds to what lies in c
// expect: reads c[0], which no work-item has written
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n) c[i] += a[i] + b[i];
}
