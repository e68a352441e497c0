/* SPDX-License-Identifier: MIT */
// what: one work-item of all writes, not one of each group
// expect: only group 0 has written its sum
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;

    const int share = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * share;
    for (int i = first; i < min(first + share, n); i++) sum += x[i];

    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (me < half_size) scratch[me] += scratch[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (get_global_id(0) == 0) partial[get_group_id(0)] = scratch[0];
}
