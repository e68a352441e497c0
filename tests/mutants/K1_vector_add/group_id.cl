/* SPDX-License-Identifier: MIT */
// what: one element for each group
// expect: A race
// expect: written
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_group_id(0);

    if (i < n) c[i] = a[i] + b[i];
}
