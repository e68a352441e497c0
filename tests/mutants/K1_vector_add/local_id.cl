/* SPDX-License-Identifier: MIT */
// what: the place in the group for the place in all
// expect: A race
// expect: Groups run in any order
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_local_id(0);

    if (i < n) c[i] = a[i] + b[i];
}
