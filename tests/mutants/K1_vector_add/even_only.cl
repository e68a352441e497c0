/* SPDX-License-Identifier: MIT */
// what: two elements for each work-item, and as many work-items
// expect: reads a[
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = 2 * get_global_id(0);

    if (i < n) c[i] = a[i] + b[i], c[i + 1] = a[i + 1] + b[i + 1];
}
