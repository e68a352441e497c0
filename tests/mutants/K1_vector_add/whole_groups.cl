/* SPDX-License-Identifier: MIT */
// what: the tail, less than a group, is forgotten
// expect: c[960] to c[999], the last 40 of 1000, were not written
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    if (i < n / (int)get_local_size(0) * (int)get_local_size(0)) c[i] = a[i] + b[i];
}
