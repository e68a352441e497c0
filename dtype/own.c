/* SPDX-License-Identifier: MIT */
/*
 * Operators of a program's own. An operator is passed on as a number, so the functions of the numbers from OP_OWN on
 * are kept in a table of the process. An entry that op_free has emptied is used again.
 */
#include "dtype/own.h"

#include <string.h>

typedef struct {
    const char *name; /* NULL: no operator */
    op_function function;
    void *arg;
    bool commutes;
} own;

static own table[OP_OWN_MOST];

static own *find(enum op op)
{
    unsigned place = (unsigned)op - OP_OWN;
    return place < OP_OWN_MOST && table[place].name ? &table[place] : NULL;
}

static bool is_taken(const char *name)
{
    enum op op;
    for (int i = 0; i < OP_OWN_MOST; i++)
        if (table[i].name && strcmp(table[i].name, name) == 0) return true;
    return op_parse(name, &op);
}

bool op_make(const char *name, op_function function, void *arg, bool commutes, enum op *op)
{
    size_t length = name ? strlen(name) : 0;
    unsigned place = 0;
    if (!length || length > OP_NAME_MOST || !function || !op || is_taken(name)) return false;
    while (place < OP_OWN_MOST && table[place].name) place++;
    if (place == OP_OWN_MOST) return false;
    table[place] = (own){name, function, arg, commutes};
    *op = (enum op)(OP_OWN + place);
    return true;
}

void op_free(enum op op)
{
    own *o = find(op);
    if (o) *o = (own){.name = NULL};
}

bool op_commutes(enum op op)
{
    const own *o = find(op);
    return !o || o->commutes;
}

const char *dtype__own_name(enum op op)
{
    const own *o = find(op);
    return o ? o->name : NULL;
}

void dtype__own_combine(void *out, const void *left, const void *right, size_t count, enum dtype dtype, enum op op)
{
    const own *o = find(op);
    if (o && count) o->function(out, left, right, count, dtype, o->arg);
}

/* ---- Types ---- */

static struct {
    const char *name;
    size_t bytes;
} types[DTYPE_OWN_MOST];
static unsigned type_count;

const char *dtype__own_type(enum dtype dtype, size_t *bytes)
{
    unsigned place = (unsigned)dtype - DTYPE_OWN;
    if (place >= type_count) return NULL;
    *bytes = types[place].bytes;
    return types[place].name;
}

bool dtype_make(const char *name, size_t bytes, enum dtype *dtype)
{
    unsigned place = 0;
    enum dtype built_in;
    if (!name || !bytes || !dtype || dtype_parse(name, &built_in)) return false;
    while (place < type_count && strcmp(types[place].name, name) != 0) place++;
    if (place == DTYPE_OWN_MOST || (place < type_count && types[place].bytes != bytes)) return false;
    if (place == type_count) {
        types[place].name = name;
        types[place].bytes = bytes;
        type_count++;
    }
    *dtype = (enum dtype)(DTYPE_OWN + place);
    return true;
}
