/* SPDX-License-Identifier: MIT */
#include "bench/util/elements.h"

#include <string.h>

static bool is_half(enum dtype dtype)
{
    return dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

/* Sums that no type rounds: with 16 bits that is one number, and zeros. */
static double put_in(enum dtype dtype, enum op op, int j, int rank, int ranks)
{
    int turn = (rank + j) % ranks;

    if (op == OP_PROD) return turn == 0 ? 2 + j % 3 : 1;
    if (is_half(dtype)) return turn == 0 ? j % 17 : 0;
    return j % 17 + turn;
}

static double come_out_half(enum op op, int j, int ranks)
{
    if (op == OP_PROD) return 2 + j % 3;
    if (op == OP_MIN && ranks > 1) return 0;
    return op == OP_MEAN ? j % 17 / (double)ranks : j % 17;
}

static double come_out(enum dtype dtype, enum op op, int j, int ranks)
{
    double n = ranks, least = j % 17, greatest = least + n - 1;
    bool wraps = dtype == DTYPE_U8 && greatest > UINT8_MAX; /* then 255 and 0 are both among them */

    if (is_half(dtype)) return come_out_half(op, j, ranks);
    switch (op) {
    case OP_SUM: return n * least + n * (n - 1) / 2;
    case OP_MEAN: return least + (n - 1) / 2;
    case OP_MIN: return wraps ? 0 : least;
    case OP_MAX: return wraps ? UINT8_MAX : greatest;
    case OP_PROD: return 2 + j % 3;
    }
    return 0;
}

static void store(unsigned char *block, enum dtype dtype, int j, double value)
{
    switch (dtype) {
    case DTYPE_F32: ((float *)(void *)block)[j] = (float)value; break;
    case DTYPE_F64: ((double *)(void *)block)[j] = value; break;
    case DTYPE_I32: ((int32_t *)(void *)block)[j] = (int32_t)value; break;
    case DTYPE_I64: ((int64_t *)(void *)block)[j] = (int64_t)value; break;
    case DTYPE_U8: block[j] = (uint8_t)(int64_t)value; break;
    case DTYPE_F16:
    case DTYPE_BF16: dtype_from_f32(block + 2 * (size_t)j, &(float){(float)value}, 1, dtype); break;
    }
}

void elements_init(elements *e, enum dtype dtype, enum op op, int rank, int ranks)
{
    e->size = dtype_size(dtype);
    for (int j = 0; j < ELEMENTS_PERIOD; j++) {
        store(e->in, dtype, j, put_in(dtype, op, j, rank, ranks));
        store(e->out, dtype, j, come_out(dtype, op, j, ranks));
    }
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

void elements_fill(const elements *e, void *buf, size_t count)
{
    size_t bytes = count * e->size, period = ELEMENTS_PERIOD * e->size;

    for (size_t at = 0; at < bytes; at += period) memcpy((char *)buf + at, e->in, least(period, bytes - at));
}

static size_t count_wrong(const elements *e, const unsigned char *got, size_t bytes)
{
    size_t wrong = 0;

    if (memcmp(got, e->out, bytes) == 0) return 0;
    for (size_t at = 0; at < bytes; at += e->size) wrong += memcmp(got + at, e->out + at, e->size) != 0;
    return wrong;
}

size_t elements_wrong(const elements *e, const void *buf, size_t count)
{
    size_t bytes = count * e->size, period = ELEMENTS_PERIOD * e->size, wrong = 0;

    for (size_t at = 0; at < bytes; at += period)
        wrong += count_wrong(e, (const unsigned char *)buf + at, least(period, bytes - at));
    return wrong;
}
