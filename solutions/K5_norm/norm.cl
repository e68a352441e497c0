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
    // stub: (void)row, (void)origin, (void)width;
    for (int i = me; i < width; i += size) {
        const float d = row[i] - origin;
        sum += d;
        squares += d * d;
    }
    // END TODO

    // TODO: both sums of the group, in scratch, as trees.
    // stub: (void)scratch, (void)size, (void)sum, (void)squares;
    scratch[me] = sum;
    scratch[size + me] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (me < half_size) {
            scratch[me] += scratch[me + half_size];
            scratch[size + me] += scratch[size + me + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    // END TODO

    // TODO: mean and variance from them; then the second pass: y.
    // stub: (void)y, (void)me, (void)eps;
    const float mean = scratch[0] / width, variance = scratch[size] / width - mean * mean;
    const float scale = rsqrt(variance + eps);
    for (int i = me; i < width; i += size) y[get_group_id(0) * width + i] = (row[i] - origin - mean) * scale;
    // END TODO
}
