/* SPDX-License-Identifier: MIT */
/*
 * program: from text to kernels. A program is looked for in memory, then in the cache on disk, then compiled; of
 * several processes that need the same one, a lock lets one compile and the others load.
 *
 * A driver that keeps what it has compiled is always given the text. PoCL compiles each kernel when it is first
 * launched, for the size of its work-groups; to make a binary it would compile every kernel of the program once more,
 * for work-groups of any size, and no launch uses those.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/layout.h"

enum { MOST_PARTS = 16, OPTIONS = 256, KEY = 1024 };

typedef struct {
    kernel_device *device;
    kernel__family family;
    const char *texts[MOST_PARTS];
    cl_uint count;
    char options[OPTIONS], key[KEY];
} recipe;

/* ---- What to build, and its key ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 1099511628211u;
    return hash;
}

static void describe(recipe *r, int vectors)
{
    const kernel_device *device = r->device;
    const kernel__tiles *tiles = &device->tiles;
    const char *const *parts = kernel__sources(r->family);
    uint64_t hash = 14695981039346656037u;

    for (r->count = 0; parts[r->count]; r->count++) r->texts[r->count] = parts[r->count];
    if (device->faults.build) r->texts[r->count++] = "\n#error this error was asked for by PAIRWISE_KERNEL_FAIL\n";
    for (cl_uint i = 0; i < r->count; i++) hash = hash_text(hash, r->texts[i]);
    snprintf(r->options, sizeof r->options,
             "-DLANES=%d -DITEMS=%d -DVECTORS=%d -DTILE=%d -DROWS=%d -DCOLUMNS=%d -DSTRETCH=%d -DGAP_EVERY=%d",
             tiles->lanes, tiles->items, vectors, tiles->channels * KERNEL__MOST_VECTORS / vectors, tiles->weight_rows,
             tiles->weight_columns, tiles->stretch, KERNEL__GAP_EVERY);
    snprintf(r->key, sizeof r->key, "%s | %s | %s | %s | %s | %016llx", device->platform, device->info.name,
             device->info.driver, kernel__family_name(r->family), r->options, (unsigned long long)hash);
}

/* ---- Three places to get it from ---- */

/* What is damaged or refused by the driver counts as absent. */
static cl_program load(recipe *r)
{
    kernel_device *device = r->device;
    size_t bytes;
    unsigned char *binary = device->driver_caches ? NULL : kernel__cache_load(device->cache, r->key, &bytes);
    cl_int status = CL_SUCCESS, code = CL_INVALID_BINARY;
    cl_program program = NULL;

    if (!binary || device->faults.build) goto done;
    program = clCreateProgramWithBinary(device->context, 1, &device->id, &bytes, (const unsigned char **)&binary,
                                        &status, &code);
    if (!program || code || status || clBuildProgram(program, 1, &device->id, r->options, NULL, NULL)) {
        if (program) clReleaseProgram(program);
        program = NULL;
        goto done;
    }
    device->counters.programs_loaded++;

done:
    free(binary);
    return program;
}

static void store(recipe *r, cl_program program)
{
    size_t bytes = 0;
    unsigned char *binary;

    if (r->device->driver_caches || !*r->device->cache ||
        clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL) || !bytes)
        return;
    binary = malloc(bytes);
    if (binary && clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL) == CL_SUCCESS)
        kernel__cache_store(r->device->cache, r->key, binary, bytes);
    free(binary);
}

