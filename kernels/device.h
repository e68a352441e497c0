/* SPDX-License-Identifier: MIT */
/*
 * device: what the files of this folder share. A layer's function looks like this everywhere:
 *
 *      kernel__need needs[] = {{"x", x, floats, KERNEL__ACTIVATION}, ...};
 *      kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));     nothing queued if it fails
 *      if (err) return err;
 *      kernel__call call = kernel__begin(device, KERNEL__CONV, layout.vectors, "conv_tile");
 *      kernel__slice(&call, x);                                                    arguments in order
 *      kernel__value(&call, &shape, sizeof shape);
 *      return kernel__run(&call, 1, tiles, pixels);
 *
 * kernel__begin compiles or loads the program when it is first used; an error is kept in the call until kernel__run.
 */
#ifndef PAIRWISE_KERNELS_DEVICE_H
#define PAIRWISE_KERNELS_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <signal.h>
#include <sys/types.h>

#include "kernels/kernels.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A program each, compiled once for each number of vectors (kernels/layout.h); sources.c has their texts. */
typedef enum {
    KERNEL__LAYERS,
    KERNEL__CONV,
    KERNEL__CONV_WEIGHT,
    KERNEL__VECTOR,
    KERNEL__LADDER,
    KERNEL__FAMILIES
} kernel__family;

enum { KERNEL__MOST_VECTORS = 2, KERNEL__MOST_KERNELS = 24, KERNEL__MESSAGE = 16384, KERNEL__PATH = 4096 };

typedef struct {
    const char *name; /* a literal */
    cl_kernel kernel; /* NULL: not made yet */
    bool listed, used;
} kernel__entry;

typedef struct {
    cl_program program; /* NULL: not used yet */
    kernel__entry kernels[KERNEL__MOST_KERNELS];
} kernel__program;

/* How convolutions are computed: by the fastest method for a shape, or by one method wherever it is possible. */
typedef enum {
    KERNEL__FASTEST,
    KERNEL__PLAIN,
    KERNEL__TILE,
    KERNEL__ROWS,
    KERNEL__TRANSPOSE,
    KERNEL__WINOGRAD
} kernel__way;

/* What PAIRWISE_KERNEL_FAIL asks to fail, for tests: "alloc:N" the N-th buffer from now, "launch:N" the N-th kernel,
 * "build" every compilation. */
typedef struct {
    long alloc, launch; /* 0: never */
    bool build;
} kernel__faults;

/* Sizes of the register tiles: see kernels/choose.c. */
typedef struct {
    int lanes;                       /* floats in a vector: 1, 4, 8 or 16 */
    int items;                       /* work-items side by side in a block: 1 on CPUs */
    int channels;                    /* of a convolution's tile, with two vectors; twice as many with one */
    int weight_rows, weight_columns; /* of a tile of the gradient by weight */
    int stretch;                     /* floats a work-item handles of a long vector */
} kernel__tiles;

struct kernel_device {
    pid_t owner;
    kernel_err err; /* sticks */
    char message[KERNEL__MESSAGE];
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    kernel_device_info info;
    kernel__tiles tiles;
    kernel_counters counters;
    kernel__faults faults;
    kernel__way way;
    kernel_mode mode;
    kernel__program programs[KERNEL__FAMILIES][KERNEL__MOST_VECTORS];
    kernel_buffer *scratch; /* for what a call needs between its own kernels */
    char platform[256];     /* version, for the cache's key */
    bool driver_caches;     /* the driver itself keeps on disk what it compiles */
    char cache[KERNEL__PATH];
};

struct kernel_buffer {
    kernel_device *device;
    const char *name;
    cl_mem memory;
    void *host; /* wrapped */
    size_t floats;
};

struct kernel_event {
    kernel_device *device;
    cl_event event;
};

/* ---- Errors (error.c). Each returns err, after noting the message; all but KERNEL_ERR_ARG stick. ---- */

