/* SPDX-License-Identifier: MIT */
// what: four numbers at once, and none of the rest
// expect: something done for several numbers at once
__kernel void my_vector_add(__global const float *a, __global const float *b, __global float *c, const int n)
{
    const int i = 4 * get_global_id(0);
    if (i + 3 < n)
        vstore4(vload4(0, a + i) + vload4(0, b + i), 0, c + i);
}
