/* SPDX-License-Identifier: MIT */
/* Sizes and names of types and operators, and which go together. */
#include <string.h>

#include "dtype/own.h"

static const struct {
    const char *name;
    size_t size;
    bool is_whole; /* an integer */
} types[DTYPE_COUNT] = {
    [DTYPE_F32] = {"f32", 4, false},   [DTYPE_F64] = {"f64", 8, false}, [DTYPE_I32] = {"i32", 4, true},
    [DTYPE_I64] = {"i64", 8, true},    [DTYPE_U8] = {"u8", 1, true},    [DTYPE_F16] = {"f16", 2, false},
    [DTYPE_BF16] = {"bf16", 2, false},
};

static const char *const ops[OP_COUNT] = {
    [OP_SUM] = "sum", [OP_MEAN] = "mean", [OP_MIN] = "min", [OP_MAX] = "max", [OP_PROD] = "prod"};

/* An enum's values can be anything once they come from a caller. */
static bool is_type(enum dtype dtype)
{
    return dtype_size(dtype) > 0;
}

static bool is_op(enum op op)
{
    return (unsigned)op < OP_COUNT || dtype__own_name(op);
}

size_t dtype_size(enum dtype dtype)
{
    size_t own = 0;
    if ((unsigned)dtype < DTYPE_COUNT) return types[dtype].size;
    dtype__own_type(dtype, &own);
    return own;
}

const char *dtype_name(enum dtype dtype)
{
    size_t bytes;
    if ((unsigned)dtype < DTYPE_COUNT) return types[dtype].name;
    const char *own = dtype__own_type(dtype, &bytes);
    return own ? own : "?";
}

const char *op_name(enum op op)
{
    if ((unsigned)op < OP_COUNT) return ops[op];
    const char *own = dtype__own_name(op);
    return own ? own : "?";
}

bool dtype_parse(const char *name, enum dtype *dtype)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *dtype = (enum dtype)i;
        return true;
    }
    return false;
}

bool op_parse(const char *name, enum op *op)
{
    for (int i = 0; i < OP_COUNT; i++) {
        if (strcmp(ops[i], name) != 0) continue;
        *op = (enum op)i;
        return true;
    }
    return false;
}

bool dtype_bytes(size_t count, enum dtype dtype, size_t *bytes)
{
    size_t size = dtype_size(dtype), all;
    if (!size || __builtin_mul_overflow(count, size, &all) || all > PTRDIFF_MAX) return false;
    *bytes = all;
    return true;
}

const char *dtype_problem(enum dtype dtype, enum op op)
{
    if (!is_type(dtype)) return "there is no such element type";
    if ((unsigned)dtype >= DTYPE_COUNT && (unsigned)op < OP_COUNT)
        return "a type of the program's own has operators of the program's own only";
    if (!is_op(op)) return "there is no such operator";
    if (op == OP_MEAN && (unsigned)dtype < DTYPE_COUNT && types[dtype].is_whole)
        return "the mean of integers is not an integer";
    return NULL;
}

const char *dtype_advice(enum dtype dtype, enum op op)
{
    if (!dtype_problem(dtype, op)) return NULL;
    return !is_type(dtype)                  ? "DTYPE_F32, _F64, _I32, _I64, _U8, _F16 or _BF16"
           : !is_op(op)                     ? "OP_SUM, _MEAN, _MIN, _MAX or _PROD, or op_make"
           : (unsigned)dtype >= DTYPE_COUNT ? "op_make"
                                            : "OP_SUM and your own division, or DTYPE_F64";
}
