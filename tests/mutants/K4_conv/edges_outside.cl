/* SPDX-License-Identifier: MIT */
// what: row 0 and column 0 are taken to be outside
// expect: as if they were outside: row 0, column 0
#define CHANNELS 4

__kernel void my_conv(__global const float *in, __global const float *weight, __global float *out, const int channels,
                      const int outputs, const int height, const int width)
{
    const int x = get_global_id(0), y = get_global_id(1) % height, first = get_global_id(1) / height * CHANNELS;
    float sum[CHANNELS];

    if (x >= width || first >= outputs) return;
    for (int o = 0; o < CHANNELS; o++) sum[o] = 0.0f;

    // weights of CHANNELS outputs.
    for (int c = 0; c < channels; c++)
        for (int tap = 0; tap < 9; tap++) {
            const int row = y + tap / 3 - 1, column = x + tap % 3 - 1;
            if (row < 1 || row >= height || column < 1 || column >= width) continue;
            const float pixel = in[(c * height + row) * width + column];
            for (int o = 0; o < CHANNELS; o++)
                sum[o] += pixel * weight[(min(first + o, outputs - 1) * channels + c) * 9 + tap];
        }

    for (int o = 0; o < CHANNELS && first + o < outputs; o++) out[((first + o) * height + y) * width + x] = sum[o];
}
