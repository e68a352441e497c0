/* SPDX-License-Identifier: MIT */
/*
 * norm: batch norm with what follows it. Sums over the batch are made in two steps: `chunks` work-items for each tile
 * of channels have a range of positions each, then one work-item for each channel adds up the chunks, in order.
 *
 * What is saved for a layer, C floats each:
 *      mean, inverse     of the batch (or the running ones): 1 / sqrt(variance + eps)
 *      scale, shift      y = (x - mean) * scale + shift:  scale = gamma * inverse, shift = beta
 *      slope, offset     dx = dz * scale + (x - mean) * slope + offset (norm_back_finish says why)
 *      parts             chunks * 2 * C: the partial sums
 */
/* Channels of a tile of sums. On a CPU as many as the first-level cache holds sums of, so that memory is read in long
 * runs: what the forward pass has left there is no longer in a cache. */
#if LANES == 1
#define CHANNELS 1
#else
#define CHANNELS 64
#endif

enum { MEAN, INVERSE, SCALE, SHIFT, SLOPE, OFFSET, PARTS };

inline int chunk_start(int chunk, const shape_norm s)
{
    return (int)((long)s.blocks * s.positions * chunk / s.chunks);
}

/* Elements of a channel in this chunk. */
inline int chunk_count(int chunk, const shape_norm s)
{
    int count = 0;

    for (int at = chunk_start(chunk, s), end = chunk_start(chunk + 1, s); at < end;) {
        const int block = at / s.positions, next = min(end, (block + 1) * s.positions);
        count += (next - at) * min(BLOCK, s.n - block * BLOCK);
        at = next;
    }
    return count;
}

/* Moments about the channel's first element, so that a large mean does not cost precision. x: tile of channels, y:
 * chunk. Writes the chunk's mean and its sum of squared distances from it, and in MEAN the element that both are
 * relative to. */
__kernel void norm_sums(SLICE(const float, x), SLICE(float, saved), const shape_norm s)
{
    const int c = get_global_id(0) * CHANNELS, channels = min(CHANNELS, s.channels - c), chunk = get_global_id(1);
    const int first = chunk_start(chunk, s), end = chunk_start(chunk + 1, s), stride = STORED(s.channels) * BLOCK;
    const float count = chunk_count(chunk, s);
    __global const float *in = OPEN(x) + c * BLOCK;
    __global float *parts = OPEN(saved) + (PARTS + chunk * 2) * s.channels + c;
    vec sum[CHANNELS], squares[CHANNELS];

    for (int t = 0; t < channels; t++) sum[t] = squares[t] = 0.0f;
    for (int at = first; at < end; at++)
        for (int t = 0; t < channels; t++)
            for (int i = 0; i < BLOCK; i += LANES) {
                const vec value = load(in + (size_t)at * stride + t * BLOCK + i);
                const vec d = keep_images(value - in[t * BLOCK], at / s.positions * BLOCK + i, s.n);
                sum[t] += d;
                squares[t] = MULTIPLY_ADD(d, d, squares[t]);
            }
    for (int t = 0; t < channels; t++) {
        const float total = sum_lanes(sum[t]);
        if (chunk == 0) OPEN(saved)[MEAN * s.channels + c + t] = in[t * BLOCK];
        parts[t] = total / count;
        parts[s.channels + t] = sum_lanes(squares[t]) - total * total / count;
    }
}

inline void save_line(__global float *saved, int c, int channels, float mean, float inverse, float gamma, float beta)
{
    saved[MEAN * channels + c] = mean;
    saved[INVERSE * channels + c] = inverse;
    saved[SCALE * channels + c] = gamma * inverse;
    saved[SHIFT * channels + c] = beta;
}

