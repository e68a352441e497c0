/* SPDX-License-Identifier: MIT */
/*
 * Operators: the predefined ones on all predefined types, and the program's own, as operators of dtype/ (op_make). What
 * dtype/ has itself (sum, min, max, prod on its five types) is taken from there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/basic.h"

/* The handles, as numbers. */
enum {
    SUM = 0x21,
    MIN = 0x22,
    MAX = 0x23,
    PROD = 0x24,
    BAND = 0x28,
    BOR = 0x29,
    BXOR = 0x2a,
    LAND = 0x30,
    LOR = 0x31,
    LXOR = 0x32,
    MINLOC = 0x38
};

static mpi__op predefined[64];

void mpi__ops_open(void)
{
    static const struct {
        MPI_Op handle;
        const char *name;
    } all[] = {{MPI_SUM, "MPI_SUM"},         {MPI_MIN, "MPI_MIN"},       {MPI_MAX, "MPI_MAX"},
               {MPI_PROD, "MPI_PROD"},       {MPI_BAND, "MPI_BAND"},     {MPI_BOR, "MPI_BOR"},
               {MPI_BXOR, "MPI_BXOR"},       {MPI_LAND, "MPI_LAND"},     {MPI_LOR, "MPI_LOR"},
               {MPI_LXOR, "MPI_LXOR"},       {MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"},
               {MPI_REPLACE, "MPI_REPLACE"}, {MPI_NO_OP, "MPI_NO_OP"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        predefined[(uintptr_t)all[i].handle] =
            (mpi__op){.handle = all[i].handle, .name = all[i].name, .commutes = true};
}

mpi__op *mpi__op_of(MPI_Op handle)
{
    uintptr_t number = (uintptr_t)handle;
    bool freed;
    if (number < 0x1000) return number < 64 && predefined[number].name ? &predefined[number] : NULL;
    return mpi__object_of(MPI__OP, handle, &freed);
}

static bool is_own(const mpi__op *op)
{
    return op->function || op->large;
}

void mpi__op_keep(mpi__op *op)
{
    if (is_own(op)) op->object.references++;
}

void mpi__op_drop(mpi__op *op)
{
    if (is_own(op) && mpi__release(op)) mpi__object_free(op);
}

/* ---- Which goes with which (MPI 5.0, 6.9.2) ---- */

const char *mpi__op_problem(const mpi__op *op, const mpi__type *type)
{
    if (is_own(op)) return NULL;
    if (op->handle == MPI_REPLACE || op->handle == MPI_NO_OP)
        return "this operator is for one-sided communication only";
    if (!type->like) return "a predefined operator goes with predefined types only" MPI__TRY "MPI_Op_create";
    enum mpi__class class = mpi__class_of(type);
    bool integer = class == MPI__INT || class == MPI__UINT, fits = false;
    switch ((unsigned)(uintptr_t)op->handle) {
    case MIN:
    case MAX: fits = integer || class == MPI__FLOAT_; break;
    case SUM:
    case PROD: fits = integer || class == MPI__FLOAT_ || class == MPI__COMPLEX_; break;
    case LAND:
    case LOR:
    case LXOR: fits = integer || class == MPI__LOGIC; break;
    case BAND:
    case BOR:
    case BXOR: fits = integer || class == MPI__BYTES; break;
    default: fits = class == MPI__PAIRS;
    }
    return fits ? NULL : "the standard does not define this operator for this type";
}

/* ---- Loops ---- */

#define EACH(type, value)                    \
    {                                        \
        __typeof__(type) *o = out;           \
        const type *l = left, *r = right;    \
        for (size_t i = 0; i < count; i++) { \
            type a = l[i], b = r[i];         \
            o[i] = (type)(value);            \
        }                                    \
        break;                               \
    }

#define FIXED(name, type, wraps)                                                                \
    static void name(unsigned op, void *out, const void *left, const void *right, size_t count) \
    {                                                                                           \
        switch (op) {                                                                           \
        case SUM: EACH(type, (wraps)a + (wraps)b)                                               \
        case MIN: EACH(type, a < b ? a : b)                                                     \
        case MAX: EACH(type, a > b ? a : b)                                                     \
        case PROD: EACH(type, (wraps)a *(wraps)b)                                               \
        case BAND: EACH(type, a &b)                                                             \
        case BOR: EACH(type, a | b)                                                             \
        case BXOR: EACH(type, a ^ b)                                                            \
        case LAND: EACH(type, a &&b)                                                            \
        case LOR: EACH(type, a || b)                                                            \
        case LXOR: EACH(type, !a != !b)                                                         \
        default: break;                                                                         \
        }                                                                                       \
    }

#define FLOATING(name, type)                                                                    \
    static void name(unsigned op, void *out, const void *left, const void *right, size_t count) \
    {                                                                                           \
        switch (op) {                                                                           \
        case SUM: EACH(type, a + b)                                                             \
        case MIN: EACH(type, a < b ? a : b)                                                     \
        case MAX: EACH(type, a > b ? a : b)                                                     \
        case PROD: EACH(type, a *b)                                                             \
        default: break;                                                                         \
        }                                                                                       \
    }

#define COMPLEX(name, type)                                                                     \
    static void name(unsigned op, void *out, const void *left, const void *right, size_t count) \
    {                                                                                           \
        switch (op) {                                                                           \
        case SUM: EACH(type, a + b)                                                             \
        case PROD: EACH(type, a *b)                                                             \
        default: break;                                                                         \
        }                                                                                       \
    }

FIXED(int8, int8_t, unsigned)
FIXED(int16, int16_t, unsigned)
FIXED(int32, int32_t, unsigned)
FIXED(int64, int64_t, uint64_t)
FIXED(uint8, uint8_t, unsigned)
FIXED(uint16, uint16_t, unsigned)
FIXED(uint32, uint32_t, unsigned)
FIXED(uint64, uint64_t, uint64_t)
FLOATING(float32, float)
FLOATING(float64, double)
FLOATING(float_long, long double)
COMPLEX(complex32, mpi__complex32)
COMPLEX(complex64, mpi__complex64)
COMPLEX(complex_long, mpi__complex_long)

/* Equal values: the lower index. The gap of a pair goes with it. */
#define LOCATE(wanted, first, first_type, second, second_type)                          \
    if (type->handle == (wanted)) {                                                     \
        typedef struct {                                                                \
            first_type value;                                                           \
            second_type index;                                                          \
        } pair;                                                                         \
        pair *o = out;                                                                  \
        const pair *l = left, *r = right;                                               \
        for (size_t i = 0; i < count; i++) {                                            \
            const pair *a = &l[i], *b = &r[i];                                          \
            bool better = op == MINLOC ? a->value < b->value : a->value > b->value;     \
            bool same = !(a->value < b->value) && !(a->value > b->value);               \
            memmove(&o[i], better || (same && a->index < b->index) ? a : b, sizeof *o); \
        }                                                                               \
        return;                                                                         \
    }

static void locate(const mpi__type *type, unsigned op, void *out, const void *left, const void *right, size_t count)
{
    MPI__PAIR_LIST(LOCATE)
}

typedef void (*loop)(unsigned op, void *out, const void *left, const void *right, size_t count);

static loop loop_of(enum mpi__class class, size_t size)
{
    static const loop fixed[] = {int8, int16, int32, int64}, natural[] = {uint8, uint16, uint32, uint64};
    int log = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
    switch (class) {
    case MPI__FLOAT_: return size == 4 ? float32 : size == 8 ? float64 : float_long;
    case MPI__COMPLEX_: return size == 8 ? complex32 : size == 16 ? complex64 : complex_long;
    case MPI__INT: return fixed[log];
    default: return natural[log];
    }
}

static void combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg)
{
    const mpi__combiner *c = arg;
    unsigned op = (unsigned)(uintptr_t)c->from->handle;
    (void)dtype;
    if (mpi__class_of(c->type) == MPI__PAIRS)
        locate(c->type, op, out, left, right, count);
    else
        loop_of(mpi__class_of(c->type), c->type->size)(op, out, left, right, count);
}

/* The program's own works in place: inoutvec = invec OP inoutvec. It may ask what the type is, which the program may have
 * freed since the reduction began. */
static void call(void *out, const void *left, const void *right, size_t count, enum dtype dtype, void *arg)
{
    const mpi__combiner *c = arg;
    size_t bytes = count * dtype_size(dtype);
    void *copy = out == left && out != right ? malloc(bytes) : NULL, *into = copy ? copy : out;
    MPI_Datatype type = c->type->handle;
    char *first = (char *)(uintptr_t)left - c->type->true_lb, *second = (char *)into - c->type->true_lb;
    int length = (int)count;
    MPI_Count large_length = (MPI_Count)count;
    if (into != right) memcpy(into, right, bytes);
    c->type->handles++;
    if (c->from->large)
        c->from->large(first, second, &large_length, &type);
    else
        c->from->function(first, second, &length, &type);
    c->type->handles--;
    if (copy) memcpy(out, copy, bytes);
    free(copy);
}

/* ---- As one of dtype/ ---- */

static bool built_in(mpi__combiner *combiner, const mpi__op *op, const mpi__type *type)
{
    enum mpi__class class = mpi__class_of(type);
    switch ((unsigned)(uintptr_t)op->handle) {
    case SUM: combiner->op = OP_SUM; break;
    case MIN: combiner->op = OP_MIN; break;
    case MAX: combiner->op = OP_MAX; break;
    case PROD: combiner->op = OP_PROD; break;
    default: return false;
    }
    if (class == MPI__FLOAT_ && type->size <= 8)
        combiner->dtype = type->size == 4 ? DTYPE_F32 : DTYPE_F64;
    else if (class == MPI__INT && (type->size == 4 || type->size == 8))
        combiner->dtype = type->size == 4 ? DTYPE_I32 : DTYPE_I64;
    else if (class == MPI__UINT && type->size == 1)
        combiner->dtype = DTYPE_U8;
    else
        return false;
    return true;
}

/* Names of element types, by size; they stay for ever. */
static bool type_of_size(size_t size, enum dtype *dtype)
{
    static struct {
        size_t size;
        enum dtype dtype;
        const char *name;
    } known[DTYPE_OWN_MOST];
    static int count;
    char text[32];
    for (int i = 0; i < count; i++) {
        if (known[i].size != size) continue;
        *dtype = known[i].dtype;
        return true;
    }
    snprintf(text, sizeof text, "mpi%zu", size);
    char *name = strdup(text);
    if (!name || count == DTYPE_OWN_MOST || !dtype_make(name, size, dtype)) {
        free(name);
        return false;
    }
    known[count].name = name;
    known[count].size = size;
    known[count++].dtype = *dtype;
    return true;
}

/* An operator of dtype/ that was made for an operator and a type: while it is in use, all their reductions share it. */
struct mpi__made_op {
    struct mpi__made_op *next;
    int users;
    mpi__combiner combiner;
    char name[OP_NAME_MOST + 1];
};

static struct mpi__made_op *in_use;

static struct mpi__made_op *make_op(mpi__op *op, mpi__type *type)
{
    static unsigned turn;
    size_t size = is_own(op) || !type->dense ? (size_t)type->extent : type->size;
    struct mpi__made_op *m = calloc(1, sizeof *m);
    if (!m) return NULL;
    m->combiner = (mpi__combiner){.from = op, .type = type, .made = m};
    snprintf(m->name, sizeof m->name, "m%u", turn++ % 900000);
    if (!type_of_size(size ? size : 1, &m->combiner.dtype) ||
        !op_make(m->name, is_own(op) ? call : combine, &m->combiner, op->commutes, &m->combiner.op)) {
        free(m);
        return NULL;
    }
    m->next = in_use;
    return in_use = m;
}

bool mpi__combiner_open(mpi__combiner *combiner, mpi__op *op, mpi__type *type)
{
    *combiner = (mpi__combiner){.from = op, .type = type};
    if (!is_own(op) && built_in(combiner, op, type)) return true;
    struct mpi__made_op *m = in_use;
    while (m && (m->combiner.from != op || m->combiner.type != type)) m = m->next;
    if (!m) m = make_op(op, type);
    if (!m) return false;
    m->users++;
    *combiner = m->combiner;
    return true;
}

void mpi__combiner_close(mpi__combiner *combiner)
{
    struct mpi__made_op *m = combiner->made, **link = &in_use;
    combiner->made = NULL;
    if (!m || --m->users) return;
    op_free(m->combiner.op);
    while (*link != m) link = &(*link)->next;
    *link = m->next;
    free(m);
}

/* ---- Calls ---- */

static int create(const char *name, MPI_User_function *function, MPI_User_function_c *large, int commute,
                  MPI_Op *handle)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, name);
    if (code) return code;
    code = mpi__check_pointer(c, handle, "op");
    if (!code && !function && !large)
        code = mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "the function of the operator is NULL");
    mpi__op *op = code ? NULL : mpi__object_new(MPI__OP, sizeof *op);
    if (!code && !op) code = mpi__no_memory(c);
    if (code) return mpi__end(c, code);
    *op =
        (mpi__op){.object = op->object, .name = "own", .function = function, .large = large, .commutes = commute != 0};
    op->handle = (MPI_Op)(void *)op;
    p2p_layer_made(c->p2p, "operator", &op->object.thing);
    *handle = op->handle;
    return mpi__end(c, MPI_SUCCESS);
}

