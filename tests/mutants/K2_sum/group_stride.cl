/* SPDX-License-Identifier: MIT */
// what: goes on in steps of a group
// expect: each goes on in steps of 64
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;

    for (int i = get_global_id(0); i < n; i += size) sum += x[i];

    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (me < half_size) scratch[me] += scratch[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (me == 0) partial[get_group_id(0)] = scratch[0];
}
