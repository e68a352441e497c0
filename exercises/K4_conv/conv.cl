/* SPDX-License-Identifier: MIT */
/*
 * K4_conv: a pixel that has been loaded serves CHANNELS output planes: the rung "reuse" of kernels/ladder. The page is
 * README.md in this folder.
 *
 *      make test EX=K4
 */
#define CHANNELS 4

__kernel void my_conv(__global const float *in, __global const float *weight, __global float *out, const int channels,
                      const int outputs, const int height, const int width)
{
    const int x = get_global_id(0), y = get_global_id(1) % height, first = get_global_id(1) / height * CHANNELS;
    float sum[CHANNELS];

    if (x >= width || first >= outputs) return;
    for (int o = 0; o < CHANNELS; o++) sum[o] = 0.0f;

    // TODO: for each channel and each of the 3 x 3 taps: the pixel, if it is inside, is loaded once and multiplied by the
    // weights of CHANNELS outputs.
    (void)in, (void)weight, (void)channels, (void)y;
    // END TODO

    // TODO: the sums to their planes, as far as there are any.
    (void)out, (void)sum;
    // END TODO
}
