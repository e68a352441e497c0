/* SPDX-License-Identifier: MIT */
/*
 * "external32": data in one form for all machines (MPI 3.1, 13.5.2): big-endian, each predefined type with a size of its
 * own. An element is packed as it is here first, and then put into that form one number after the other.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/basic.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "reversed() reverses");

enum { LONG_BYTES = 4, WIDE_BYTES = 2, QUAD_BYTES = 16 };

/* One number of a predefined type; a complex one is two. */
typedef struct {
    size_t here, there; /* bytes */
    bool is_signed, is_extended;
} number;

static number number_of(unsigned char code, size_t *count)
{
    const mpi__type *type = mpi__type_of((MPI_Datatype)(uintptr_t)(0x200 | code));
    enum mpi__class class = mpi__class_of(type);
    *count = class == MPI__COMPLEX_ ? 2 : 1;
    number n = {type->size / *count, type->size / *count, class == MPI__INT, false};
    if (code == mpi__code(MPI_LONG) || code == mpi__code(MPI_UNSIGNED_LONG)) n.there = LONG_BYTES;
    if (code == mpi__code(MPI_WCHAR)) n.there = WIDE_BYTES;
    n.is_extended = (class == MPI__FLOAT_ || class == MPI__COMPLEX_) && n.here == sizeof(long double);
    return n;
}

/* The lowest bytes of a number, the other way round; if there are fewer than wanted, its sign goes on. */
static void reversed(unsigned char *to, size_t to_bytes, const unsigned char *from, size_t from_bytes, bool low_first,
                     bool is_signed)
{
    unsigned char sign = from[low_first ? from_bytes - 1 : 0] & 0x80 && is_signed ? 0xff : 0;
    for (size_t i = 0; i < to_bytes; i++) { /* byte i from the lowest */
        unsigned char byte = i >= from_bytes ? sign : from[low_first ? i : from_bytes - 1 - i];
        to[low_first ? to_bytes - 1 - i : i] = byte;
    }
}

/* An x87 number has the exponent of a quadruple one, and shows the first bit of its fraction, which the other hides. */
static void extended_out(unsigned char *to, const unsigned char *from)
{
#if LDBL_MANT_DIG == 64
    unsigned char quad[QUAD_BYTES] = {0};
    uint64_t fraction;
    memcpy(&fraction, from, sizeof fraction);
    fraction <<= 1;
    memcpy(quad + 6, &fraction, sizeof fraction);
    memcpy(quad + 14, from + sizeof fraction, 2);
    from = quad;
#endif
    reversed(to, QUAD_BYTES, from, QUAD_BYTES, true, false);
}

static void extended_in(unsigned char *to, const unsigned char *from)
{
    unsigned char quad[QUAD_BYTES];
    reversed(quad, QUAD_BYTES, from, QUAD_BYTES, false, false);
#if LDBL_MANT_DIG == 64
    uint64_t fraction;
    memcpy(&fraction, quad + 6, sizeof fraction);
    bool normal = (quad[14] | (quad[15] & 0x7f)) != 0;
    fraction = fraction >> 1 | (uint64_t)normal << 63;
    memset(to, 0, QUAD_BYTES);
    memcpy(to, &fraction, sizeof fraction);
    memcpy(to + sizeof fraction, quad + 14, 2);
#else
    memcpy(to, quad, QUAD_BYTES);
#endif
}

/* `count` elements, between how they are packed here and there. */
static void convert(const mpi__type *type, size_t count, unsigned char *here, unsigned char *there, bool out)
{
    const mpi__signature *s = type->signature;
    for (size_t i = 0; i < count * type->units * s->length; i++) {
        size_t times;
        number n = number_of(s->codes[i % s->length], &times);
        for (; times; times--, here += n.here, there += n.there) {
            if (n.is_extended && out)
                extended_out(there, here);
            else if (n.is_extended)
                extended_in(here, there);
            else if (out)
                reversed(there, n.there, here, n.here, true, n.is_signed);
            else
                reversed(here, n.here, there, n.there, false, n.is_signed);
        }
    }
}

