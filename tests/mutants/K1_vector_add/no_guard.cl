/* SPDX-License-Identifier: MIT */
// what: writes behind the end
// expect: In line
// expect: of group
// expect: and there are 1000 elements, from 0 to 999
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = get_global_id(0);

    c[i] = a[i] + b[i];
}
