/* SPDX-License-Identifier: MIT */
// what: origin is added to the mean before its square is subtracted
// expect: Is the variance negative everywhere
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

    const float mean = origin + scratch[0] / width;
    const float variance = scratch[size] / width - mean * mean;
    for (int i = me; i < width; i += size) y[get_group_id(0) * width + i] = (row[i] - mean) / sqrt(variance + eps);
}