/* Chunks combined as Chan, Golub and LeVeque (1979) do. x: channel. */
__kernel void norm_finish(SLICE(float, saved), SLICE(const float, gamma), SLICE(const float, beta),
                          SLICE(float, running_mean), SLICE(float, running_var), const shape_norm s)
{
    const int c = get_global_id(0);
    __global float *mine = OPEN(saved), *parts = mine + PARTS * s.channels + c;
    __global float *mean_so_far = OPEN(running_mean) + c, *var_so_far = OPEN(running_var) + c;
    float mean = 0.0f, squares = 0.0f, count = 0.0f;

    for (int chunk = 0; chunk < s.chunks; chunk++, parts += 2 * s.channels) {
        const float more = chunk_count(chunk, s), distance = parts[0] - mean, all = count + more;
        mean += distance * (more / all);
        squares += parts[s.channels] + distance * distance * (count * more / all);
        count = all;
    }
    mean += mine[MEAN * s.channels + c];
    if (count > 1.0f) { /* one value has no variance: the running statistics stay */
        *mean_so_far = (1.0f - s.momentum) * *mean_so_far + s.momentum * mean;
        *var_so_far = (1.0f - s.momentum) * *var_so_far + s.momentum * (squares / (count - 1.0f));
    }
    save_line(mine, c, s.channels, mean, 1.0f / sqrt(squares / count + s.eps), OPEN(gamma)[c], OPEN(beta)[c]);
}

/* Frozen: the running statistics. x: channel. */
__kernel void norm_freeze(SLICE(float, saved), SLICE(const float, gamma), SLICE(const float, beta),
                          SLICE(const float, running_mean), SLICE(const float, running_var), const shape_norm s)
{
    const int c = get_global_id(0);

    save_line(OPEN(saved), c, s.channels, OPEN(running_mean)[c], 1.0f / sqrt(OPEN(running_var)[c] + s.eps),
              OPEN(gamma)[c], OPEN(beta)[c]);
}

/* What the norm gives, before residual and ReLU; `line` is the channel's in `saved`. */
inline vec normalise(vec x, __global const float *line, int channels)
{
    return MULTIPLY_ADD(x - line[MEAN * channels], (vec)line[SCALE * channels], (vec)line[SHIFT * channels]);
}

/* The gradient that came through the ReLU behind the norm: where the norm gave more than 0. */
inline vec through_relu(vec dy, vec x, __global const float *line, int channels)
{
    return select((vec)0.0f, dy, normalise(x, line, channels) > 0.0f);
}

/* x: lanes, y: position; goes through the channels. */
__kernel void norm_apply(SLICE(const float, x), SLICE(const float, saved), SLICE(const float, residual),
                         SLICE(float, y), const shape_norm s, const int has_residual)
{
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1);
    const int image = position / s.positions * BLOCK + lane;
    const size_t at = (size_t)position * STORED(s.channels) * BLOCK + lane;
    __global const float *in = OPEN(x) + at, *other = OPEN(residual) + at, *line = OPEN(saved);
    __global float *out = OPEN(y) + at;

    for (int c = 0; c < s.channels; c++, line++)
        for (int v = 0; v < SPAN; v += LANES) {
            vec value = normalise(load(in + c * BLOCK + v), line, s.channels);
            if (has_residual) value += load(other + c * BLOCK + v);
            if (s.relu) value = select(value, (vec)0.0f, value < 0.0f);
            store(out + c * BLOCK + v, keep_images(value, image + v, s.n));
        }
}

/* Sums of dz and of dz * (x - mean); dz is dy as it came through the ReLU. Where a residual was added before the ReLU,
 * the sign is that of the sum, y, and dz is kept, for the other branch and for norm_back_apply.
 * x: tile of channels, y: chunk. */