static void say_log(recipe *r, cl_program program, cl_int code)
{
    static const char *const format = "clBuildProgram: %s (%d): program %s, options %s, device %s\n%s";
    char log[KERNEL__MESSAGE / 2] = "(no log)";
    size_t bytes = 0;
    char *whole;

    clGetProgramBuildInfo(program, r->device->id, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
    whole = bytes ? malloc(bytes + 1) : NULL;
    if (whole &&
        clGetProgramBuildInfo(program, r->device->id, CL_PROGRAM_BUILD_LOG, bytes, whole, NULL) == CL_SUCCESS) {
        whole[bytes] = 0;
        snprintf(log, sizeof log, "%s", whole);
        for (size_t end = strlen(log); end && log[end - 1] == '\n';) log[--end] = 0;
    }
    free(whole);
    kernel__fail(r->device, KERNEL_ERR_BUILD, format, kernel__cl_name(code), code, kernel__family_name(r->family),
                 r->options, r->device->info.name, log);
}

static cl_program compile(recipe *r)
{
    kernel_device *device = r->device;
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, r->count, r->texts, NULL, &code);

    if (kernel__cl(device, code, "clCreateProgramWithSource", "program %s", kernel__family_name(r->family)))
        return NULL;
    code = clBuildProgram(program, 1, &device->id, r->options, NULL, NULL);
    if (code) {
        say_log(r, program, code);
        clReleaseProgram(program);
        return NULL;
    }
    device->counters.programs_built++;
    store(r, program);
    return program;
}

/* What a driver keeps itself is there when the one that was waited for is done: the others take it at the same time. */
static int lock_for(const kernel_device *device, const char *key)
{
    int lock = kernel__cache_lock(device->cache, key, false);
    if (lock != KERNEL__BUSY || device->mode == KERNEL_SHARE) return lock;
    lock = kernel__cache_lock(device->cache, key, true);
    if (!device->driver_caches) return lock;
    kernel__cache_unlock(lock);
    return -1;
}

static cl_program get_program(kernel_device *device, kernel__family family, int vectors)
{
    recipe r = {.device = device, .family = family};
    cl_program program;
    int lock;

    describe(&r, vectors);
    program = load(&r);
    if (program) return program;
    lock = lock_for(device, r.key);
    if (lock == KERNEL__BUSY) return NULL;
    program = load(&r);
    if (!program) program = compile(&r);
    kernel__cache_unlock(lock);
    return program;
}

/* ---- Kernels ---- */

kernel__entry *kernel__find(kernel_device *device, kernel__family family, int vectors, const char *name)
{
    kernel__program *p = &device->programs[family][vectors - 1];
    size_t i = 0;

    if (device->err) return NULL;
    while (i < KERNEL__MOST_KERNELS && p->kernels[i].name && strcmp(p->kernels[i].name, name) != 0) i++;
    if (i == KERNEL__MOST_KERNELS) {
        kernel__fail(device, KERNEL_ERR_CL, "program %s: no room for kernel %s", kernel__family_name(family), name);
        return NULL;
    }
    p->kernels[i].name = name;
    return &p->kernels[i];
}

cl_kernel kernel__make(kernel_device *device, kernel__family family, int vectors, kernel__entry *entry)
{
    kernel__program *p = &device->programs[family][vectors - 1];
    cl_int code;
    cl_kernel made;

    if (entry->kernel) return entry->kernel;
    if (!p->program && !device->driver_caches) p->program = get_program(device, family, vectors);
    if (!p->program && device->driver_caches) {
        kernel__guarded before;
        kernel__guard(&before);
        p->program = get_program(device, family, vectors);
        kernel__unguard(&before);
    }
    if (!p->program) return NULL;
    made = clCreateKernel(p->program, entry->name, &code);
    if (kernel__cl(device, code, "clCreateKernel", "kernel %s of program %s", entry->name, kernel__family_name(family)))
        return NULL;
    return entry->kernel = made;
}

int kernel__lock_first(kernel_device *device, kernel__family family, int vectors, const char *name)
{
    recipe r = {.device = device, .family = family};
    char key[KEY + 64];

    if (!device->driver_caches) return -1;
    describe(&r, vectors);
    snprintf(key, sizeof key, "%s | %s", r.key, name);
    return lock_for(device, key);
}

static void release(kernel__program *p)
{
    for (size_t i = 0; i < KERNEL__MOST_KERNELS; i++)
        if (p->kernels[i].kernel) clReleaseKernel(p->kernels[i].kernel);
    if (p->program) clReleaseProgram(p->program);
}

void kernel__release_programs(kernel_device *device)
{
    for (int f = 0; f < KERNEL__FAMILIES; f++)
        for (int v = 0; v < KERNEL__MOST_VECTORS; v++) release(&device->programs[f][v]);
}
