/* SPDX-License-Identifier: MIT */
/*
 * vector: element by element. A work-item has STRETCH elements; the last one fewer. x: number of the stretch.
 */
#define FOR_STRETCH(i, count) \
    for (ulong i = get_global_id(0) * (ulong)STRETCH, end_ = min((ulong)(count), i + STRETCH); i < end_; i++)

__kernel void sum(SLICE(float, into), SLICE(const float, from), const ulong count)
{
    __global float *restrict a = OPEN(into);
    __global const float *restrict b = OPEN(from);

    FOR_STRETCH(i, count) a[i] += b[i];
}

__kernel void relu(SLICE(const float, x), SLICE(float, y), const ulong count)
{
    FOR_STRETCH(i, count)
    {
        const float value = OPEN(x)[i];
        OPEN(y)[i] = value < 0.0f ? 0.0f : value;
    }
}

__kernel void relu_back(SLICE(const float, dy), SLICE(const float, y), SLICE(float, dx), const ulong count)
{
    FOR_STRETCH(i, count) OPEN(dx)[i] = OPEN(y)[i] > 0.0f ? OPEN(dy)[i] : 0.0f;
}

/* x: a stretch of the weights, of which there are `count`: partial sums are added up, in order. */
__kernel void add_splits(SLICE(const float, parts), SLICE(float, dweight), const int splits, const int count)
{
    const int first = get_global_id(0) * STRETCH, end = min(count, first + STRETCH);
    __global const float *from = OPEN(parts);
    __global float *to = OPEN(dweight);

    for (int i = first; i < end; i++) to[i] = from[i];
    for (int part = 1; part < splits; part++)
        for (int i = first; i < end; i++) to[i] += from[(size_t)part * count + i];
}