API(Op_create)(MPI_User_function *function, int commute, MPI_Op *op)
{
    return create("MPI_Op_create", function, NULL, commute, op);
}

API(Op_create_c)(MPI_User_function_c *function, int commute, MPI_Op *op)
{
    return create("MPI_Op_create_c", NULL, function, commute, op);
}

API(Op_free)(MPI_Op *handle)
{
    mpi__comm *c;
    bool freed = false;
    int code = mpi__begin_local(&c, "MPI_Op_free");
    if (code) return code;
    mpi__op *op = handle ? mpi__op_of(*handle) : NULL;
    if (!op) {
        if (handle) mpi__object_of(MPI__OP, *handle, &freed);
        code = mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "%s",
                          freed ? "the operator has been freed already" : "this is no operator");
    } else if (!is_own(op)) {
        code = mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "%s is predefined, and cannot be freed", op->name);
    } else {
        p2p_layer_given_back(&op->object.thing);
        *handle = MPI_OP_NULL;
        mpi__op_drop(op);
    }
    return mpi__end(c, code);
}

API(Op_commutative)(MPI_Op handle, int *commute)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Op_commutative");
    if (!code) code = mpi__place(c, commute, "commute");
    if (code) return code;
    const mpi__op *op = mpi__op_of(handle);
    if (!op) return mpi__end(c, mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "this is no operator"));
    *commute = op->commutes;
    return mpi__end(c, MPI_SUCCESS);
}

