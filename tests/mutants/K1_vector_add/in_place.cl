/* SPDX-License-Identifier: MIT */
// what: the sum is put into a
// expect: a has changed: it is only to be read. Results belong in c.
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n) ((__global float *)a)[i] = a[i] + b[i], c[i] = a[i];
}
