/* SPDX-License-Identifier: MIT */
/*
 * Rung 1, loops: convolution as it is written down: tensors lie as (N, C, H, W), a work-item has one result and adds up
 * its products one by one. Each tap is asked whether it is inside the image.
 *
 * Why it is slow: one number at a time, where the device could compute 8 or 16; a comparison and a multiplication for
 * the address with every product; and each addition waits for the one before.
 */
inline bool is_inside(int row, int column, int height, int width)
{
    return row >= 0 && row < height && column >= 0 && column < width;
}

/* x: column, y: row, z: image and output channel. */
__kernel void loops_forward(SLICE(const float, x), SLICE(const float, weight), SLICE(float, y), const shape_weight s)
{
    const int q = get_global_id(0), p = get_global_id(1), n = get_global_id(2) / s.out_channels,
              k = get_global_id(2) % s.out_channels;
    float sum = 0.0f;

    for (int c = 0; c < s.in_channels; c++)
        for (int r = 0; r < s.size; r++)
            for (int t = 0; t < s.size; t++) {
                const int row = p * s.stride + r - s.padding, column = q * s.stride + t - s.padding;
                if (is_inside(row, column, s.in_height, s.in_width))
                    sum += OPEN(x)[((n * s.in_channels + c) * s.in_height + row) * s.in_width + column] *
                           OPEN(weight)[((k * s.in_channels + c) * s.size + r) * s.size + t];
            }
    OPEN(y)[((n * s.out_channels + k) * s.out_height + p) * s.out_width + q] = sum;
}

/* x: column, y: row, z: image and input channel: everything that this pixel was multiplied into. */
__kernel void loops_input(SLICE(const float, dy), SLICE(const float, weight), SLICE(float, dx), const shape_weight s)
{
    const int column = get_global_id(0), row = get_global_id(1), n = get_global_id(2) / s.in_channels,
              c = get_global_id(2) % s.in_channels;
    float sum = 0.0f;

    for (int k = 0; k < s.out_channels; k++)
        for (int r = 0; r < s.size; r++)
            for (int t = 0; t < s.size; t++) {
                const int up = row + s.padding - r, left = column + s.padding - t, p = up / s.stride,
                          q = left / s.stride;
                if (up % s.stride == 0 && left % s.stride == 0 && is_inside(p, q, s.out_height, s.out_width))
                    sum += OPEN(dy)[((n * s.out_channels + k) * s.out_height + p) * s.out_width + q] *
                           OPEN(weight)[((k * s.in_channels + c) * s.size + r) * s.size + t];
            }
    OPEN(dx)[((n * s.in_channels + c) * s.in_height + row) * s.in_width + column] = sum;
}

/* x: tap, y: input channel, z: output channel: over all images and pixels. */
__kernel void loops_weight(SLICE(const float, x), SLICE(const float, dy), SLICE(float, dweight), const shape_weight s)
{
    const int r = get_global_id(0) / s.size, t = get_global_id(0) % s.size, c = get_global_id(1), k = get_global_id(2);
    float sum = 0.0f;

    for (int n = 0; n < s.n; n++)
        for (int p = 0; p < s.out_height; p++)
            for (int q = 0; q < s.out_width; q++) {
                const int row = p * s.stride + r - s.padding, column = q * s.stride + t - s.padding;
                if (is_inside(row, column, s.in_height, s.in_width))
                    sum += OPEN(x)[((n * s.in_channels + c) * s.in_height + row) * s.in_width + column] *
                           OPEN(dy)[((n * s.out_channels + k) * s.out_height + p) * s.out_width + q];
            }
    OPEN(dweight)[((k * s.in_channels + c) * s.size + r) * s.size + t] = sum;
}
