/* SPDX-License-Identifier: MIT */
// what: subtracts
// expect: c is a - b, where it should be a + b
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n) c[i] = a[i] - b[i];
}
