/* SPDX-License-Identifier: MIT */
// what: one work-item adds up the whole group
// expect: One work-item reads scratch
// expect: does one work-item add up what 64 have?
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;

    const int share = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * share;
    for (int i = first; i < min(first + share, n); i++) sum += x[i];

    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 1; i < size && me == 0; i++) scratch[0] += scratch[i];

    if (me == 0) partial[get_group_id(0)] = scratch[0];
}
