/* SPDX-License-Identifier: MIT */
// what: counts from 1
// expect: c[0] was not written, and all others were
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0) + 1;

    if (i < n) c[i] = a[i] + b[i];
}
