/* SPDX-License-Identifier: MIT */
// what: a tap outside ends the loop over the columns
// expect: the loop over the columns ends
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
        for (int dy = -1; dy <= 1; dy++) {
            const int row = y + dy;
            if (row < 0 || row >= height) continue;
            for (int dx = -1; dx <= 1; dx++) {
                const int column = x + dx, tap = 3 * (dy + 1) + dx + 1;
                if (column < 0 || column >= width) break;
                const float pixel = in[(c * height + row) * width + column];
                for (int o = 0; o < CHANNELS; o++)
                    sum[o] += pixel * weight[(min(first + o, outputs - 1) * channels + c) * 9 + tap];
            }
        }

    for (int o = 0; o < CHANNELS && first + o < outputs; o++) out[((first + o) * height + y) * width + x] = sum[o];
}
