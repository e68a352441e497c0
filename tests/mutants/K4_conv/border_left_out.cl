/* SPDX-License-Identifier: MIT */
// what: work-items on the border return
// expect: The pixels on the border were not written
#define CHANNELS 4

__kernel void my_conv(__global const float *in, __global const float *weight, __global float *out, const int channels,
                      const int outputs, const int height, const int width)
{
    const int x = get_global_id(0), y = get_global_id(1) % height, first = get_global_id(1) / height * CHANNELS;
    float sum[CHANNELS];

    if (x >= width || first >= outputs) return;
    for (int o = 0; o < CHANNELS; o++) sum[o] = 0.0f;
    if (y == 0 || y == height - 1 || x == 0 || x == width - 1) return;
    for (int c = 0; c < channels; c++)
        for (int t = 0; t < 9; t++) {
            int row = y + t / 3 - 1, column = x + t % 3 - 1;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            float pixel = in[(c * height + row) * width + column];
            for (int o = 0; o < CHANNELS; o++)
                if (first + o < outputs) sum[o] += pixel * weight[((first + o) * channels + c) * 9 + t];
        }
    for (int o = 0; o < CHANNELS && first + o < outputs; o++) out[((first + o) * height + y) * width + x] = sum[o];
}
