/* SPDX-License-Identifier: MIT */
// what: every work-item adds all elements
// expect: A race
// expect: each place belongs to one work-item
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    for (int k = 0; k < n && i < n; k++) c[k] = a[k] + b[k];
}
