/* SPDX-License-Identifier: MIT */
/*
 * K2_sum: a group adds up in local memory, as a tree. The page is README.md in this folder.
 *
 *      make test EX=K2
 */
__kernel void my_sum(__global const float *x, __global float *partial, __local float *scratch, const int n)
{
    const int me = get_local_id(0), size = get_local_size(0);
    float sum = 0.0f;

    // TODO: this work-item's share of x, of which there may be more or less than work-items.
    // stub: (void)x, (void)n;
    const int share = (n + get_global_size(0) - 1) / get_global_size(0), first = get_global_id(0) * share;
    for (int i = first; i < min(first + share, n); i++) sum += x[i];
    // END TODO

    // TODO: the sums of the group's work-items, in scratch, as a tree: half of them add the other half's, then a quarter ...
    // stub: (void)scratch, (void)size, (void)sum;
    scratch[me] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (me < half_size) scratch[me] += scratch[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    // END TODO

    // TODO: one of them writes the group's sum.
    // stub: (void)me, (void)partial;
    if (me == 0) partial[get_group_id(0)] = scratch[0];
    // END TODO
}
