/* SPDX-License-Identifier: MIT */
/* basic: the predefined types: handle, the C type, and which operators they go with (MPI 5.0, 6.9.2). */
#ifndef PAIRWISE_MPI_BASIC_H
#define PAIRWISE_MPI_BASIC_H

#include <complex.h>
#include <stdbool.h>
#include <wchar.h>

#include "mpi/internal.h"

enum mpi__class { MPI__INT, MPI__UINT, MPI__FLOAT_, MPI__COMPLEX_, MPI__LOGIC, MPI__BYTES, MPI__PAIRS, MPI__TEXT };

typedef float _Complex mpi__complex32;
typedef double _Complex mpi__complex64;
typedef long double _Complex mpi__complex_long;

#define MPI__BASIC_LIST(X)                                           \
    X(MPI_AINT, MPI_Aint, MPI__INT)                                  \
    X(MPI_COUNT, MPI_Count, MPI__INT)                                \
    X(MPI_OFFSET, MPI_Offset, MPI__INT)                              \
    X(MPI_PACKED, char, MPI__TEXT)                                   \
    X(MPI_SHORT, short, MPI__INT)                                    \
    X(MPI_INT, int, MPI__INT)                                        \
    X(MPI_LONG, long, MPI__INT)                                      \
    X(MPI_LONG_LONG, long long, MPI__INT)                            \
    X(MPI_UNSIGNED_SHORT, unsigned short, MPI__UINT)                 \
    X(MPI_UNSIGNED, unsigned, MPI__UINT)                             \
    X(MPI_UNSIGNED_LONG, unsigned long, MPI__UINT)                   \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long, MPI__UINT)         \
    X(MPI_FLOAT, float, MPI__FLOAT_)                                 \
    X(MPI_C_FLOAT_COMPLEX, mpi__complex32, MPI__COMPLEX_)            \
    X(MPI_CXX_FLOAT_COMPLEX, mpi__complex32, MPI__COMPLEX_)          \
    X(MPI_DOUBLE, double, MPI__FLOAT_)                               \
    X(MPI_C_DOUBLE_COMPLEX, mpi__complex64, MPI__COMPLEX_)           \
    X(MPI_CXX_DOUBLE_COMPLEX, mpi__complex64, MPI__COMPLEX_)         \
    X(MPI_LOGICAL, int, MPI__LOGIC)                                  \
    X(MPI_INTEGER, int, MPI__INT)                                    \
    X(MPI_REAL, float, MPI__FLOAT_)                                  \
    X(MPI_COMPLEX, mpi__complex32, MPI__COMPLEX_)                    \
    X(MPI_DOUBLE_PRECISION, double, MPI__FLOAT_)                     \
    X(MPI_DOUBLE_COMPLEX, mpi__complex64, MPI__COMPLEX_)             \
    X(MPI_LONG_DOUBLE, long double, MPI__FLOAT_)                     \
    X(MPI_C_LONG_DOUBLE_COMPLEX, mpi__complex_long, MPI__COMPLEX_)   \
    X(MPI_CXX_LONG_DOUBLE_COMPLEX, mpi__complex_long, MPI__COMPLEX_) \
    X(MPI_C_BOOL, bool, MPI__LOGIC)                                  \
    X(MPI_CXX_BOOL, bool, MPI__LOGIC)                                \
    X(MPI_WCHAR, wchar_t, MPI__TEXT)                                 \
    X(MPI_INT8_T, int8_t, MPI__INT)                                  \
    X(MPI_UINT8_T, uint8_t, MPI__UINT)                               \
    X(MPI_CHAR, char, MPI__TEXT)                                     \
    X(MPI_SIGNED_CHAR, signed char, MPI__INT)                        \
    X(MPI_BYTE, unsigned char, MPI__BYTES)                           \
    X(MPI_UNSIGNED_CHAR, unsigned char, MPI__UINT)                   \
    X(MPI_INT16_T, int16_t, MPI__INT)                                \
    X(MPI_UINT16_T, uint16_t, MPI__UINT)                             \
    X(MPI_INT32_T, int32_t, MPI__INT)                                \
    X(MPI_UINT32_T, uint32_t, MPI__UINT)                             \
    X(MPI_INT64_T, int64_t, MPI__INT)                                \
    X(MPI_UINT64_T, uint64_t, MPI__UINT)                             \
    X(MPI_LOGICAL1, int8_t, MPI__LOGIC)                              \
    X(MPI_INTEGER1, int8_t, MPI__INT)                                \
    X(MPI_CHARACTER, char, MPI__TEXT)                                \
    X(MPI_LOGICAL2, int16_t, MPI__LOGIC)                             \
    X(MPI_INTEGER2, int16_t, MPI__INT)                               \
    X(MPI_LOGICAL4, int32_t, MPI__LOGIC)                             \
    X(MPI_INTEGER4, int32_t, MPI__INT)                               \
    X(MPI_REAL4, float, MPI__FLOAT_)                                 \
    X(MPI_LOGICAL8, int64_t, MPI__LOGIC)                             \
    X(MPI_INTEGER8, int64_t, MPI__INT)                               \
    X(MPI_REAL8, double, MPI__FLOAT_)                                \
    X(MPI_COMPLEX8, mpi__complex32, MPI__COMPLEX_)                   \
    X(MPI_REAL16, long double, MPI__FLOAT_)                          \
    X(MPI_COMPLEX16, mpi__complex64, MPI__COMPLEX_)                  \
    X(MPI_COMPLEX32, mpi__complex_long, MPI__COMPLEX_)

/* Handle, the type of the value, that of the index. */
#define MPI__PAIR_LIST(X)                                                                \
    X(MPI_FLOAT_INT, MPI_FLOAT, float, MPI_INT, int)                                     \
    X(MPI_DOUBLE_INT, MPI_DOUBLE, double, MPI_INT, int)                                  \
    X(MPI_LONG_INT, MPI_LONG, long, MPI_INT, int)                                        \
    X(MPI_2INT, MPI_INT, int, MPI_INT, int)                                              \
    X(MPI_SHORT_INT, MPI_SHORT, short, MPI_INT, int)                                     \
    X(MPI_LONG_DOUBLE_INT, MPI_LONG_DOUBLE, long double, MPI_INT, int)                   \
    X(MPI_2REAL, MPI_REAL, float, MPI_REAL, float)                                       \
    X(MPI_2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, double, MPI_DOUBLE_PRECISION, double) \
    X(MPI_2INTEGER, MPI_INTEGER, int, MPI_INTEGER, int)

static inline unsigned char mpi__code(MPI_Datatype handle)
{
    return (unsigned char)((uintptr_t)handle & 0xff);
}

enum mpi__class mpi__class_of(const mpi__type *predefined);

#endif
