/* SPDX-License-Identifier: MIT */
/* Test data: the same numbers in the rank and in the judge. */
#include <math.h>

#include "exercises/check/check_internal.h"

/* A number that has nothing to do with its neighbours': every rank and every index has its own (splitmix64). */
static uint64_t scrambled(uint64_t x, size_t index)
{
    x += (uint64_t)index * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t draw(const check_case *c, int rank, size_t index, uint64_t salt)
{
    return scrambled(check_key(c, rank) + c->seed + salt + (uint64_t)(rank + 1) * UINT64_C(0xd1b54a32d192ed03), index);
}

static double small(uint64_t drawn)
{
    return (double)(drawn % 199) - 99;
}

double check_common(const check_case *c, size_t index)
{
    return small(scrambled(c->seed, index));
}

double check_value(const check_case *c, int rank, size_t index)
{
    return small(draw(c, rank, index, 0));
}

/* 24 bits before a point that is somewhere else each time: adding two of them nearly always rounds. */
double check_fraction(const check_case *c, int rank, size_t index)
{
    uint64_t drawn = draw(c, rank, index, 1);
    double whole = (double)(drawn % (1u << 24) | 1);
    int place = 12 + (int)(drawn >> 40) % 12;
    return ldexp(drawn >> 63 ? whole : -whole, -place);
}

void check_put(void *buf, size_t index, enum dtype dtype, double value)
{
    switch (dtype) {
    case DTYPE_F32: ((float *)buf)[index] = (float)value; break;
    case DTYPE_F64: ((double *)buf)[index] = value; break;
    case DTYPE_I32: ((int32_t *)buf)[index] = (int32_t)(int64_t)value; break;
    case DTYPE_I64: ((int64_t *)buf)[index] = (int64_t)value; break;
    case DTYPE_U8: ((uint8_t *)buf)[index] = (uint8_t)(int64_t)value; break;
    case DTYPE_F16:
    case DTYPE_BF16: dtype_from_f32((uint16_t *)buf + index, &(float){(float)value}, 1, dtype); break;
    }
}

double check_get(const void *buf, size_t index, enum dtype dtype)
{
    float half = NAN;
    switch (dtype) {
    case DTYPE_F32: return (double)((const float *)buf)[index];
    case DTYPE_F64: return ((const double *)buf)[index];
    case DTYPE_I32: return ((const int32_t *)buf)[index];
    case DTYPE_I64: return (double)((const int64_t *)buf)[index];
    case DTYPE_U8: return ((const uint8_t *)buf)[index];
    case DTYPE_F16:
    case DTYPE_BF16: dtype_to_f32(&half, (const uint16_t *)buf + index, 1, dtype);
    }
    return (double)half;
}