kernel_err kernel__fail(kernel_device *device, kernel_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* call: "clCreateBuffer"; the rest says what for: "buffer x, 100 floats". KERNEL_OK if code is CL_SUCCESS. */
kernel_err kernel__cl(kernel_device *device, cl_int code, const char *call, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
const char *kernel__cl_name(cl_int code);

/* May this call do anything? Not under another process id, not after an error that sticks. */
kernel_err kernel__ready(kernel_device *device, const char *call);

/* Whose OpenCL it is: a process claims it before its first OpenCL call, and its children may not use it any more. */
kernel_err kernel__may_use(const char *call);
kernel_err kernel__claim(const char *call);
bool kernel__is_ours(void);

/* ---- Arguments (check.c) ---- */

typedef enum {
    KERNEL__REQUIRED = 0,
    KERNEL__ACTIVATION = 1, /* begins at a multiple of 16 floats */
    KERNEL__OPTIONAL = 2
} kernel__kind;

typedef struct {
    const char *name;
    kernel_slice slice;
    size_t floats;
    int kind; /* of kernel__kind */
} kernel__need;

/* kernel__ready, then: every slice is there, of this device, within its buffer, and aligned. */
kernel_err kernel__check(kernel_device *device, const char *call, const kernel__need needs[], size_t count);

/* n >= 0, the others >= 1, fewer than 2^31 elements with padding. */
kernel_err kernel__check_shape(kernel_device *device, const char *call, const char *name, kernel_shape shape);

bool kernel__same(kernel_slice a, kernel_slice b); /* the same place, and not none */
static inline bool kernel__given(kernel_slice slice)
{
    return slice.buffer != NULL;
}

/* ---- Programs (program.c, cache.c, sources.c) ---- */

/* The text of a family's program: parts to be joined, NULL at the end. */
const char *const *kernel__sources(kernel__family family);
const char *kernel__family_name(kernel__family family);

/* Where a kernel is kept; NULL after an error, which has been noted. */
kernel__entry *kernel__find(kernel_device *device, kernel__family family, int vectors, const char *name);

/* The kernel, its program compiled or from the cache. NULL after an error, which has been noted, and with KERNEL_SHARE
 * while another process compiles the program. */
cl_kernel kernel__make(kernel_device *device, kernel__family family, int vectors, kernel__entry *entry);

/* A driver that compiles a kernel when it is first launched, and keeps it on disk, should do so in one process at a
 * time. As kernel__cache_lock; KERNEL__BUSY only with KERNEL_SHARE. */
int kernel__lock_first(kernel_device *device, kernel__family family, int vectors, const char *name);
void kernel__release_programs(kernel_device *device);

/* Around what a driver that keeps kernels on disk compiles or takes from there: should it end the process, the folder is named
 * (guard.c). What the signals did before comes back. */
enum { KERNEL__DEADLY = 3 };
typedef struct {
    struct sigaction old[KERNEL__DEADLY];
} kernel__guarded;
void kernel__guard(kernel__guarded *before);
void kernel__unguard(const kernel__guarded *before);

/* Where programs are kept ("": nowhere), and PoCL is told to keep its own files there too. Before the first OpenCL
 * call. KERNEL_ERR_ARG if PAIRWISE_CACHE cannot be used. */
kernel_err kernel__cache_choose(char path[KERNEL__PATH]);

/* A program's binary from the cache, to be freed; NULL if there is none that is whole and for this key. */
unsigned char *kernel__cache_load(const char *folder, const char *key, size_t *bytes);
void kernel__cache_store(const char *folder, const char *key, const unsigned char *binary, size_t bytes);

/* Only one process at a time builds what a key is of. -1 where there is no cache; KERNEL__BUSY: another process has the
 * lock, and `wait` is false. unlock takes what lock returned. */
enum { KERNEL__BUSY = -2 };
int kernel__cache_lock(const char *folder, const char *key, bool wait);
void kernel__cache_unlock(int lock);

/* ---- Launches (launch.c) ---- */

typedef struct {
    kernel_device *device;
    kernel__family family;
    int vectors;
    kernel__entry *entry;
    cl_kernel kernel; /* NULL: not to be launched */
    cl_uint arguments;
    kernel_err err;
} kernel__call;

kernel__call kernel__begin(kernel_device *device, kernel__family family, int vectors, const char *name);
void kernel__slice(kernel__call *call, kernel_slice slice); /* two arguments: pointer, and place in floats */
void kernel__value(kernel__call *call, const void *value, size_t bytes);
void kernel__int(kernel__call *call, int value);
void kernel__float(kernel__call *call, float value);
kernel_err kernel__run(kernel__call *call, size_t x, size_t y, size_t z); /* work-items; nothing if one is 0 */

/* Room for `floats` floats that lasts until the next call that asks for some. */
kernel_err kernel__scratch(kernel_device *device, size_t floats, kernel_slice *slice);

/* ---- Layers that other layers use ---- */

/* kernel_conv_forward for the function `call`; with `add`, y += it. */
kernel_err kernel__conv_forward(kernel_device *device, const char *call, const kernel_conv *conv, kernel_slice x,
                                kernel_slice weight, kernel_slice y, bool add);

/* Work-items for `count` elements, a stretch each (vector.cl, update.cl). */
size_t kernel__stretches(const kernel_device *device, size_t count);

/* ---- Devices (choose.c) ---- */

typedef struct {
    char kind[8]; /* "auto", "cpu", "gpu" */
    int index;
} kernel__spec;

bool kernel__parse_spec(const char *text, kernel__spec *spec);

/* kernel_list, in this process. */
void kernel__survey(kernel_listing *listing);

/* The device that spec names; if there is none, `message` lists the devices that exist. */
kernel_err kernel__choose(const kernel__spec *spec, cl_device_id *id, char *message, size_t bytes);

/* How to cut work for this device; PAIRWISE_KERNEL_LANES overrides its vector width, for tests. */
bool kernel__choose_tiles(kernel_device *device);

#endif
