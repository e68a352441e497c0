/* SPDX-License-Identifier: MIT */
/*
 * update: PyTorch's optimisers, to the formula and in its order of operations (p: parameter, g: gradient):
 *
 *      SGD       g += decay * p;   v = momentum * v + g;               p -= lr * v   (without momentum: p -= lr * g)
 *      Nesterov  g += decay * p;   v = momentum * v + g;               p -= lr * (g + momentum * v)
 *      RMSProp   g += decay * p;   s = alpha * s + (1 - alpha) * g * g;      step = g / (sqrt(s) + eps)
 *                with momentum: v = momentum * v + step;  p -= lr * v        else p -= lr * step
 *      Adam      g += decay * p;   m = beta1 * m + (1 - beta1) * g;    v = beta2 * v + (1 - beta2) * g * g
 *                p -= step_size * m / (sqrt(v) / correction + eps)
 *                step_size = lr / (1 - beta1^step), correction = sqrt(1 - beta2^step)
 *      AdamW     p *= 1 - lr * decay, then Adam without decay
 *
 * A work-item has STRETCH elements; the last one fewer. No multiplication is fused with an addition (FP_CONTRACT OFF),
 * so that an element has the same bits in a vector's body, in its tail and on every rank.
 */
#define FOR_STRETCH(i, count) \
    for (ulong i = get_global_id(0) * (ulong)STRETCH, end_ = min((ulong)(count), i + STRETCH); i < end_; i++)

__kernel void sgd(SLICE(float, parameters), SLICE(const float, gradients), SLICE(float, velocities),
                  const shape_update o, const ulong count)
{
    __global float *restrict p = OPEN(parameters), *restrict v = OPEN(velocities);
    __global const float *restrict g = OPEN(gradients);

    if (o.momentum != 0.0f) {
        FOR_STRETCH(i, count)
        {
            v[i] = o.momentum * v[i] + (g[i] + o.weight_decay * p[i]);
            p[i] -= o.lr * v[i];
        }
    } else
        FOR_STRETCH(i, count) p[i] -= o.lr * (g[i] + o.weight_decay * p[i]);
}

__kernel void nesterov(SLICE(float, parameters), SLICE(const float, gradients), SLICE(float, velocities),
                       const shape_update o, const ulong count)
{
    __global float *restrict p = OPEN(parameters), *restrict v = OPEN(velocities);
    __global const float *restrict g = OPEN(gradients);

    FOR_STRETCH(i, count)
    {
        const float gradient = g[i] + o.weight_decay * p[i];
        v[i] = o.momentum * v[i] + gradient;
        p[i] -= o.lr * (gradient + o.momentum * v[i]);
    }
}

__kernel void rmsprop(SLICE(float, parameters), SLICE(const float, gradients), SLICE(float, squares),
                      SLICE(float, velocities), const shape_update o, const ulong count)
{
    __global float *restrict p = OPEN(parameters), *restrict s = OPEN(squares), *restrict v = OPEN(velocities);
    __global const float *restrict g = OPEN(gradients);

    FOR_STRETCH(i, count)
    {
        const float gradient = g[i] + o.weight_decay * p[i];
        s[i] = o.alpha * s[i] + o.rest_alpha * gradient * gradient;
        const float step = gradient / (sqrt(s[i]) + o.eps);
        if (o.momentum != 0.0f) {
            v[i] = o.momentum * v[i] + step;
            p[i] -= o.lr * v[i];
        } else
            p[i] -= o.lr * step;
    }
}

/* Adam with weight_decay and shrink 1, AdamW with 0 and 1 - lr * decay. */
__kernel void adam(SLICE(float, parameters), SLICE(const float, gradients), SLICE(float, means), SLICE(float, squares),
                   const shape_update o, const ulong count)
{
    __global float *restrict p = OPEN(parameters), *restrict m = OPEN(means), *restrict v = OPEN(squares);
    __global const float *restrict g = OPEN(gradients);

    FOR_STRETCH(i, count)
    {
        const float parameter = p[i] * o.shrink, gradient = g[i] + o.weight_decay * parameter;
        m[i] = o.beta1 * m[i] + o.rest1 * gradient;
        v[i] = o.beta2 * v[i] + o.rest2 * gradient * gradient;
        p[i] = parameter - o.step_size * (m[i] / (sqrt(v[i]) / o.correction + o.eps));
    }
}
