/* SPDX-License-Identifier: MIT */
// what: the partner's sums are half_size places on, and lie twice as far
// expect: this is one level
__kernel void my_norm(__global const float *x, __global float *y, __local float *scratch, const int width,
                      const float eps)
{
    const int me = get_local_id(0), size = get_local_size(0);
    __global const float *row = x + get_group_id(0) * width;
    const float origin = row[0];
    float sum = 0.0f, squares = 0.0f;

    for (int i = me; i < width; i += size) {
        const float d = row[i] - origin;
        sum += d;
        squares += d * d;
    }

    scratch[2 * me] = sum;
    scratch[2 * me + 1] = squares;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = size / 2; half_size > 0; half_size /= 2) {
        if (me < half_size) {
            scratch[2 * me] += scratch[2 * me + half_size];
            scratch[2 * me + 1] += scratch[2 * me + 1 + half_size];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    const float mean = scratch[0] / width, variance = scratch[1] / width - mean * mean;
    const float scale = rsqrt(variance + eps);
    for (int i = me; i < width; i += size) y[get_group_id(0) * width + i] = (row[i] - origin - mean) * scale;
}
