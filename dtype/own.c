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
