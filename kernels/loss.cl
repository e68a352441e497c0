/* SPDX-License-Identifier: MIT */
/*
 * loss: the bias of the last layer, and softmax cross-entropy. Logits are (N, K, 1, 1): K blocks of images in a row.
 *
 *      loss = log(sum of exp(logit - largest)) - (logit of the label - largest)
 *      dlogit[k] = scale * (exp(logit[k] - largest) / sum - (k is the label))
 *
 * With smoothing e the label's share is 1 - e + e / K instead of 1, that of every other class e / K instead of 0:
 *
 *      loss = log(sum of exp(logit - largest)) - sum of share[k] * (logit[k] - largest)
 */

/* y[n][k] = bias[k], for a convolution to be added to. x: lanes, y: channel, z: block. */
__kernel void bias_spread(SLICE(const float, bias), SLICE(float, y), const shape_image s)
{
    const int lane = get_global_id(0) * SPAN, k = get_global_id(1), block = get_global_id(2);
    __global float *out = OPEN(y) + ((size_t)block * STORED(s.channels) + k) * BLOCK + lane;
    const float value = OPEN(bias)[k];

    for (int v = 0; v < SPAN; v += LANES) store(out + v, keep_images((vec)value, block * BLOCK + lane + v, s.n));
}

/* dbias[k] = sum over n of dy[n][k]. x: channel. */
__kernel void bias_back(SLICE(const float, dy), SLICE(float, dbias), const shape_image s)
{
    const int k = get_global_id(0);
    vec sum = 0.0f;

    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < BLOCK; i += LANES)
            sum += load(OPEN(dy) + ((size_t)block * STORED(s.channels) + k) * BLOCK + i);
    OPEN(dbias)[k] = sum_lanes(sum);
}

/* x: image. Its loss and whether it was right go into found[2n] and found[2n+1]; dlogits only if asked for. */
__kernel void cross_entropy(SLICE(const float, logits), SLICE(const int, labels), SLICE(float, dlogits),
                            SLICE(float, found), const shape_image s, const float scale, const int has_gradient,
                            const float smoothing)
{
    const int n = get_global_id(0), label = n < s.n ? OPEN(labels)[n] : 0;
    const size_t at = (size_t)(n / BLOCK) * STORED(s.channels) * BLOCK + n % BLOCK;
    __global const float *in = OPEN(logits) + at;
    const bool known = label >= 0 && label < s.channels;
    const float other = smoothing / s.channels, own = 1.0f - smoothing + other;
    float most = in[0], sum = 0.0f, below = 0.0f;
    int best = 0;

    for (int k = 1; k < s.channels; k++)
        if (in[k * BLOCK] > most || isnan(in[k * BLOCK])) most = in[k * BLOCK], best = k;
    for (int k = 0; k < s.channels; k++) sum += exp(in[k * BLOCK] - most);
    for (int k = 0; k < s.channels && has_gradient; k++) {
        const float share = exp(in[k * BLOCK] - most) / sum - (k == label ? own : other);
        OPEN(dlogits)[at + k * BLOCK] = n < s.n ? scale * (known ? share : NAN) : 0.0f;
    }
    if (n >= s.n) return;
    for (int k = 0; k < s.channels && smoothing > 0.0f; k++) below += in[k * BLOCK] - most;
    const float at_label = known ? in[label * BLOCK] - most : NAN;
    OPEN(found)[2 * n] = log(sum) - (smoothing > 0.0f ? (1.0f - smoothing) * at_label + other * below : at_label);
    OPEN(found)[2 * n + 1] = best == label ? 1.0f : 0.0f;
}

/* result += the sum over the images, in order. One work-item. */
__kernel void cross_entropy_sum(SLICE(const float, found), SLICE(float, result), const int n)
{
    float loss = 0.0f, correct = 0.0f;

    for (int i = 0; i < n; i++) {
        loss += OPEN(found)[2 * i];
        correct += OPEN(found)[2 * i + 1];
    }
    OPEN(result)[0] += loss;
    OPEN(result)[1] += correct;
}
