/* SPDX-License-Identifier: MIT */
/*
 * The device of check_opencl.h: work-items are coroutines, one of which runs at a time, and what kernels call. What they read
 * and write is looked at in check_accesses.c.
 */
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include "exercises/check/check_opencl.h"

#define HERE __builtin_return_address(0)

/* exercises/check/opencl.h has these for kernels; here its macros would be in the way. */
enum { LOCAL_FENCE = 1, GLOBAL_FENCE = 2 };

typedef struct {
    ucontext_t context;
    char *stack;
    bool ended;
    int line, flags; /* of the barrier at which it waits */
    size_t reads[DEVICE_BUFFERS];
} item;

static struct {
    item items[DEVICE_GROUP];
    ucontext_t scheduler;
    const device_range *range;
} device;

device_position device_at;
double device_barriers;

/* ---- What a kernel calls ---- */

static size_t in_dimension(size_t linear, const size_t sizes[2], unsigned dimension)
{
    return dimension == 0 ? linear % sizes[0] : dimension == 1 ? linear / sizes[0] : 0;
}

unsigned get_work_dim(void);
size_t get_global_id(unsigned dimension);
size_t get_local_id(unsigned dimension);
size_t get_group_id(unsigned dimension);
size_t get_global_size(unsigned dimension);
size_t get_local_size(unsigned dimension);
size_t get_num_groups(unsigned dimension);
size_t get_global_offset(unsigned dimension);
void check_barrier(int flags, int line);
int atomic_add(volatile void *at, int value);
int atomic_xchg(volatile void *at, int value);
int atomic_min(volatile void *at, int value);
int atomic_max(volatile void *at, int value);
int atomic_cmpxchg(volatile void *at, int expected, int value);

unsigned get_work_dim(void)
{
    return device.range->global[1] > 1 ? 2 : 1;
}
size_t get_global_size(unsigned d)
{
    return d < 2 ? device.range->global[d] : 1;
}
size_t get_local_size(unsigned d)
{
    return d < 2 ? device.range->local[d] : 1;
}
size_t get_num_groups(unsigned d)
{
    return d < 2 ? device.range->global[d] / device.range->local[d] : 1;
}
size_t get_local_id(unsigned d)
{
    return in_dimension(device_at.item, device.range->local, d);
}
size_t get_global_offset(unsigned d)
{
    return (void)d, 0;
}

size_t get_group_id(unsigned d)
{
    const size_t groups[2] = {get_num_groups(0), get_num_groups(1)};
    return in_dimension(device_at.group, groups, d);
}

size_t get_global_id(unsigned d)
{
    return get_group_id(d) * get_local_size(d) + get_local_id(d);
}

void check_barrier(int flags, int line)
{
    item *me = &device.items[device_at.item];
    me->line = line;
    me->flags = flags;
    device_leave();
}

#define ATOMIC(name, after)                                      \
    int name(volatile void *at, int value)                       \
    {                                                            \
        device_access(at, sizeof(int), false, true, true, HERE); \
        int before = *(volatile int *)at;                        \
        *(volatile int *)at = after;                             \
        return before;                                           \
    }
ATOMIC(atomic_add, (int)((unsigned)before + (unsigned)value))
ATOMIC(atomic_xchg, value)
ATOMIC(atomic_min, before < value ? before : value)
ATOMIC(atomic_max, before > value ? before : value)

int atomic_cmpxchg(volatile void *at, int expected, int value)
{
    device_access(at, sizeof(int), false, true, true, HERE);
    int before = *(volatile int *)at;
    if (before == expected) *(volatile int *)at = value;
    return before;
}

/* ---- Work-items and work-groups ---- */

void device_leave(void)
{
    swapcontext(&device.items[device_at.item].context, &device.scheduler);
}

static void run_item(void)
{
    device.range->item(device.range->arg);
    device.items[device_at.item].ended = true;
    device_leave();
}

static void resume(size_t number, bool first)
{
    item *i = &device.items[number];
    if (first) {
        if (!i->stack) i->stack = malloc(DEVICE_STACK);
        getcontext(&i->context);
        i->context.uc_stack.ss_sp = i->stack;
        i->context.uc_stack.ss_size = DEVICE_STACK;
        i->context.uc_link = NULL;
        i->ended = false;
        memset(i->reads, 0, sizeof i->reads);
        makecontext(&i->context, run_item, 0);
    }
    device_at.item = (uint32_t)number;
    device_at.stack = i->stack;
    device_at.reads = i->reads;
    device_at.running = true;
    swapcontext(&device.scheduler, &i->context);
    device_at.running = false;
}

/* Do all wait at the same barrier? */
static bool all_agree(size_t size)
{
    const item *first = &device.items[0];
    for (size_t i = 1; i < size; i++) {
        const item *one = &device.items[i];
        if (one->ended == first->ended && (one->ended || one->line == first->line)) continue;
        bool waits = !first->ended;
        device_found[DEVICE_KIND] = one->ended == first->ended ? DEVICE_BARRIERS : DEVICE_BARRIER;
        device_found[DEVICE_ITEM] = waits ? 0 : (double)i;
        device_found[DEVICE_OTHER_ITEM] = waits ? (double)i : 0;
        device_found[DEVICE_PLACE] = waits ? first->line : one->line;
        device_found[DEVICE_OTHER_PLACE] = one->line;
        device_found[DEVICE_GROUP_OF] = device_found[DEVICE_OTHER_GROUP] = device_at.group;
        device_at.stopped = true;
        return false;
    }
    return true;
}

/* Which comes i-th. */
static size_t in_order(size_t i, size_t count, size_t round)
{
    static const size_t prime = 7919; /* divides no count that a test has */
    if (device.range->order == DEVICE_FORWARD) return i;
    return device.range->order == DEVICE_BACKWARD ? count - 1 - i : (i * prime + round * 3) % count;
}

static void run_group(size_t size)
{
    device_at.local_barriers = device_at.global_barriers = device_at.all_barriers = 1;
    for (size_t round = 0; !device_at.stopped; round++) {
        device_found[DEVICE_AGAIN] = 0;
        for (size_t i = 0; i < size && !device_at.stopped; i++) resume(in_order(i, size, round), round == 0);
        if (device_at.stopped || !all_agree(size)) break;
        device_at.stopped = device_found[DEVICE_KIND] != DEVICE_FINE;
        if (device_at.stopped || device.items[0].ended) break;
        int flags = LOCAL_FENCE | GLOBAL_FENCE;
        for (size_t i = 0; i < size; i++) flags &= device.items[i].flags;
        device_at.local_barriers += (flags & LOCAL_FENCE) != 0;
        device_at.global_barriers += (flags & GLOBAL_FENCE) != 0;
        device_at.all_barriers++;
    }
    if (device_at.all_barriers - 1 > device_barriers) device_barriers = device_at.all_barriers - 1;
    for (size_t i = 0; i < size; i++)
        for (int k = 0; k < DEVICE_BUFFERS; k++)
            if ((double)device.items[i].reads[k] > device_counts[k][DEVICE_MOST_READS])
                device_counts[k][DEVICE_MOST_READS] = (double)device.items[i].reads[k];
}

void device_run(const device_range *range)
{
    size_t size = range->local[0] * range->local[1];
    size_t groups = range->global[0] / range->local[0] * (range->global[1] / range->local[1]);
    device_forget();
    device_barriers = 0;
    device.range = range;
    device_at.stopped = false;
    for (size_t g = 0; g < groups && !device_at.stopped; g++) {
        device_at.group = (uint32_t)in_order(g, groups, 0);
        run_group(size);
    }
}
