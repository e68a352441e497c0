/* SPDX-License-Identifier: MIT */
/*
 * What a program does to pending buffers through the C library, whose functions were not compiled to be looked at
 * (accesses.c). mpicc has the linker put these functions in their places (--wrap).
 *
 *      MPI_Irecv(text, ...);
 *      printf("%s\n", text);       printf is the function here: text is in a region, and may not be read
 *
 * Of a string the first byte is looked at. What only writes (scanf, sprintf) is seen by checksums.
 */
#include <printf.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "mpi/internal.h"

static inline void look(const void *at, size_t bytes, bool writes, const void *from)
{
    if (mpi__may_be_pending(at, bytes)) mpi__touched((uintptr_t)at, bytes, writes, from, true);
}

#define READS(at, bytes) look(at, bytes, false, __builtin_return_address(0))
#define WRITES(at, bytes) look(at, bytes, true, __builtin_return_address(0))

/* result name(arguments): what the linker calls instead, and `real_name`, the library's own. */
#define WRAP(result, name, ...)                                    \
    result real_##name(__VA_ARGS__) __asm__("__real_" #name);      \
    result mpi__wrap_##name(__VA_ARGS__) __asm__("__wrap_" #name); \
    result mpi__wrap_##name(__VA_ARGS__)

WRAP(void *, memcpy, void *to, const void *from, size_t bytes)
{
    READS(from, bytes);
    WRITES(to, bytes);
    return real_memcpy(to, from, bytes);
}

WRAP(void *, memmove, void *to, const void *from, size_t bytes)
{
    READS(from, bytes);
    WRITES(to, bytes);
    return real_memmove(to, from, bytes);
}

WRAP(void *, memset, void *to, int value, size_t bytes)
{
    WRITES(to, bytes);
    return real_memset(to, value, bytes);
}

WRAP(int, memcmp, const void *a, const void *b, size_t bytes)
{
    READS(a, bytes);
    READS(b, bytes);
    return real_memcmp(a, b, bytes);
}

WRAP(size_t, strlen, const char *text)
{
    READS(text, 1);
    return real_strlen(text);
}

WRAP(int, strcmp, const char *a, const char *b)
{
    READS(a, 1);
    READS(b, 1);
    return real_strcmp(a, b);
}

WRAP(char *, strcpy, char *to, const char *from)
{
    READS(from, 1);
    WRITES(to, 1);
    return real_strcpy(to, from);
}

WRAP(size_t, fwrite, const void *from, size_t bytes, size_t count, FILE *file)
{
    READS(from, bytes * count);
    return real_fwrite(from, bytes, count, file);
}

WRAP(int, puts, const char *text)
{
    READS(text, 1);
    return real_puts(text);
}

/* The strings among the arguments. */
static void look_at_strings(const char *format, va_list args, const void *from)
{
    enum { MOST = 32 };
    int types[MOST];
    size_t count = parse_printf_format(format, MOST, types);
    for (size_t i = 0; i < count && i < MOST; i++) {
        int type = types[i] & ~PA_FLAG_MASK;
        bool is_double = type == PA_DOUBLE || type == PA_FLOAT, is_pointer = types[i] & PA_FLAG_PTR;
        // NOLINTBEGIN(bugprone-branch-clone): the types differ
        if (is_double && !is_pointer && types[i] & PA_FLAG_LONG_DOUBLE)
            va_arg(args, long double);
        else if (is_double && !is_pointer)
            va_arg(args, double);
        else if (type == PA_STRING && !is_pointer)
            look(va_arg(args, const char *), 1, false, from);
        else if (is_pointer || type == PA_POINTER || type == PA_WSTRING ||
                 types[i] & (PA_FLAG_LONG | PA_FLAG_LONG_LONG))
            va_arg(args, long long);
        else
            va_arg(args, int);
        // NOLINTEND(bugprone-branch-clone)
    }
}

WRAP(int, printf, const char *format, ...)
{
    va_list args;
    if (mpi__regions_end) {
        va_start(args, format);
        look_at_strings(format, args, __builtin_return_address(0));
        va_end(args);
    }
    va_start(args, format);
    int length = vprintf(format, args);
    va_end(args);
    return length;
}

WRAP(int, fprintf, FILE *file, const char *format, ...)
{
    va_list args;
    if (mpi__regions_end) {
        va_start(args, format);
        look_at_strings(format, args, __builtin_return_address(0));
        va_end(args);
    }
    va_start(args, format);
    int length = vfprintf(file, format, args);
    va_end(args);
    return length;
}
