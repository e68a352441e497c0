/* SPDX-License-Identifier: MIT */
/* What types are, and packing by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/basic.h"

/* ---- What a type is ---- */

static int ask(const char *name, MPI_Datatype datatype, mpi__comm **c, mpi__type **t)
{
    int code = mpi__begin_local(c, name);
    if (code) return code;
    code = mpi__check_type(*c, datatype, t);
    return code ? mpi__end(*c, code) : MPI_SUCCESS;
}

API(Type_size)(MPI_Datatype datatype, int *size)
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_size", datatype, &c, &t);
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    *size = t->size > INT32_MAX ? MPI_UNDEFINED : (int)t->size;
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_size_x)(MPI_Datatype datatype, MPI_Count *size)
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_size_x", datatype, &c, &t);
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    *size = (MPI_Count)t->size;
    return mpi__end(c, MPI_SUCCESS);
}

static int extent_of(const char *name, MPI_Datatype datatype, bool only_data, MPI_Aint *lb, MPI_Aint *extent)
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask(name, datatype, &c, &t);
    if (!code) code = mpi__place(c, lb, "lb");
    if (!code) code = mpi__place(c, extent, "extent");
    if (code) return code;
    *lb = only_data ? t->true_lb : t->lb;
    *extent = only_data ? t->true_extent : t->extent;
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_get_extent)(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    return extent_of("MPI_Type_get_extent", datatype, false, lb, extent);
}

API(Type_get_true_extent)(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    return extent_of("MPI_Type_get_true_extent", datatype, true, true_lb, true_extent);
}

API(Type_get_extent_x)(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return extent_of("MPI_Type_get_extent_x", datatype, false, (MPI_Aint *)lb, (MPI_Aint *)extent);
}

API(Type_get_true_extent_x)(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return extent_of("MPI_Type_get_true_extent_x", datatype, true, (MPI_Aint *)true_lb, (MPI_Aint *)true_extent);
}

API(Type_get_envelope)
(MPI_Datatype datatype, int *num_integers, int *num_addresses, int *num_datatypes, int *combiner)
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_get_envelope", datatype, &c, &t);
    if (!code) code = mpi__place(c, num_integers, "num_integers");
    if (!code) code = mpi__place(c, num_addresses, "num_addresses");
    if (!code) code = mpi__place(c, num_datatypes, "num_datatypes");
    if (!code) code = mpi__place(c, combiner, "combiner");
    if (code) return code;
    *num_integers = t->int_count;
    *num_addresses = t->aint_count;
    *num_datatypes = t->type_count;
    *combiner = t->combiner;
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_get_contents)
(MPI_Datatype datatype, int max_integers, int max_addresses, int max_datatypes, int integers[], MPI_Aint addresses[],
 MPI_Datatype datatypes[])
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_get_contents", datatype, &c, &t);
    if (code) return code;
    if (t->predefined)
        return mpi__end(
            c, mpi__wrong(c, MPI_ERR_TYPE, P2P_ARGUMENT_TYPE, "%s is predefined: it has no contents", t->name));
    if (max_integers < t->int_count || max_addresses < t->aint_count || max_datatypes < t->type_count)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_COUNT, "there is no room for all of the contents"));
    if (t->int_count) code = mpi__check_pointer(c, integers, "integers");
    if (!code && t->aint_count) code = mpi__check_pointer(c, addresses, "addresses");
    if (!code && t->type_count) code = mpi__check_pointer(c, datatypes, "datatypes");
    if (code) return mpi__end(c, code);
    if (t->int_count) memcpy(integers, t->ints, (size_t)t->int_count * sizeof *integers);
    if (t->aint_count) memcpy(addresses, t->aints, (size_t)t->aint_count * sizeof *addresses);
    for (int i = 0; i < t->type_count; i++) {
        mpi__type *inner = t->types[i];
        datatypes[i] = inner->handle;
        if (inner->like) continue;
        mpi__type_keep(inner);
        if (inner->handles++ == 0) p2p_layer_made(c->p2p, "type", &inner->object.thing);
    }
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_get_name)(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    mpi__comm *c;
    mpi__type *t;
    bool null = datatype == MPI_DATATYPE_NULL; /* has a name too */
    int code = ask("MPI_Type_get_name", null ? MPI_BYTE : datatype, &c, &t);
    if (!code) code = mpi__place(c, type_name, "type_name");
    if (!code) code = mpi__place(c, resultlen, "resultlen");
    if (code) return code;
    *resultlen = snprintf(type_name, MPI_MAX_OBJECT_NAME, "%s", null ? "MPI_DATATYPE_NULL" : t->name);
    return mpi__end(c, MPI_SUCCESS);
}

API(Type_set_name)(MPI_Datatype datatype, const char *type_name)
{
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_set_name", datatype, &c, &t);
    if (!code) code = mpi__place(c, type_name, "type_name");
    if (code) return code;
    snprintf(t->name, sizeof t->name, "%s", type_name);
    return mpi__end(c, MPI_SUCCESS);
}

