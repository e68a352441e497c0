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
    (void)x, (void)n;
    // END TODO

    // TODO: the sums of the group's work-items, in scratch, as a tree: half of them add the other half's, then a quarter ...
    (void)scratch, (void)size, (void)sum;
    // END TODO

    // TODO: one of them writes the group's sum.
    (void)me, (void)partial;
    // END TODO
}
