/* SPDX-License-Identifier: MIT */
/* Predefined types, and what all types have: handles, signatures, their bytes in one piece and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/basic.h"
#include "mpi/collective.h"

static struct {
    mpi__type type;
    enum mpi__class class;
    const char *name; /* the standard's, whatever the program calls it */
    mpi__segment segments[2];
} basic[256];

/* ---- Signatures ---- */

static struct {
    mpi__signature **places;
    size_t room, used; /* room: a power of 2 */
} signatures;

static size_t shortest_period(const unsigned char *codes, size_t count)
{
    for (size_t period = 1; period <= count / 2; period++)
        if (count % period == 0 && memcmp(codes, codes + period, count - period) == 0) return period;
    return count;
}

/* long and long long are the same where they are as long, and so are bytes and unsigned characters: callers that go by the
 * bytes (mpi4py's) mix them up. What stands for another comes before it in MPI__BASIC_LIST. */
static unsigned char representative(unsigned char code)
{
    if (code == mpi__code(MPI_UNSIGNED_CHAR)) return mpi__code(MPI_BYTE);
    if (sizeof(long) != sizeof(long long)) return code;
    if (code == mpi__code(MPI_LONG_LONG)) return mpi__code(MPI_LONG);
    return code == mpi__code(MPI_UNSIGNED_LONG_LONG) ? mpi__code(MPI_UNSIGNED_LONG) : code;
}

bool mpi__same_kind(uint16_t a, uint16_t b)
{
    if (a >= 256 || b >= 256) return a == b;
    return representative((unsigned char)a) == representative((unsigned char)b);
}

uint16_t mpi__shown_kind(const mpi__type *type)
{
    uint16_t kind = type->signature->kind;
    return kind < 256 ? representative((unsigned char)kind) : kind;
}

/* One predefined type: its code. Several: a hash, which is never that small. */
static uint16_t kind_of(const unsigned char *codes, size_t length)
{
    uint32_t hash = 2166136261u;
    if (length == 1) return codes[0] == mpi__code(MPI_PACKED) ? 0 : codes[0];
    for (size_t i = 0; i < length; i++) hash = (hash ^ representative(codes[i])) * 16777619u;
    return (uint16_t)(0x8000 | ((hash ^ hash >> 15) & (MPI__SENT_SYNCHRONOUSLY - 1)));
}

static const char *name_of(const unsigned char *codes, size_t length)
{
    char text[28];
    size_t used = 0;
    if (length == 1) return basic[codes[0]].name;
    text[used++] = '{';
    for (size_t i = 0; i < length && used < sizeof text - 1; i++) {
        const char *name = basic[codes[i]].name + strlen("MPI_");
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? "," : "", name);
    }
    if (used >= sizeof text - 1) /* the names of two must differ where they do */
        snprintf(text + 17, sizeof text - 17, "..#%04x}", kind_of(codes, length));
    else
        snprintf(text + used, sizeof text - used, "}");
    return strdup(text);
}

static uint32_t hash_of(const unsigned char *codes, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ codes[i]) * 16777619u;
    return hash ^ hash >> 15;
}

/* There are more places than signatures. */
static bool make_room(void)
{
    size_t room = signatures.room ? 2 * signatures.room : 256;
    if (signatures.used < signatures.room) return true;
    mpi__signature **places = calloc(room, sizeof *places);
    if (!places) return false;
    for (size_t i = 0; i < signatures.room; i++)
        for (mpi__signature *at = signatures.places[i], *next; at; at = next) {
            next = at->next;
            at->next = places[at->hash % room];
            places[at->hash % room] = at;
        }
    free(signatures.places);
    signatures.places = places;
    signatures.room = room;
    return true;
}

/* The signature of what stands for these codes; NULL: they stand for themselves, or there is no memory. */
static const mpi__signature *like(const unsigned char *codes, size_t length)
{
    size_t same = 0, times;
    while (same < length && representative(codes[same]) == codes[same]) same++;
    unsigned char *all = same < length ? malloc(length) : NULL;
    for (size_t i = 0; all && i < length; i++) all[i] = representative(codes[i]);
    const mpi__signature *found = all ? mpi__signature_of(all, length, &times) : NULL;
    free(all);
    return found;
}

