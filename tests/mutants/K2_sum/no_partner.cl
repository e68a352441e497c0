/* SPDX-License-Identifier: MIT */
// what: a step that grows, and one work-item too many in each level
// expect: only those add whose partner is there
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) sum += x[i];
    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int step = 1; step < size; step *= 2) {
        if (me % step == 0) scratch[me] += scratch[me + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0) partial[get_group_id(0)] = scratch[0];
}
