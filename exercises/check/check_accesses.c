/* SPDX-License-Identifier: MIT */
/*
 * What the device of check_opencl.h knows of memory: the compiler announces every access of a kernel by a call
 * (-fsanitize=thread), and these calls are answered here. Of each float it is kept who wrote it last, and two of those who
 * have read it since.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/check/check_opencl.h"

enum { GUARD = 1 << 20, ARENA = 48 << 20, STATICS = 1 << 16 };

/* An access: of which work-item (counted from 1; 0: none) and group, after how many barriers that fence this memory and how
 * many of all, at which place of the program. */
typedef struct {
    uint32_t item, group, barriers, all_barriers, place;
    bool atomic;
} access_mark;

typedef struct {
    uintptr_t address; /* of local memory that a kernel declares: where it is */
    access_mark writer, reader, other_reader;
} shadow;

typedef struct {
    float *at;
    size_t floats;
    device_memory memory;
    shadow *shadows;
} buffer;

static struct {
    char *arena;
    size_t used;
    buffer buffers[DEVICE_BUFFERS];
    int count;
    shadow *statics;
} memory_of;

double device_found[DEVICE_FACTS];
double device_counts[DEVICE_BUFFERS][DEVICE_COUNTS];

extern char __executable_start[], __bss_start[], _end[];
extern const char __ehdr_start[];

/* ---- Buffers ---- */

void device_begin(void)
{
    if (!memory_of.arena) memory_of.arena = malloc(ARENA);
    if (!memory_of.statics) memory_of.statics = calloc(STATICS, sizeof *memory_of.statics);
    for (int i = 0; i < memory_of.count; i++) free(memory_of.buffers[i].shadows);
    memory_of.count = 0;
    memory_of.used = GUARD;
}

float *device_buffer(size_t floats, device_memory memory)
{
    buffer *b = &memory_of.buffers[memory_of.count++];
    size_t bytes = (floats * sizeof(float) + 63) / 64 * 64;
    if (memory_of.count > DEVICE_BUFFERS || memory_of.used + bytes + GUARD > ARENA) {
        fputs("==check== the test asks for too much memory of the device\n", stderr);
        abort();
    }
    *b = (buffer){.at = (float *)(void *)(memory_of.arena + memory_of.used), .floats = floats, .memory = memory};
    b->shadows = calloc(floats + 1, sizeof *b->shadows);
    for (size_t i = 0; i < floats; i++) b->at[i] = NAN;
    memory_of.used += bytes + GUARD;
    return b->at;
}

void device_forget(void)
{
    memset(device_found, 0, sizeof device_found);
    memset(device_counts, 0, sizeof device_counts);
    memset(memory_of.statics, 0, STATICS * sizeof *memory_of.statics);
}

/* ---- Findings ---- */

/* Ends all. What is not as sure is said when all work-items have come to a barrier or their end: if they have not come to the
 * same one, that is the cause; and a place that is read before it is written may be a race. */
static void stop(device_finding kind)
{
    device_found[DEVICE_KIND] = kind;
    device_at.stopped = true;
    device_leave();
}

static bool is_news(device_finding kind)
{
    return device_found[DEVICE_KIND] == DEVICE_FINE ||
           (kind == DEVICE_RACE && device_found[DEVICE_KIND] == DEVICE_UNSET);
}

static uint32_t place_of(const void *return_address)
{
    return (uint32_t)((uintptr_t)return_address - 1 - (uintptr_t)__ehdr_start);
}

static void note(const access_mark *mine, bool writes, int number, double element)
{
    device_found[DEVICE_PLACE] = mine->place;
    device_found[DEVICE_ITEM] = mine->item - 1;
    device_found[DEVICE_GROUP_OF] = mine->group;
    device_found[DEVICE_WRITES] = writes;
    device_found[DEVICE_BUFFER] = number;
    device_found[DEVICE_ELEMENT] = element;
    device_found[DEVICE_ELEMENTS] = number < 0 ? 0 : (double)memory_of.buffers[number].floats;
}

/* ---- Accesses ---- */

static bool races(const access_mark *before, const access_mark *mine)
{
    if (!before->item || (before->atomic && mine->atomic)) return false;
    if (before->group != mine->group) return true;
    return before->item != mine->item && before->barriers == mine->barriers;
}

static void look_for_race(const access_mark *before, bool wrote, const access_mark *mine, bool writes, int number,
                          double element)
{
    if (!races(before, mine) || !is_news(DEVICE_RACE)) return;
    note(mine, writes, number, element);
    device_found[DEVICE_OTHER_PLACE] = before->place;
    device_found[DEVICE_OTHER_ITEM] = before->item - 1;
    device_found[DEVICE_OTHER_GROUP] = before->group;
    device_found[DEVICE_OTHER_WRITES] = wrote;
    device_found[DEVICE_WEAK] = before->group == mine->group && before->all_barriers != mine->all_barriers;
    device_found[DEVICE_KIND] = DEVICE_RACE;
}