const mpi__signature *mpi__signature_of(const unsigned char *codes, size_t count, size_t *times)
{
    size_t length = shortest_period(codes, count);
    const uint32_t hash = hash_of(codes, length);
    *times = length ? count / length : 0;
    if (!make_room()) return NULL;
    for (const mpi__signature *at = signatures.places[hash % signatures.room]; at; at = at->next)
        if (at->length == length && memcmp(at->codes, codes, length) == 0) return at;
    const mpi__signature *other = like(codes, length); /* which may need room */
    mpi__signature *made = make_room() ? malloc(sizeof *made + length) : NULL;
    if (!made) return NULL;
    *made = (mpi__signature){.hash = hash, .length = length, .like = other ? other : made};
    made->kind = other && length > 1 ? other->kind : kind_of(codes, length);
    memcpy(made->codes, codes, length);
    for (size_t i = 0; i < length; i++) made->bytes += basic[codes[i]].type.size;
    made->name = name_of(codes, length);
    made->next = signatures.places[hash % signatures.room];
    signatures.places[hash % signatures.room] = made;
    signatures.used++;
    return made;
}

/* Of as many of its types as a message has that is not a whole number of them. */
static uint16_t kind_of_part(const mpi__signature *s, size_t bytes)
{
    size_t times, used = 0, codes = 0;
    for (size_t left = bytes; left; codes++) {
        size_t size = basic[s->codes[codes % s->length]].type.size;
        if (size > left) return UINT16_MAX; /* it ends inside of an element: no message of whole ones does */
        left -= size;
    }
    unsigned char *all = codes <= MPI__CODES_MOST ? malloc(codes) : NULL; /* a longer one is taken to be right */
    for (; all && used < codes; used++) all[used] = s->codes[used % s->length];
    const mpi__signature *part = all ? mpi__signature_of(all, codes, &times) : NULL;
    free(all);
    return part ? part->kind : 0;
}

uint16_t mpi__expected_kind(const mpi__type *type, size_t bytes)
{
    const mpi__signature *s = type->signature;
    return !s->kind || !s->bytes || bytes % s->bytes == 0 ? s->kind : kind_of_part(s, bytes);
}

const char *mpi__kind_name(uint16_t kind)
{
    for (size_t i = 0; i < signatures.room; i++)
        for (const mpi__signature *at = signatures.places[i]; at; at = at->next)
            if (at->kind == kind) return at->name;
    return kind < 256 && basic[kind].name ? basic[kind].name : "another type";
}

const char *mpi__kinds_differ(uint16_t expected, uint16_t came)
{
    static char text[400];
    came &= (uint16_t)~MPI__SENT_SYNCHRONOUSLY;
    if (!came || mpi__same_kind(expected, came)) return NULL;
    snprintf(text, sizeof text, "%.180s was sent, %.180s is received", mpi__kind_name(came), mpi__kind_name(expected));
    return text;
}

size_t mpi__basic_size(unsigned char code)
{
    return basic[code].type.size;
}

enum mpi__class mpi__class_of(const mpi__type *predefined)
{
    return basic[mpi__code(predefined->like)].class;
}

/* ---- Predefined types ---- */

static mpi__type *open_type(MPI_Datatype handle, const char *name, size_t size, size_t extent, size_t alignment,
                            enum mpi__class class)
{
    unsigned char code = mpi__code(handle);
    mpi__type *t = &basic[code].type;
    basic[code].class = class;
    basic[code].name = name;
    t->object = (mpi__object){.magic = MPI__LIVE | MPI__TYPE, .references = 1};
    t->handle = t->like = handle;
    snprintf(t->name, sizeof t->name, "%s", name);
    t->size = size;
    t->extent = t->true_extent = (ptrdiff_t)extent;
    t->segments = basic[code].segments;
    t->segments[0] = (mpi__segment){0, size, 1, 0};
    t->segment_count = size ? 1 : 0;
    t->dense = size == extent;
    t->alignment = alignment;
    t->predefined = t->committed = true;
    t->combiner = MPI_COMBINER_NAMED;
    t->signature = mpi__signature_of(&code, 1, &t->units);
    return t;
}

static void open_pair(MPI_Datatype handle, const char *name, MPI_Datatype first, MPI_Datatype second, size_t offset,
                      size_t extent)
{
    unsigned char codes[] = {mpi__code(first), mpi__code(second)};
    size_t a = basic[codes[0]].type.size, b = basic[codes[1]].type.size;
    size_t first_alignment = basic[codes[0]].type.alignment, alignment = basic[codes[1]].type.alignment;
    if (first_alignment > alignment) alignment = first_alignment;
    mpi__type *t = open_type(handle, name, a + b, extent, alignment, MPI__PAIRS);
    t->signature = mpi__signature_of(codes, 2, &t->units);
    t->true_extent = (ptrdiff_t)(offset + b);
    if (offset == a) return;
    t->segments[0] = (mpi__segment){0, a, 1, 0};
    t->segments[1] = (mpi__segment){(ptrdiff_t)offset, b, 1, 0};
    t->segment_count = 2;
}

