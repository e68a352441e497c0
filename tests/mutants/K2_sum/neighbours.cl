/* SPDX-License-Identifier: MIT */
// what: a tree of neighbours in which too many add
// expect: this is one level
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;

    const int share = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * share;
    for (int i = first; i < min(first + share, n); i++) sum += x[i];

    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 1; s < size; s *= 2) {
        if (me % s == 0 && me + s < size) scratch[me] += scratch[me + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    if (me == 0) partial[get_group_id(0)] = scratch[0];
}
