/* SPDX-License-Identifier: MIT */
// what: the sums go on behind the row, what is written does not
// expect: lies behind the last row
__kernel void my_norm(__global const float *x, __global float *y, __local float *scratch, const int width,
                      const float eps)
{
    const int me = get_local_id(0), size = get_local_size(0);
    __global const float *row = x + get_group_id(0) * width;
    const float origin = row[0];
    float sum = 0.0f, squares = 0.0f;

    const int share = (width + size - 1) / size, first = me * share;
    for (int i = first; i < first + share; i++) {
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

    const float mean = scratch[0] / width, variance = scratch[size] / width - mean * mean;
    const float scale = rsqrt(variance + eps);
    for (int i = first; i < min(width, first + share); i++)
        y[get_group_id(0) * width + i] = (row[i] - origin - mean) * scale;
}