API(Reduce_local)(const void *inbuf, void *inoutbuf, int count, MPI_Datatype datatype, MPI_Op handle)
{
    mpi__comm *c;
    mpi__type *t;
    mpi__combiner combiner;
    int code = mpi__begin_local(&c, "MPI_Reduce_local");
    if (code) return code;
    mpi__op *op = mpi__op_of(handle);
    code = mpi__check_data(c, inbuf, count, datatype, &t);
    if (!code) code = mpi__check_data(c, inoutbuf, count, datatype, &t);
    if (!code && !op) code = mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "this is no operator");
    const char *problem = code ? NULL : mpi__op_problem(op, t);
    if (problem) code = mpi__wrong(c, MPI_ERR_OP, P2P_ARGUMENT_OPERATOR, "%s", problem);
    size_t bytes = code ? 0 : (size_t)count * t->size;
    if (bytes && mpi__is_one_piece(t, (size_t)count) &&
        mpi__have(t, inoutbuf, (size_t)count, (uintptr_t)mpi__data(t, inbuf), bytes))
        code = mpi__mistake(c, MPI_ERR_BUFFER, "buffer_conflict", "the two buffers overlap" MPI__TRY "a copy of one");
    if (code) return mpi__end(c, code);
    MPI_Count large_count = count;
    if (op->large) {
        op->large((void *)(uintptr_t)inbuf, inoutbuf, &large_count, &datatype);
    } else if (op->function) {
        op->function((void *)(uintptr_t)inbuf, inoutbuf, &count, &datatype);
    } else if (mpi__combiner_open(&combiner, op, t)) {
        dtype_combine(inoutbuf, inbuf, inoutbuf, (size_t)count, combiner.dtype, combiner.op);
        mpi__combiner_close(&combiner);
    } else {
        code = mpi__no_memory(c);
    }
    return mpi__end(c, code);
}
