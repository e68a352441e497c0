/* SPDX-License-Identifier: MIT */
/* Types for Fortran's kinds (MPI 5.0, 19.1.9): by decimal digits and exponent; one of each, which is never freed. */
#include <stdlib.h>

#include "mpi/internal.h"

typedef struct {
    int digits, exponent; /* that it can hold */
    MPI_Datatype type;
} kind;

static const kind integers[] = {
    {2, 0, MPI_INTEGER1}, {4, 0, MPI_INTEGER2}, {9, 0, MPI_INTEGER4}, {18, 0, MPI_INTEGER8}, {0}};
static const kind reals[] = {{6, 37, MPI_REAL4}, {15, 307, MPI_REAL8}, {18, 4931, MPI_REAL16}, {0}};
static const kind complexes[] = {{6, 37, MPI_COMPLEX8}, {15, 307, MPI_COMPLEX16}, {18, 4931, MPI_COMPLEX32}, {0}};

static mpi__type *type_like(mpi__type *base, int combiner, int count, const int numbers[])
{
    static mpi__type **all;
    static size_t made;
    for (size_t i = 0; i < made; i++)
        if (all[i]->combiner == combiner && all[i]->ints[0] == numbers[0] && all[i]->ints[1] == numbers[1])
            return all[i];
    mpi__type **more = realloc(all, (made + 1) * sizeof *all);
    if (more) all = more;
    int *ints = more ? malloc(2 * sizeof *ints) : NULL;
    mpi__type *t = ints ? mpi__object_new(MPI__TYPE, sizeof *t) : NULL;
    if (!t) {
        free(ints);
        return NULL;
    }
    mpi__object head = t->object;
    *t = *base;
    t->object = head;
    t->handle = (MPI_Datatype)(void *)t;
    t->handles = 1;
    t->name[0] = '\0';
    t->predefined = false;
    t->combiner = combiner;
    t->int_count = count;
    t->ints = ints;
    ints[0] = numbers[0];
    ints[1] = numbers[1];
    return all[made++] = t;
}

static int create(const char *name, const kind kinds[], int combiner, int count, const int numbers[],
                  MPI_Datatype *newtype)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, newtype, "newtype");
    if (code) return code;
    while (kinds->type && (numbers[0] > kinds->digits || numbers[1] > kinds->exponent)) kinds++;
    if (!kinds->type)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "there is no type of %d digits", numbers[0]));
    mpi__type *t = type_like(mpi__type_of(kinds->type), combiner, count, numbers);
    if (!t) return mpi__end(c, mpi__no_memory(c));
    *newtype = t->handle;
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_create_f90_integer)(int r, MPI_Datatype *newtype)
{
    const int numbers[] = {r, 0};
    return create("MPI_Type_create_f90_integer", integers, MPI_COMBINER_F90_INTEGER, 1, numbers, newtype);
}

API(Type_create_f90_real)(int p, int r, MPI_Datatype *newtype)
{
    const int numbers[] = {p, r};
    return create("MPI_Type_create_f90_real", reals, MPI_COMBINER_F90_REAL, 2, numbers, newtype);
}

API(Type_create_f90_complex)(int p, int r, MPI_Datatype *newtype)
{
    const int numbers[] = {p, r};
    return create("MPI_Type_create_f90_complex", complexes, MPI_COMBINER_F90_COMPLEX, 2, numbers, newtype);
}
