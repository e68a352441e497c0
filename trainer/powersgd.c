/* SPDX-License-Identifier: MIT */
/*
 * PowerSGD: a gradient of n rows and m columns travels as two matrices of r columns, r(n + m) numbers instead of n m.
 * One step of the power method, which begins with the Q of the step before:
 *
 *      M  =  gradient + error           (n, m)   of each rank; the sum over the ranks is what is wanted
 *      P  =  M Q, added up              (n, r)   first all-reduce; then its columns are made orthonormal
 *      Q  =  transpose(M) P, added up   (m, r)   second all-reduce
 *      gradient  =  P transpose(Q)               the sum, as far as it lies in the r columns of P
 *      error  =  M - P transpose(own Q)          what of this rank's does not
 *
 * A tensor (O, I, KH, KW) is a matrix of O rows. What would not become smaller, such as the vectors of batch norm,
 * travels as it is, with the first all-reduce. Every rank computes the rest from the same P and Q, in the same order:
 * the same bits on all. Each rank computes 8 r n m operations for a matrix.
 *
 * Vogels, Karimireddy and Jaggi, "PowerSGD: practical low-rank gradient compression for distributed optimization",
 * 2019, algorithms 1 and 2; there the error is what P and the summed Q leave of M, here what the rank's own Q does.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/compress.h"
#include "trainer/random.h"

/* ---- Matrices: M by rows; the factors by columns, each of them in one piece ---- */

typedef struct {
    size_t rows, columns, rank; /* n, m, r; r = 0: n numbers that travel as they are */
    float *m, *left, *right;    /* (n, m), (r, n), (r, m) */
} matrix;

static float dot(const float *a, const float *b, size_t count)
{
    enum { LANES = 8 }; /* sums beside each other, which compilers can make a vector of */
    float sums[LANES] = {0}, sum = 0;
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        for (size_t lane = 0; lane < LANES; lane++) sums[lane] += a[i + lane] * b[i + lane];
    for (; i < count; i++) sum += a[i] * b[i];
    for (size_t lane = 0; lane < LANES; lane++) sum += sums[lane];
    return sum;
}

/* y += factor x */
static void add(float *restrict y, const float *restrict x, float factor, size_t count)
{
    for (size_t i = 0; i < count; i++) y[i] += factor * x[i];
}

static void scale(float *x, float factor, size_t count)
{
    for (size_t i = 0; i < count; i++) x[i] *= factor;
}

/* P = M Q */
static void find_left(const matrix *a)
{
    for (size_t row = 0; row < a->rows; row++)
        for (size_t k = 0; k < a->rank; k++)
            a->left[k * a->rows + row] = dot(a->m + row * a->columns, a->right + k * a->columns, a->columns);
}

/* Q = transpose(M) P */
static void find_right(const matrix *a)
{
    memset(a->right, 0, a->rank * a->columns * sizeof *a->right);
    for (size_t row = 0; row < a->rows; row++)
        for (size_t k = 0; k < a->rank; k++)
            add(a->right + k * a->columns, a->m + row * a->columns, a->left[k * a->rows + row], a->columns);
}

/* M += sign P transpose(Q) */
static void add_product(const matrix *a, float sign)
{
    for (size_t row = 0; row < a->rows; row++)
        for (size_t k = 0; k < a->rank; k++)
            add(a->m + row * a->columns, a->right + k * a->columns, sign * a->left[k * a->rows + row], a->columns);
}

/* Gram and Schmidt. A column that the others before it leave nothing of becomes 0. */
static void orthonormalise(const matrix *a)
{
    for (size_t k = 0; k < a->rank; k++) {
        float *column = a->left + k * a->rows, before = dot(column, column, a->rows);
        for (size_t j = 0; j < k; j++) {
            const float *other = a->left + j * a->rows;
            add(column, other, -dot(column, other, a->rows), a->rows);
        }
        float length = dot(column, column, a->rows);
        scale(column, length > 1e-10f * before ? 1 / sqrtf(length) : 0, a->rows);
    }
}

/* What Q begins with: where it is 0 it would stay so. */
static void begin(const matrix *a, size_t tensor)
{
    train_random from = train__random(0, STREAM_FACTOR, tensor);
    for (size_t k = 0; k < a->rank; k++) {
        float *column = a->right + k * a->columns;
        if (dot(column, column, a->columns) > 0) continue;
        for (size_t i = 0; i < a->columns; i++) column[i] = (float)(2 * train__uniform(from, k * a->columns + i) - 1);
    }
}