static size_t external_bytes(const mpi__type *type)
{
    size_t bytes = 0;
    const mpi__signature *s = type->signature;
    for (size_t i = 0; i < s->length; i++) {
        size_t times;
        number n = number_of(s->codes[i], &times);
        bytes += times * n.there;
    }
    return bytes * type->units;
}

static int check_form(mpi__comm *c, const char *datarep)
{
    if (datarep && strcmp(datarep, "external32") == 0) return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER,
                      "there is no form of data named \"%s\"" MPI__TRY "\"external32\"", datarep ? datarep : "");
}

static int pack(const char *name, const char *datarep, bool out, void *buf, MPI_Count count, MPI_Datatype datatype,
                void *packed, MPI_Count size, MPI_Count *position)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, position, "position");
    if (code) return code;
    code = check_form(c, datarep);
    if (!code) code = mpi__check_data(c, buf, count, datatype, &t);
    if (code) return mpi__end(c, code);
    size_t bytes = external_bytes(t) * (size_t)count, here = t->size * (size_t)count;
    if (bytes > (size_t)(size > *position ? size - *position : 0))
        return mpi__end(c, mpi__wrong(c, MPI_ERR_TRUNCATE, P2P_ARGUMENT_COUNT,
                                      "%zu bytes are more than a buffer of %lld has, from %lld on", bytes,
                                      (long long)size, (long long)*position));
    unsigned char *plain = malloc(here + 1), *at = (unsigned char *)packed + *position;
    if (!plain) return mpi__end(c, mpi__no_memory(c));
    if (out) mpi__pack(t, buf, (size_t)count, plain);
    convert(t, (size_t)count, plain, at, out);
    if (!out) mpi__unpack(t, buf, plain, here);
    free(plain);
    *position += (MPI_Count)bytes;
    return mpi__end(c, MPI_SUCCESS);
}

static int pack_size(const char *name, const char *datarep, MPI_Count count, MPI_Datatype datatype, MPI_Count *size)
{
    mpi__comm *c;
    mpi__type *t;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, size, "size");
    if (code) return code;
    code = check_form(c, datarep);
    if (!code) code = mpi__check_type(c, datatype, &t);
    if (!code && count < 0)
        code = mpi__wrong(c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT, "a count of %lld is negative", (long long)count);
    if (!code) *size = (MPI_Count)external_bytes(t) * count;
    return mpi__end(c, code);
}

_Static_assert(sizeof(MPI_Aint) == sizeof(MPI_Count), "a position is either");

API(Pack_external)
(const char datarep[], const void *inbuf, int incount, MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,
 MPI_Aint *position)
{
    return pack("MPI_Pack_external", datarep, true, (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize,
                (MPI_Count *)position);
}

API(Pack_external_c)
(const char datarep[], const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize,
 MPI_Count *position)
{
    return pack("MPI_Pack_external_c", datarep, true, (void *)(uintptr_t)inbuf, incount, datatype, outbuf, outsize,
                position);
}

API(Unpack_external)
(const char datarep[], const void *inbuf, MPI_Aint insize, MPI_Aint *position, void *outbuf, int outcount,
 MPI_Datatype datatype)
{
    return pack("MPI_Unpack_external", datarep, false, outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize,
                (MPI_Count *)position);
}

API(Unpack_external_c)
(const char datarep[], const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount,
 MPI_Datatype datatype)
{
    return pack("MPI_Unpack_external_c", datarep, false, outbuf, outcount, datatype, (void *)(uintptr_t)inbuf, insize,
                position);
}

API(Pack_external_size)(const char datarep[], int incount, MPI_Datatype datatype, MPI_Aint *size)
{
    return pack_size("MPI_Pack_external_size", datarep, incount, datatype, (MPI_Count *)size);
}

API(Pack_external_size_c)(const char datarep[], MPI_Count incount, MPI_Datatype datatype, MPI_Count *size)
{
    return pack_size("MPI_Pack_external_size_c", datarep, incount, datatype, size);
}