void mpi__types_open(void)
{
#define OPEN(handle, type, class) open_type(handle, #handle, sizeof(type), sizeof(type), _Alignof(type), class);
    MPI__BASIC_LIST(OPEN)
#undef OPEN
#define OPEN(handle, first, first_type, second, second_type)                                          \
    {                                                                                                 \
        struct pair {                                                                                 \
            first_type value;                                                                         \
            second_type index;                                                                        \
        };                                                                                            \
        open_pair(handle, #handle, first, second, offsetof(struct pair, index), sizeof(struct pair)); \
    }
    MPI__PAIR_LIST(OPEN)
#undef OPEN
}

struct mpi__recent mpi__recent;

mpi__type *mpi__type_of(MPI_Datatype handle)
{
    uintptr_t number = (uintptr_t)handle;
    bool freed;
    if (number < 0x1000) {
        mpi__type *t = &basic[number & 0xff].type;
        if (number >> 8 != 2 || !t->predefined) return NULL;
        mpi__recent = (struct mpi__recent){handle, t};
        return t;
    }
    mpi__type *t = mpi__object_of(MPI__TYPE, handle, &freed);
    return t && t->handles ? t : NULL;
}

void mpi__type_keep(mpi__type *type)
{
    type->object.references++;
}

void mpi__type_drop(mpi__type *type)
{
    if (!mpi__release(type)) return;
    for (int i = 0; i < type->type_count; i++) mpi__type_drop(type->types[i]);
    free(type->segments);
    free(type->ints);
    free(type->aints);
    free(type->types);
    mpi__object_free(type);
}

/* ---- Packing ---- */

void mpi__pack(const mpi__type *type, const void *buf, size_t count, void *packed)
{
    char *to = packed;
    if (type->dense) {
        if (count && type->size) p2p_layer_copy(to, mpi__data(type, buf), count * type->size);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const char *element = (const char *)buf + (ptrdiff_t)i * type->extent;
        for (size_t k = 0; k < type->segment_count; k++) {
            const mpi__segment s = type->segments[k];
            for (size_t n = 0; n < s.times; n++, to += s.bytes)
                memcpy(to, element + s.offset + (ptrdiff_t)n * s.stride, s.bytes);
        }
    }
}

void mpi__unpack(const mpi__type *type, void *buf, const void *packed, size_t bytes)
{
    const char *from = packed;
    if (type->dense) {
        if (bytes) p2p_layer_copy(mpi__data(type, buf), from, bytes);
        return;
    }
    for (char *element = buf; bytes && type->size; element += type->extent)
        for (size_t k = 0; k < type->segment_count && bytes; k++) {
            const mpi__segment s = type->segments[k];
            for (size_t n = 0; n < s.times && bytes; n++) {
                size_t part = s.bytes < bytes ? s.bytes : bytes;
                memcpy(element + s.offset + (ptrdiff_t)n * s.stride, from, part);
                from += part;
                bytes -= part;
            }
        }
}

int mpi__piece_out(mpi__comm *c, const mpi__type *type, const void *buf, size_t count, mpi__piece *piece)
{
    *piece = (mpi__piece){mpi__data(type, buf), NULL, count * type->size};
    int code = mpi__check_unused(c, type, buf, count, false);
    if (code || !piece->bytes || mpi__is_one_piece(type, count)) return code;
    piece->at = piece->owned = malloc(piece->bytes);
    if (!piece->owned) return mpi__no_memory(c);
    mpi__pack(type, buf, count, piece->owned);
    return MPI_SUCCESS;
}

int mpi__piece_in(mpi__comm *c, const mpi__type *type, void *buf, size_t count, mpi__piece *piece)
{
    *piece = (mpi__piece){mpi__data(type, buf), NULL, count * type->size};
    if (type->overlaps && count)
        return mpi__wrong(c, MPI_ERR_TYPE, P2P_ARGUMENT_TYPE,
                          "parts of the type overlap: nothing may be received there" MPI__TRY
                          "displacements that are at least a block apart");
    int code = mpi__check_unused(c, type, buf, count, true);
    if (code || !piece->bytes || mpi__is_one_piece(type, count)) return code;
    piece->at = piece->owned = malloc(piece->bytes);
    return piece->owned ? MPI_SUCCESS : mpi__no_memory(c);
}

void mpi__piece_in_done(const mpi__type *type, void *buf, mpi__piece *piece, size_t bytes)
{
    if (!piece->owned) return;
    mpi__unpack(type, buf, piece->owned, bytes);
    free(piece->owned);
    piece->owned = NULL;
}
