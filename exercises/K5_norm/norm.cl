/* SPDX-License-Identifier: MIT */
/*
 * K5_norm: mean and variance in one pass. The page is README.md in this folder.
 *
 *      make test EX=K5
 */
__kernel void my_norm(__global const float *x, __global float *y, __local float *scratch, const int width,
                      const float eps)
{
    const int me = get_local_id(0), size = get_local_size(0);
    __global const float *row = x + get_group_id(0) * width;
    const float origin = row[0];
    float sum = 0.0f, squares = 0.0f;

    // TODO: the first pass: the sum of row[i] - origin and the sum of its square, of this work-item's share of the row.
    (void)row, (void)origin, (void)width;
    // END TODO

    // TODO: both sums of the group, in scratch, as trees.
    (void)scratch, (void)size, (void)sum, (void)squares;
    // END TODO

    // TODO: mean and variance from them; then the second pass: y.
    (void)y, (void)me, (void)eps;
    // END TODO
}