/* The predefined type of a class that has this size. */
API(Type_match_size)(int typeclass, int size, MPI_Datatype *datatype)
{
    static const MPI_Datatype reals[] = {MPI_REAL4, MPI_REAL8, MPI_REAL16},
                              integers[] = {MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8},
                              complexes[] = {MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32};
    const struct {
        int class, count;
        const MPI_Datatype *types;
    } all[] = {
        {MPI_TYPECLASS_REAL, 3, reals}, {MPI_TYPECLASS_INTEGER, 4, integers}, {MPI_TYPECLASS_COMPLEX, 3, complexes}};
    mpi__comm *c;
    int code = mpi__begin_local(&c, "MPI_Type_match_size");
    if (!code) code = mpi__place(c, datatype, "datatype");
    if (code) return code;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < all[i].count && all[i].class == typeclass; k++) {
            if (mpi__type_of(all[i].types[k])->size != (size_t)size) continue;
            *datatype = all[i].types[k];
            return mpi__end(c, MPI_SUCCESS);
        }
    return mpi__end(
        c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_TYPE, "there is no type of this class with %d bytes", size));
}

API(Type_get_value_index)(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype *pair_type)
{
#define PAIR(handle, first, first_type, second, second_type) {handle, first, second},
    static const struct {
        MPI_Datatype pair, value, index;
    } pairs[] = {MPI__PAIR_LIST(PAIR)};
#undef PAIR
    mpi__comm *c;
    mpi__type *t;
    int code = ask("MPI_Type_get_value_index", value_type, &c, &t);
    if (!code) code = mpi__place(c, pair_type, "pair_type");
    if (code) return code;
    code = mpi__check_type(c, index_type, &t);
    if (code) return mpi__end(c, code);
    *pair_type = MPI_DATATYPE_NULL;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].value == value_type && pairs[i].index == index_type) *pair_type = pairs[i].pair;
    return mpi__end(c, MPI_SUCCESS);
}

/* ---- Packing by hand ---- */

API(Pack)
(const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, int outsize, int *position, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Pack"});
    if (!code) code = mpi__place(c, position, "position");
    if (code) return code;
    code = mpi__check_data(c, inbuf, incount, datatype, &t);
    if (!code && (size_t)incount * t->size > (size_t)(outsize > *position ? outsize - *position : 0))
        code = mpi__wrong(c, MPI_ERR_TRUNCATE, P2P_ARGUMENT_COUNT,
                          "%zu bytes do not fit into a buffer of %d, from %d on", (size_t)incount * t->size, outsize,
                          *position);
    if (code) return mpi__end(c, code);
    mpi__pack(t, inbuf, (size_t)incount, (char *)outbuf + *position);
    *position += (int)((size_t)incount * t->size);
    return mpi__end(c, MPI_SUCCESS);
}

API(Unpack)
(const void *inbuf, int insize, int *position, void *outbuf, int outcount, MPI_Datatype datatype, MPI_Comm comm)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = "MPI_Unpack"});
    if (!code) code = mpi__place(c, position, "position");
    if (code) return code;
    code = mpi__check_data(c, outbuf, outcount, datatype, &t);
    if (!code && (size_t)outcount * t->size > (size_t)(insize > *position ? insize - *position : 0))
        code = mpi__wrong(c, MPI_ERR_TRUNCATE, P2P_ARGUMENT_COUNT, "%zu bytes are not in a buffer of %d, from %d on",
                          (size_t)outcount * t->size, insize, *position);
    if (code) return mpi__end(c, code);
    mpi__unpack(t, outbuf, (const char *)inbuf + *position, (size_t)outcount * t->size);
    *position += (int)((size_t)outcount * t->size);
    return mpi__end(c, MPI_SUCCESS);
}

static int pack_size(const char *name, MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, const void *size,
                     MPI_Count *bytes)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin(&c, comm, &(p2p_layer_call){.name = name});
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    code = mpi__check_type(c, datatype, &t);
    if (!code && incount < 0)
        code = mpi__wrong(c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %lld is negative", (long long)incount);
    if (!code) *bytes = incount * (MPI_Count)t->size;
    return mpi__end(c, code);
}

API(Pack_size)(int incount, MPI_Datatype datatype, MPI_Comm comm, int *size)
{
    MPI_Count bytes = 0;
    int code = pack_size("MPI_Pack_size", incount, datatype, comm, size, &bytes);
    if (!code) *size = bytes > INT32_MAX ? MPI_UNDEFINED : (int)bytes;
    return code;
}

API(Pack_size_c)(MPI_Count incount, MPI_Datatype datatype, MPI_Comm comm, MPI_Count *size)
{
    return pack_size("MPI_Pack_size_c", incount, datatype, comm, size, size);
}
