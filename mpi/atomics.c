/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations of programs whose accesses are looked at (accesses.c): the compiler leaves them to functions of a thread
 * sanitizer. The strongest order serves for all; nothing is looked at.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OWN_RUNTIME 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define OWN_RUNTIME 1
#endif

#ifndef OWN_RUNTIME

#define FETCH(bits, name, how)                                                                                 \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int order); \
    uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t value, int order)  \
    {                                                                                                          \
        (void)order;                                                                                           \
        return how(at, value, __ATOMIC_SEQ_CST);                                                               \
    }
#define COMPARE(bits, name, weak)                                                                                 \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, \
                                     int order, int failed);                                                      \
    int __tsan_atomic##bits##_##name(volatile uint##bits##_t *at, uint##bits##_t *expected, uint##bits##_t value, \
                                     int order, int failed)                                                       \
    {                                                                                                             \
        (void)order, (void)failed;                                                                                \
        return __atomic_compare_exchange_n(at, expected, value, weak, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);        \
    }
/* clang's: returns what was there. */
#define COMPARE_VALUE(bits)                                                                                         \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at, uint##bits##_t expected, \
                                                              uint##bits##_t value, int order, int failed);         \
    uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *at, uint##bits##_t expected, \
                                                              uint##bits##_t value, int order, int failed)          \
    {                                                                                                               \
        (void)order, (void)failed;                                                                                  \
        __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);               \
        return expected;                                                                                            \
    }
#define ATOMICS(bits)                                                                               \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order);        \
    uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *at, int order)         \
    {                                                                                               \
        (void)order;                                                                                \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                               \
    }                                                                                               \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order); \
    void __tsan_atomic##bits##_store(volatile uint##bits##_t *at, uint##bits##_t value, int order)  \
    {                                                                                               \
        (void)order;                                                                                \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                               \
    FETCH(bits, exchange, __atomic_exchange_n)                                                      \
    FETCH(bits, fetch_add, __atomic_fetch_add)                                                      \
    FETCH(bits, fetch_sub, __atomic_fetch_sub)                                                      \
    FETCH(bits, fetch_and, __atomic_fetch_and)                                                      \
    FETCH(bits, fetch_or, __atomic_fetch_or)                                                        \
    FETCH(bits, fetch_xor, __atomic_fetch_xor)                                                      \
    FETCH(bits, fetch_nand, __atomic_fetch_nand)                                                    \
    COMPARE(bits, compare_exchange_strong, false)                                                   \
    COMPARE(bits, compare_exchange_weak, true)                                                      \
    COMPARE_VALUE(bits)
ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* Of 16 bytes, under one lock for all: what has such atomics is compiled to call these. */
__extension__ typedef unsigned __int128 uint128_t;

static atomic_flag wide_lock = ATOMIC_FLAG_INIT;

enum wide { WIDE_LOAD, WIDE_STORE, WIDE_ADD, WIDE_SUB, WIDE_AND, WIDE_OR, WIDE_XOR, WIDE_NAND };

static uint128_t wide(volatile uint128_t *at, uint128_t value, enum wide how)
{
    while (atomic_flag_test_and_set(&wide_lock)) {}
    const uint128_t old = *at;
    switch (how) {
    case WIDE_LOAD: break;
    case WIDE_STORE: *at = value; break;
    case WIDE_ADD: *at = old + value; break;
    case WIDE_SUB: *at = old - value; break;
    case WIDE_AND: *at = old & value; break;
    case WIDE_OR: *at = old | value; break;
    case WIDE_XOR: *at = old ^ value; break;
    default: *at = ~(old & value);
    }
    atomic_flag_clear(&wide_lock);
    return old;
}

static uint128_t wide_compare(volatile uint128_t *at, uint128_t expected, uint128_t value)
{
    while (atomic_flag_test_and_set(&wide_lock)) {}
    const uint128_t old = *at;
    if (old == expected) *at = value;
    atomic_flag_clear(&wide_lock);
    return old;
}

#define WIDE(name, how)                                                                    \
    uint128_t __tsan_atomic128_##name(volatile uint128_t *at, uint128_t value, int order); \
    uint128_t __tsan_atomic128_##name(volatile uint128_t *at, uint128_t value, int order)  \
    {                                                                                      \
        (void)order;                                                                       \
        return wide(at, value, how);                                                       \
    }
WIDE(exchange, WIDE_STORE)
WIDE(fetch_add, WIDE_ADD)
WIDE(fetch_sub, WIDE_SUB)
WIDE(fetch_and, WIDE_AND)
WIDE(fetch_or, WIDE_OR)
WIDE(fetch_xor, WIDE_XOR)
WIDE(fetch_nand, WIDE_NAND)

uint128_t __tsan_atomic128_load(const volatile uint128_t *at, int order);
uint128_t __tsan_atomic128_load(const volatile uint128_t *at, int order)
{
    (void)order;
    return wide((volatile uint128_t *)(uintptr_t)at, 0, WIDE_LOAD);
}

void __tsan_atomic128_store(volatile uint128_t *at, uint128_t value, int order);
void __tsan_atomic128_store(volatile uint128_t *at, uint128_t value, int order)
{
    (void)order;
    wide(at, value, WIDE_STORE);
}

uint128_t __tsan_atomic128_compare_exchange_val(volatile uint128_t *at, uint128_t expected, uint128_t value, int order,
                                                int failed);
uint128_t __tsan_atomic128_compare_exchange_val(volatile uint128_t *at, uint128_t expected, uint128_t value, int order,
                                                int failed)
{
    (void)order, (void)failed;
    return wide_compare(at, expected, value);
}

#define WIDE_COMPARE(name)                                                                                            \
    int __tsan_atomic128_##name(volatile uint128_t *at, uint128_t *expected, uint128_t value, int order, int failed); \
    int __tsan_atomic128_##name(volatile uint128_t *at, uint128_t *expected, uint128_t value, int order, int failed)  \
    {                                                                                                                 \
        const uint128_t old = wide_compare(at, *expected, value);                                                     \
        const int same = old == *expected;                                                                            \
        (void)order, (void)failed;                                                                                    \
        *expected = old;                                                                                              \
        return same;                                                                                                  \
    }
WIDE_COMPARE(compare_exchange_strong)
WIDE_COMPARE(compare_exchange_weak)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#endif
