/* SPDX-License-Identifier: MIT */
// what: the beginning of a group is counted twice
// expect: was the beginning of a group counted twice
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_group_id(0) * get_local_size(0) + get_global_id(0);
    if (i < n) c[i] = a[i] + b[i];
}
