/* SPDX-License-Identifier: MIT */
/*
 * dtype: element types, operators, and the loops that combine two buffers. Knows nothing of ranks.
 *
 *      names             dtype_size, dtype_name, op_name, dtype_parse, op_parse
 *      checks            dtype_bytes, dtype_problem, dtype_advice
 *      combining         dtype_combine, dtype_reduce, dtype_reduce_left, dtype_scale
 *      halves            dtype_to_f32, dtype_from_f32
 *      your own          op_make, op_free, op_commutes, dtype_make
 *
 * The results are defined to the bit, so that every rank, every compiler and every place in a buffer agrees:
 *
 *      integers          sum and prod wrap around, as two's complement does (u8: modulo 256)
 *      floats            each operation rounds once, to nearest; nothing is fused or reordered
 *      f16, bf16         IEEE 754's binary16, and the upper 16 bits of an f32. Each operation is that of f32, on the
 *                        two numbers as f32, which is exact; its result is rounded once more, to nearest, of two to the
 *                        even one. What is too large is infinite (f16: from 65520 on); subnormals are kept. So each
 *                        message of a collective carries sums that are rounded to 16 bits
 *      NaN               a result that is not a number is the quiet NaN 0x7fc00000 (f64: 0x7ff8000000000000, f16:
 *                        0x7e00, bf16: 0x7fc0), whatever NaN went in; min and max of a NaN and a number is NaN
 *      signed zeros      min and max order -0 before +0
 *      mean              the sum over all ranks first, then one division by the number of ranks (dtype_scale); floats
 *                        only. A sum that overflows to infinity has a mean of infinity
 *
 * So the order of two operands never changes the result. The order of three does (rounding): see each algorithm.
 */
#ifndef PAIRWISE_DTYPE_H
#define PAIRWISE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dtype { DTYPE_F32, DTYPE_F64, DTYPE_I32, DTYPE_I64, DTYPE_U8, DTYPE_F16, DTYPE_BF16 };
enum op { OP_SUM, OP_MEAN, OP_MIN, OP_MAX, OP_PROD };

enum { DTYPE_COUNT = 7, OP_COUNT = 5 };

/* Bytes of one element; 0 if there is no such type. */
size_t dtype_size(enum dtype dtype);

/* "f32", "f64", "i32", "i64", "u8", "f16", "bf16"; "sum", "mean", "min", "max", "prod", or what op_make was given; "?"
 * if there is no such type or operator. */
const char *dtype_name(enum dtype dtype);
const char *op_name(enum op op);

/* The type or (built-in) operator of that name: false, and nothing set, if there is none. */
bool dtype_parse(const char *name, enum dtype *dtype);
bool op_parse(const char *name, enum op *op);

/* Bytes of count elements: false, and nothing set, if there is no such type or no object can be as large. */
bool dtype_bytes(size_t count, enum dtype dtype, size_t *bytes);

/* What is wrong with this type and operator, as a sentence, and what to try then; NULL if nothing is. */
const char *dtype_problem(enum dtype dtype, enum op op);
const char *dtype_advice(enum dtype dtype, enum op op);

/* out[i] = left[i] OP right[i] for i < count; OP_MEAN adds. out may be left or right itself, and may not overlap them
 * otherwise; pointers must be aligned for the type. Nothing happens if dtype_problem finds anything wrong. */
void dtype_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op);

/* into[i] = into[i] OP from[i]: what is in `into` comes from lower ranks. */
void dtype_reduce(void *into, const void *from, size_t count, enum dtype dtype, enum op op);

/* into[i] = from[i] OP into[i]: what is in `from` comes from lower ranks. */
void dtype_reduce_left(void *into, const void *from, size_t count, enum dtype dtype, enum op op);

/* The end of a mean: buf[i] = buf[i] / ranks, once, where the sum over all ranks is complete. Floats only. */
void dtype_scale(void *buf, size_t count, enum dtype dtype, int ranks);

/* From f16 or bf16 to f32, which is exact, and back, rounded to nearest, of two to the even one. A NaN becomes the
 * quiet NaN of the other type. Infinities, subnormals and signed zeros stay what they are; what is too large is
 * infinite, what is too small a zero. The buffers may not overlap. Nothing happens with another type. */
void dtype_to_f32(float *out, const void *in, size_t count, enum dtype dtype);
void dtype_from_f32(void *out, const float *in, size_t count, enum dtype dtype);

/* ---- Operators of a program's own ---- */

enum { OP_OWN = 16, OP_OWN_MOST = 96, OP_NAME_MOST = 7 }; /* the first number, how many at a time, letters of a name */

/* out[i] = left[i] OP right[i] for i < count, which is not 0. out may be left or right itself. What is in `left` comes
 * from lower ranks. It is called with any part of a buffer, and must call nothing of Pairwise. */
typedef void (*op_function)(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg);

/* Make an operator of this process; *op goes where OP_SUM can go, with every element type. It must be associative;
 * `commutes` says whether the order of ranks may be changed (see collectives/collectives.h). Each rank makes it for
 * itself: ranks agree on operators by name, so give it the same one everywhere, a literal of at most OP_NAME_MOST
 * letters. false, and nothing set, if the name is empty, too long or taken, if function or op is NULL, or if there are
 * OP_OWN_MOST already. arg is handed to function, and stays the caller's. */
bool op_make(const char *name, op_function function, void *arg, bool commutes, enum op *op);

/* Forget it, once nothing that uses it is under way. Nothing happens if there is no such operator. */
void op_free(enum op op);

/* Elements of a program's own, such as a struct: `bytes` of them go where DTYPE_F32 can go, with operators of the
 * program's own (with others that is an error). Such a type is never given back; made twice under one name, a literal,
 * with the same size it is the same type. false, and nothing set, if name or dtype is NULL, bytes is 0, the name is
 * another type's, or there are DTYPE_OWN_MOST already. */
enum { DTYPE_OWN = 16, DTYPE_OWN_MOST = 1024 };
bool dtype_make(const char *name, size_t bytes, enum dtype *dtype);

/* May the order of ranks be changed? True for all but those that op_make was given with `commutes` false. */
bool op_commutes(enum op op);

#ifdef __cplusplus
}
#endif
#endif
