/* SPDX-License-Identifier: MIT */
// what: one work-item in each group works
// expect: elements of c were not written
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n && get_local_id(0) == 0) c[i] = a[i] + b[i];
}