__kernel void norm_back_sums(SLICE(const float, dy), SLICE(const float, x), SLICE(const float, y), SLICE(float, dz),
                             SLICE(float, saved), const shape_norm s, const int has_residual)
{
    const int c = get_global_id(0) * CHANNELS, channels = min(CHANNELS, s.channels - c), chunk = get_global_id(1);
    const int first = chunk_start(chunk, s), end = chunk_start(chunk + 1, s), stride = STORED(s.channels) * BLOCK;
    __global float *mine = OPEN(saved) + c, *parts = mine + (PARTS + chunk * 2) * s.channels;
    vec sum[CHANNELS], products[CHANNELS];

    for (int t = 0; t < channels; t++) sum[t] = products[t] = 0.0f;
    for (int position = first; position < end; position++)
        for (int t = 0; t < channels; t++)
            for (int i = 0; i < BLOCK; i += LANES) {
                const size_t here = (size_t)position * stride + (c + t) * BLOCK + i;
                const vec value = load(OPEN(x) + here);
                vec d = load(OPEN(dy) + here);
                if (has_residual) {
                    if (s.relu) d = select((vec)0.0f, d, load(OPEN(y) + here) > 0.0f);
                    store(OPEN(dz) + here, d);
                } else if (s.relu)
                    d = through_relu(d, value, mine + t, s.channels);
                sum[t] += d;
                products[t] = MULTIPLY_ADD(d, value - mine[MEAN * s.channels + t], products[t]);
            }
    for (int t = 0; t < channels; t++) {
        parts[t] = sum_lanes(sum[t]);
        parts[s.channels + t] = sum_lanes(products[t]);
    }
}

/* In the forward pass, with m elements of a channel:  y = scale * (x - mean(x)) + beta, scale = gamma / std(x).
 *      dbeta  = sum dz
 *      dgamma = sum dz * (x - mean) / std
 *      dx     = scale * (dz - sum dz / m - (x - mean) / std^2 * sum(dz * (x - mean)) / m)
 * and with frozen statistics dx = scale * dz. x: channel. */
__kernel void norm_back_finish(SLICE(float, saved), SLICE(float, dgamma), SLICE(float, dbeta), const shape_norm s)
{
    const int c = get_global_id(0);
    __global float *mine = OPEN(saved) + c, *parts = mine + PARTS * s.channels;
    const float scale = mine[SCALE * s.channels], inverse = mine[INVERSE * s.channels];
    const float m = (float)s.n * s.positions;
    float sum = 0.0f, products = 0.0f;

    for (int chunk = 0; chunk < s.chunks; chunk++, parts += 2 * s.channels) {
        sum += parts[0];
        products += parts[s.channels];
    }
    OPEN(dbeta)[c] = sum;
    OPEN(dgamma)[c] = products * inverse;
    mine[SLOPE * s.channels] = s.frozen ? 0.0f : -scale * inverse * inverse * products / m;
    mine[OFFSET * s.channels] = s.frozen ? 0.0f : -scale * sum / m;
}

/* s.relu: dy still has to come through the ReLU. x: lanes, y: position; goes through the channels. */
__kernel void norm_back_apply(SLICE(const float, dy), SLICE(const float, x), SLICE(const float, saved),
                              SLICE(float, dx), const shape_norm s)
{
    const int lane = get_global_id(0) * SPAN, position = get_global_id(1);
    const int image = position / s.positions * BLOCK + lane;
    const size_t at = (size_t)position * STORED(s.channels) * BLOCK + lane;
    __global const float *d = OPEN(dy) + at, *in = OPEN(x) + at, *mine = OPEN(saved);
    __global float *out = OPEN(dx) + at;

    for (int c = 0; c < s.channels; c++, mine++)
        for (int v = 0; v < SPAN; v += LANES) {
            const vec value = load(in + c * BLOCK + v);
            vec dz = load(d + c * BLOCK + v);
            if (s.relu) dz = through_relu(dz, value, mine, s.channels);
            dz = MULTIPLY_ADD(value - mine[MEAN * s.channels], (vec)mine[SLOPE * s.channels],
                              dz * mine[SCALE * s.channels] + mine[OFFSET * s.channels]);
            store(out + c * BLOCK + v, keep_images(dz, image + v, s.n));
        }
}
