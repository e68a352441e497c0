/* SPDX-License-Identifier: MIT */
// what: a share of n / items, rounded down
// expect: rounded down to 0
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int share = n / get_global_size(0), first = get_global_id(0) * share;
    for (int i = first; i < first + share; i++) c[i] = a[i] + b[i];
}
