/* SPDX-License-Identifier: MIT */
/*
 * f16 and bf16: numbers of 16 bits. They are stored and sent; arithmetic is that of f32.
 *
 *      f32     s eeeeeeee fffffffffffffffffffffff      sign, exponent (bias 127), fraction
 *      bf16    s eeeeeeee fffffff                      the upper half of it
 *      f16     s eeeee ffffffffff                      bias 15: from 2^-24, subnormal, to 65504
 *
 * One loop for each way, written out without branches, so that compilers make vectors of it; and for f16 the two
 * instructions of x86 (F16C) that do the same. AVX-512's instruction for bf16 does not: it takes subnormals for zeros.
 */
#include "dtype/half.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "dtype/f32.h"
#include "dtype/reduce.h"

/* ---- One number ---- */

/* Branches keep compilers from making vectors. */
static inline uint32_t choose(bool first, uint32_t one, uint32_t other)
{
    uint32_t mask = 0u - first;
    return (one & mask) | (other & ~mask);
}

/* Exponent and fraction in the places of f32 are the number times 2^-112, of a subnormal as well. */
static inline float f32_of_f16(uint16_t half)
{
    uint32_t rest = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
    uint32_t number = bits32(float32(rest) * 0x1p112f) | sign;
    uint32_t beyond = choose(rest == 0x7c00u << 13, 0x7f800000u | sign, F32_NAN);
    return float32(choose(rest >= 0x7c00u << 13, beyond, number));
}

/* What is below 2^-14 is rounded by adding it to 0.5, whose last bit is worth 2^-24. Elsewhere half a unit of the last
 * bit that stays is added, less one where that bit is 0: a tie goes to even. A carry raises the exponent, as it must.
 */
static inline uint16_t f16_of_f32(float x)
{
    uint32_t bits = bits32(x), sign = bits >> 16 & 0x8000, rest = bits & 0x7fffffff, odd = rest >> 13 & 1;
    uint32_t subnormal = bits32(float32(rest) + 0.5f) - bits32(0.5f);
    uint32_t normal = (rest - (112u << 23) + 0xfff + odd) >> 13;
    uint32_t half = choose(rest < 113u << 23, subnormal, normal);
    half = choose(rest < 0x477ff000, half, 0x7c00) | sign; /* 65520 and more is infinite */
    return (uint16_t)choose(rest > 0x7f800000, F16_NAN, half);
}

static inline float f32_of_bf16(uint16_t half)
{
    return (half & 0x7fff) > 0x7f80 ? float32(F32_NAN) : float32((uint32_t)half << 16);
}

static inline uint16_t bf16_of_f32(float x)
{
    uint32_t bits = bits32(x), odd = bits >> 16 & 1;
    return (bits & 0x7fffffff) > 0x7f800000 ? BF16_NAN : (uint16_t)((bits + 0x7fff + odd) >> 16);
}

/* ---- Many ---- */

#define CONVERT_FOR(target, name, from, to, one)                                       \
    target static void name(void *restrict out, const void *restrict in, size_t count) \
    {                                                                                  \
        typedef from source_element;                                                   \
        typedef to result_element;                                                     \
        const source_element *source = in;                                             \
        result_element *result = out;                                                  \
        for (size_t i = 0; i < count; i++) result[i] = one(source[i]);                 \
    }

#define CONVERT(name, from, to, one)   \
    CONVERT_FOR(, name, from, to, one) \
    CONVERT_FOR(WIDE, wide_##name, from, to, one)

CONVERT(f16_to_f32, uint16_t, float, f32_of_f16)
CONVERT(bf16_to_f32, uint16_t, float, f32_of_bf16)
CONVERT(f32_to_f16, float, uint16_t, f16_of_f32)
CONVERT(f32_to_bf16, float, uint16_t, bf16_of_f32)

/* ---- The instructions for f16. They keep what they can of a NaN, so that is replaced while it is f32. ---- */

#if defined(__x86_64__)
#define F16C __attribute__((target("avx2,f16c")))
enum { LANES = 8 };

static bool has_f16c;

__attribute__((constructor)) static void ask_processor(void)
{
    unsigned a, b, c = 0, d;
    __builtin_cpu_init();
    has_f16c = HAS_WIDE && __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

F16C static inline __m256 quiet_lanes(__m256 x)
{
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32((int)F32_NAN));
    return _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

F16C static void f16c_f16_to_f32(void *restrict out, const void *restrict in, size_t count)
{
    const uint16_t *source = in;
    float *result = out;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_ps(result + i, quiet_lanes(_mm256_cvtph_ps(_mm_loadu_si128((const void *)(source + i)))));
    f16_to_f32(result + i, source + i, count - i);
}

F16C static void f16c_f32_to_f16(void *restrict out, const void *restrict in, size_t count)
{
    const float *source = in;
    uint16_t *result = out;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm_storeu_si128((void *)(result + i),
                         _mm256_cvtps_ph(quiet_lanes(_mm256_loadu_ps(source + i)), _MM_FROUND_TO_NEAREST_INT));
    f32_to_f16(result + i, source + i, count - i);
}
#else
#define has_f16c false
#define f16c_f16_to_f32 f16_to_f32
#define f16c_f32_to_f16 f32_to_f16
#endif

/* ---- Which of them ---- */

typedef void (*conversion)(void *restrict out, const void *restrict in, size_t count);

void dtype__to_f32(float *out, const void *in, size_t count, enum dtype dtype, bool wide)
{
    conversion f16 = !wide ? f16_to_f32 : has_f16c ? f16c_f16_to_f32 : wide_f16_to_f32;
    conversion bf16 = wide ? wide_bf16_to_f32 : bf16_to_f32;
    (dtype == DTYPE_F16 ? f16 : bf16)(out, in, count);
}

void dtype__from_f32(void *out, const float *in, size_t count, enum dtype dtype, bool wide)
{
    conversion f16 = !wide ? f32_to_f16 : has_f16c ? f16c_f32_to_f16 : wide_f32_to_f16;
    conversion bf16 = wide ? wide_f32_to_bf16 : f32_to_bf16;
    (dtype == DTYPE_F16 ? f16 : bf16)(out, in, count);
}

void dtype_to_f32(float *out, const void *in, size_t count, enum dtype dtype)
{
    if (dtype__is_half(dtype)) dtype__to_f32(out, in, count, dtype, HAS_WIDE);
}

void dtype_from_f32(void *out, const float *in, size_t count, enum dtype dtype)
{
    if (dtype__is_half(dtype)) dtype__from_f32(out, in, count, dtype, HAS_WIDE);
}
