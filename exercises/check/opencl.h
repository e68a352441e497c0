/* SPDX-License-Identifier: MIT */
/*
 * opencl: what a .cl file of the exercises is compiled with when it is tested: enough of OpenCL C 1.2 for a C compiler. A
 * kernel then is a function that runs once for each work-item (check_opencl.c), and every access to memory is seen.
 *
 * learn/check/opencl.c has made of the text what macros cannot: `__local` of a pointer is gone, `(float4)(` is
 * `float4_of(`, and `.x` or `.s0` of a vector is `[0]`. There are no swizzles of several components, no images and no
 * vectors of three.
 */
#ifndef PAIRWISE_CHECK_OPENCL_H
#define PAIRWISE_CHECK_OPENCL_H

#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are not handed from file to file */

#include <stdbool.h>
#include <stddef.h>
#include <tgmath.h>

#define __OPENCL_VERSION__ 120
#define __kernel
#define kernel
#define __global
#define global
#define __constant const
#define constant const
#define __private
#define private
#define __local
#define local

/* A type of OpenCL C, of 16 bits, that no kernel of the course needs. */
#define half _Pragma("GCC error \"half is the name of a type in OpenCL C: a variable needs another one\"") half

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#include "exercises/kernels.h"

/* One for each work-group: work-groups run one after the other. */
#undef __local
#undef local
#define __local static
#define local static

/* ---- Where a work-item is ---- */

uint get_work_dim(void);
size_t get_global_id(uint dimension);
size_t get_local_id(uint dimension);
size_t get_group_id(uint dimension);
size_t get_global_size(uint dimension);
size_t get_local_size(uint dimension);
size_t get_num_groups(uint dimension);
size_t get_global_offset(uint dimension);

/* ---- Barriers, atomics ---- */

enum { CLK_LOCAL_MEM_FENCE = 1, CLK_GLOBAL_MEM_FENCE = 2 };

void check_barrier(int flags, int line);
#define barrier(flags) check_barrier(flags, __LINE__)
#define work_group_barrier(flags) check_barrier(flags, __LINE__)
#define mem_fence(flags) ((void)(flags))
#define read_mem_fence(flags) ((void)(flags))
#define write_mem_fence(flags) ((void)(flags))

int atomic_add(volatile void *at, int value);
int atomic_xchg(volatile void *at, int value);
int atomic_min(volatile void *at, int value);
int atomic_max(volatile void *at, int value);
int atomic_cmpxchg(volatile void *at, int expected, int value);
#define atomic_sub(at, value) atomic_add(at, -(value))
#define atomic_inc(at) atomic_add(at, 1)
#define atomic_dec(at) atomic_add(at, -1)

/* ---- Arithmetic ---- */

#define CHECK_LEAST(a, b, less)                            \
    ({                                                     \
        __typeof__((a) + (b)) first_ = (a), second_ = (b); \
        first_ less second_ ? first_ : second_;            \
    })
#define min(a, b) CHECK_LEAST(a, b, <)
#define max(a, b) CHECK_LEAST(a, b, >)
#define clamp(x, least, most) min(max(x, least), most)
#define mad(a, b, c) ((a) * (b) + (c))
#define mad24(a, b, c) ((a) * (b) + (c))
#define mul24(a, b) ((a) * (b))
#define mix(a, b, t) ((a) + ((b) - (a)) * (t))
#define rsqrt(x) (1.0f / sqrt(x))
#define native_rsqrt(x) (1.0f / sqrt(x))
#define native_sqrt(x) sqrt(x)
#define native_recip(x) (1.0f / (x))
#define native_divide(a, b) ((a) / (b))
#define half_rsqrt(x) (1.0f / sqrt(x))
#define convert_float(x) ((float)(x))
#define convert_int(x) ((int)(x))
#define convert_uint(x) ((uint)(x))

/* ---- Vectors ---- */

#define CHECK_VECTORS(X) X(2) X(4) X(8) X(16)
#define CHECK_VECTOR(n)                                                                       \
    typedef float float##n __attribute__((vector_size(4 * n)));                               \
    typedef int int##n __attribute__((vector_size(4 * n)));                                   \
    typedef float check_floats##n __attribute__((vector_size(4 * n), aligned(4), may_alias)); \
    static inline float##n vload##n(size_t i, const float *from)                              \
    {                                                                                         \
        return *(const check_floats##n *)(const void *)(from + n * i);                        \
    }                                                                                         \
    static inline void vstore##n(float##n value, size_t i, float *to)                         \
    {                                                                                         \
        *(check_floats##n *)(void *)(to + n * i) = value;                                     \
    }
CHECK_VECTORS(CHECK_VECTOR)

static inline float check_dot4(float4 a, float4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}
#define dot(a, b) check_dot4(a, b)

/* One value for all, or a value for each. */
#define CHECK_17TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, which, ...) which
#define CHECK_EACH(type, ...) ((type){__VA_ARGS__})
#define CHECK_ALL(type, ...) ((type){0} + (__VA_ARGS__))
#define CHECK_MADE_OF(type, ...)                                                                                \
    CHECK_17TH(__VA_ARGS__, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, \
               CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH, CHECK_EACH,  \
               CHECK_ALL, )                                                                                     \
    (type, __VA_ARGS__)
#define float2_of(...) CHECK_MADE_OF(float2, __VA_ARGS__)
#define float4_of(...) CHECK_MADE_OF(float4, __VA_ARGS__)
#define float8_of(...) CHECK_MADE_OF(float8, __VA_ARGS__)
#define float16_of(...) CHECK_MADE_OF(float16, __VA_ARGS__)

#endif
