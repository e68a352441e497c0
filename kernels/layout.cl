/* SPDX-License-Identifier: MIT */
/*
 * layout: between plain (N, C, H, W) and blocks of images. A work-item has a pixel (position = block, row, column) and
 * its lanes, and goes through the channels.
 */
__kernel void from_nchw(SLICE(const float, nchw), SLICE(float, x), const shape_image s)
{
    const int pixels = s.height * s.width;
    const int position = get_global_id(1), block = position / pixels, pixel = position % pixels;
    const int lane = get_global_id(0) * SPAN;
    __global const float *from = OPEN(nchw);
    __global float *to = OPEN(x) + (size_t)position * STORED(s.channels) * BLOCK + lane;

    for (int c = 0; c < s.channels; c++)
        for (int i = 0; i < SPAN; i++) {
            const int image = block * BLOCK + lane + i;
            to[c * BLOCK + i] = image < s.n ? from[((size_t)image * s.channels + c) * pixels + pixel] : 0.0f;
        }
}

__kernel void to_nchw(SLICE(float, nchw), SLICE(const float, x), const shape_image s)
{
    const int pixels = s.height * s.width;
    const int position = get_global_id(1), block = position / pixels, pixel = position % pixels;
    const int lane = get_global_id(0) * SPAN;
    __global const float *from = OPEN(x) + (size_t)position * STORED(s.channels) * BLOCK + lane;
    __global float *to = OPEN(nchw);

    for (int c = 0; c < s.channels; c++)
        for (int i = 0; i < SPAN; i++) {
            const int image = block * BLOCK + lane + i;
            if (image < s.n) to[((size_t)image * s.channels + c) * pixels + pixel] = from[c * BLOCK + i];
        }
}