static void mark(shadow *s, device_memory memory, bool reads, bool writes, access_mark mine, int number, double element)
{
    bool local = memory == DEVICE_LOCAL;
    mine.barriers = local ? device_at.local_barriers : device_at.global_barriers;
    if (local && s->writer.item && s->writer.group != mine.group) s->writer.item = 0; /* each group has its own */
    if (local && s->reader.item && s->reader.group != mine.group) s->reader.item = s->other_reader.item = 0;
    mine.all_barriers = device_at.all_barriers;
    if (memory != DEVICE_FILLED && reads && !s->writer.item && is_news(DEVICE_UNSET)) {
        note(&mine, false, number, element);
        device_found[DEVICE_KIND] = DEVICE_UNSET;
    }
    look_for_race(&s->writer, true, &mine, writes, number, element);
    if (writes) {
        device_found[DEVICE_AGAIN] += local && s->writer.item == mine.item &&
                                      s->writer.all_barriers == mine.all_barriers;
        look_for_race(&s->reader, false, &mine, true, number, element);
        look_for_race(&s->other_reader, false, &mine, true, number, element);
        s->writer = mine;
    } else if (s->reader.item == mine.item && s->reader.group == mine.group) {
        s->reader = mine;
    } else {
        s->other_reader = s->reader;
        s->reader = mine;
    }
}

/* Local memory that a kernel declares is a variable of the program. */
static shadow *static_at(uintptr_t address)
{
    size_t i = (address >> 2) * 2654435761u % STATICS;
    while (memory_of.statics[i].address && memory_of.statics[i].address != address) i = (i + 1) % STATICS;
    memory_of.statics[i].address = address;
    return &memory_of.statics[i];
}

static int nearest(uintptr_t address)
{
    int best = 0;
    double least = INFINITY;
    for (int i = 0; i < memory_of.count; i++) {
        const buffer *b = &memory_of.buffers[i];
        double begin = (double)(uintptr_t)b->at, end = (double)(uintptr_t)(b->at + b->floats), at = (double)address;
        double away = at < begin ? begin - at : at - end;
        if (away < least) best = i, least = away;
    }
    return best;
}

static void look_at_float(uintptr_t address, bool reads, bool writes, access_mark mine)
{
    for (int i = 0; i < memory_of.count; i++) {
        const buffer *b = &memory_of.buffers[i];
        size_t element = (address - (uintptr_t)b->at) / sizeof(float);
        if (address < (uintptr_t)b->at || element >= b->floats) continue;
        device_counts[i][DEVICE_READS] += reads;
        device_counts[i][DEVICE_WROTE] += writes && !b->shadows[element].writer.item;
        device_at.reads[i] += reads;
        mark(&b->shadows[element], b->memory, reads, writes, mine, i, (double)element);
        return;
    }
    if (address - (uintptr_t)device_at.stack < DEVICE_STACK) return;
    if (address >= (uintptr_t)__executable_start && address < (uintptr_t)_end) {
        if (address >= (uintptr_t)__bss_start) mark(static_at(address), DEVICE_LOCAL, reads, writes, mine, -1, 0);
        return;
    }
    int number = nearest(address);
    intptr_t away = (intptr_t)(address - (uintptr_t)memory_of.buffers[number].at);
    note(&mine, writes, number, floor((double)away / sizeof(float)));
    stop(DEVICE_BOUNDS);
}

void device_access(const volatile void *at, size_t bytes, bool reads, bool writes, bool atomic, const void *from)
{
    if (!device_at.running) return;
    access_mark mine = {
        .item = device_at.item + 1, .group = device_at.group, .place = place_of(from), .atomic = atomic};
    uintptr_t first = (uintptr_t)at & ~(uintptr_t)3, last = ((uintptr_t)at + bytes - 1) & ~(uintptr_t)3;
    for (uintptr_t address = first; address <= last; address += sizeof(float))
        look_at_float(address, reads, writes, mine);
}

/* ---- What the compiler calls ---- */

#define HERE __builtin_return_address(0)
#define ACCESS(bytes)                                       \
    void __tsan_read##bytes(void *at);                      \
    void __tsan_write##bytes(void *at);                     \
    void __tsan_unaligned_read##bytes(void *at);            \
    void __tsan_unaligned_write##bytes(void *at);           \
    void __tsan_volatile_read##bytes(void *at);             \
    void __tsan_volatile_write##bytes(void *at);            \
    void __tsan_read##bytes(void *at)                       \
    {                                                       \
        device_access(at, bytes, true, false, false, HERE); \
    }                                                       \
    void __tsan_write##bytes(void *at)                      \
    {                                                       \
        device_access(at, bytes, false, true, false, HERE); \
    }                                                       \
    void __tsan_unaligned_read##bytes(void *at)             \
    {                                                       \
        device_access(at, bytes, true, false, false, HERE); \
    }                                                       \
    void __tsan_unaligned_write##bytes(void *at)            \
    {                                                       \
        device_access(at, bytes, false, true, false, HERE); \
    }                                                       \
    void __tsan_volatile_read##bytes(void *at)              \
    {                                                       \
        device_access(at, bytes, true, false, false, HERE); \
    }                                                       \
    void __tsan_volatile_write##bytes(void *at)             \
    {                                                       \
        device_access(at, bytes, false, true, false, HERE); \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_init(void);
void __tsan_func_entry(void *from);
void __tsan_func_exit(void);
void __tsan_read_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);

void __tsan_init(void)
{
}
void __tsan_func_entry(void *from)
{
    (void)from;
}
void __tsan_func_exit(void)
{
}
void __tsan_read_range(void *at, size_t bytes)
{
    device_access(at, bytes, true, false, false, HERE);
}
void __tsan_write_range(void *at, size_t bytes)
{
    device_access(at, bytes, false, true, false, HERE);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes)
{
    device_access(from, bytes, true, false, false, HERE);
    device_access(to, bytes, false, true, false, HERE);
    return memcpy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes)
{
    device_access(to, bytes, false, true, false, HERE);
    return memset(to, value, bytes);
}
