/* SPDX-License-Identifier: MIT */
// what: off by one: the last element is not added
// expect: c[255] was not written, and all others were
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n - 1) c[i] = a[i] + b[i];
}