/* ---- The tensors of a bucket ---- */

typedef struct {
    train__compressor *c;
    float *gradients;
    size_t first, count;
    size_t left_used, right_used; /* numbers of the two all-reduces so far */
} bucket;

typedef void visit(bucket *b, size_t tensor, const matrix *a);

static matrix shape_of(const train_model *model, size_t tensor, int rank)
{
    const train_tensor *t = &model->tensors[tensor];
    size_t rows = t->shape[0];
    return (matrix){.rows = rows, .columns = t->count / rows, .rank = (size_t)rank};
}

/* Each tensor, with its places in the messages. */
static void each(bucket *b, visit *one)
{
    train__compressor *c = b->c;
    b->left_used = b->right_used = 0;
    for (size_t i = 0; i < c->model->tensor_count; i++) {
        const train_tensor *t = &c->model->tensors[i];
        bool has_factors = c->factor_at[i] != TRAIN_NO_FACTOR;
        if (t->kind != TRAIN_PARAMETER || t->offset < b->first || t->offset >= b->first + b->count) continue;
        matrix a = has_factors ? shape_of(c->model, i, c->options->compress.rank) : (matrix){.rows = t->count};
        a.m = c->error + t->offset;
        a.left = c->left_factors + b->left_used;
        a.right = c->right_factors + b->right_used;
        one(b, i, &a);
        b->left_used += has_factors ? a.rank * a.rows : t->count;
        b->right_used += a.rank * a.columns;
    }
}

static void send_left(bucket *b, size_t tensor, const matrix *a)
{
    if (!a->rank) {
        memcpy(a->left, a->m, a->rows * sizeof *a->m);
        memset(a->m, 0, a->rows * sizeof *a->m);
        return;
    }
    matrix with = *a;
    with.right = b->c->factors + b->c->factor_at[tensor]; /* of the step before */
    begin(&with, tensor);
    find_left(&with);
}

static void send_right(bucket *b, size_t tensor, const matrix *a)
{
    (void)b, (void)tensor;
    if (!a->rank) return;
    orthonormalise(a);
    find_right(a);
    add_product(a, -1);
}

static void receive(bucket *b, size_t tensor, const matrix *a)
{
    matrix sum = *a;
    sum.m = b->gradients + b->c->model->tensors[tensor].offset;
    if (!a->rank) {
        memcpy(sum.m, a->left, a->rows * sizeof *a->m);
        return;
    }
    memset(sum.m, 0, a->rows * a->columns * sizeof *a->m);
    add_product(&sum, 1);
    memcpy(b->c->factors + b->c->factor_at[tensor], a->right, a->rank * a->columns * sizeof *a->m);
}

p2p_err train__powersgd_reduce(train__compressor *c, float *gradients, size_t first, size_t count)
{
    bucket b = {.c = c, .gradients = gradients, .first = first, .count = count};
    for (size_t i = first; i < first + count; i++) c->error[i] += gradients[i];
    each(&b, send_left);
    p2p_err err = train__add_up(c->options, c->comm, c->left_factors, b.left_used, DTYPE_F32);
    if (err) return err;
    each(&b, send_right);
    err = b.right_used ? train__add_up(c->options, c->comm, c->right_factors, b.right_used, DTYPE_F32) : P2P_OK;
    if (!err) each(&b, receive);
    return err;
}

bool train__powersgd_open(train__compressor *c)
{
    const train_model *model = c->model;
    size_t left = 0;
    c->reduce = train__powersgd_reduce;
    c->factor_at = calloc(model->tensor_count, sizeof *c->factor_at);
    for (size_t i = 0; i < model->tensor_count && c->factor_at; i++) {
        const train_tensor *t = &model->tensors[i];
        if (t->kind != TRAIN_PARAMETER) continue;
        matrix a = shape_of(model, i, c->options->compress.rank);
        bool smaller = a.rank * (a.rows + a.columns) < t->count;
        c->factor_at[i] = smaller ? c->factor_count : TRAIN_NO_FACTOR;
        c->factor_count += smaller ? a.rank * a.columns : 0;
        left += smaller ? a.rank * a.rows : t->count;
    }
    c->factors = calloc(c->factor_count + 1, sizeof *c->factors);
    c->right_factors = calloc(c->factor_count + 1, sizeof *c->right_factors);
    c->left_factors = calloc(left + 1, sizeof *c->left_factors);
    return c->factor_at && c->factors && c->right_factors && c->left_factors;
}
