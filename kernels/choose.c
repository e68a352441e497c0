/* SPDX-License-Identifier: MIT */
/*
 * choose: which device, and how work is cut for it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 };

typedef struct {
    cl_device_id id[MOST_DEVICES];
    cl_device_type type[MOST_DEVICES];
    cl_uint count;
} devices;

bool kernel__parse_spec(const char *text, kernel__spec *spec)
{
    size_t kind = strcspn(text, ":");
    char *end;
    long index;

    if ((strncmp(text, "cpu", 3) != 0 && strncmp(text, "gpu", 3) != 0) || kind != 3) {
        *spec = (kernel__spec){"auto", 0};
        return strcmp(text, "auto") == 0;
    }
    index = text[kind] ? strtol(text + kind + 1, &end, 10) : 0;
    if (text[kind] && (text[kind + 1] < '0' || text[kind + 1] > '9' || *end || index > 999)) return false;
    *spec = (kernel__spec){"", (int)index};
    memcpy(spec->kind, text, kind);
    return true;
}

static void find_all(devices *found)
{
    cl_platform_id platforms[MOST_PLATFORMS];
    cl_uint platform_count = 0, more;

    found->count = 0;
    if (clGetPlatformIDs(MOST_PLATFORMS, platforms, &platform_count)) return;
    if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
    for (cl_uint p = 0; p < platform_count && found->count < MOST_DEVICES; p++) {
        cl_uint room = MOST_DEVICES - found->count;
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, room, found->id + found->count, &more)) continue;
        found->count += more < room ? more : room;
    }
    for (cl_uint i = 0; i < found->count; i++)
        if (clGetDeviceInfo(found->id[i], CL_DEVICE_TYPE, sizeof found->type[i], &found->type[i], NULL))
            found->type[i] = 0;
}

/* The index-th device of that type. */
static bool pick(const devices *found, cl_device_type type, int index, cl_device_id *id)
{
    for (cl_uint i = 0; i < found->count; i++)
        if ((found->type[i] & type) && index-- == 0) {
            *id = found->id[i];
            return true;
        }
    return false;
}

static void append(kernel_listing *listing, const char *kind, int index, const char *name)
{
    size_t length = strlen(listing->text);

    snprintf(listing->text + length, sizeof listing->text - length, "%s%s:%d (%s)", length ? ", " : "", kind, index,
             name);
}

static void list(const devices *found, kernel_listing *listing)
{
    *listing = (kernel_listing){0};
    for (cl_uint i = 0; i < found->count; i++) {
        char name[128] = "?";
        clGetDeviceInfo(found->id[i], CL_DEVICE_NAME, sizeof name, name, NULL);
        if (found->type[i] & CL_DEVICE_TYPE_CPU)
            append(listing, "cpu", listing->cpus++, name);
        else if (found->type[i] & CL_DEVICE_TYPE_GPU)
            append(listing, "gpu", listing->gpus++, name);
    }
    if (!*listing->text)
        snprintf(listing->text, sizeof listing->text,
                 "no OpenCL device was found\ntry: sudo apt-get install -y pocl-opencl-icd");
}

void kernel__survey(kernel_listing *listing)
{
    devices found;

    find_all(&found);
    list(&found, listing);
}

kernel_err kernel__choose(const kernel__spec *spec, cl_device_id *id, char *message, size_t bytes)
{
    bool is_auto = strcmp(spec->kind, "auto") == 0;
    kernel_listing listing;
    devices found;

    find_all(&found);
    if (is_auto && (pick(&found, CL_DEVICE_TYPE_GPU, 0, id) || pick(&found, CL_DEVICE_TYPE_CPU, 0, id)))
        return KERNEL_OK;
    if (!is_auto && pick(&found, spec->kind[0] == 'c' ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU, spec->index, id))
        return KERNEL_OK;
    list(&found, &listing);
    bool some = listing.cpus || listing.gpus;
    if (is_auto)
        snprintf(message, bytes, "kernel_open: no OpenCL device: %s%s", some ? "there are " : "", listing.text);
    else
        snprintf(message, bytes, "kernel_open: no OpenCL device %s:%d: %s%s", spec->kind, spec->index,
                 some ? "there are " : "", listing.text);
    return KERNEL_ERR_DEVICE;
}

/* ---- Tiles ----
 * A convolution's tile holds `channels` output channels times two vectors in registers, each loaded vector being used
 * `channels` times and each broadcast weight twice. 32 registers (AVX-512) hold 8 x 2 sums and what they need; 16
 * (AVX2, SSE) hold 4 x 2. The gradient by weight has rows x columns sums. On a GPU a work-item is one image, and 32 of
 * them lie side by side. */

static const kernel__tiles known_tiles[] = {
    {.lanes = 1, .items = 32, .channels = 4, .weight_rows = 4, .weight_columns = 4, .stretch = 1},
    {.lanes = 4, .items = 1, .channels = 4, .weight_rows = 2, .weight_columns = 4, .stretch = 4096},
    {.lanes = 8, .items = 1, .channels = 4, .weight_rows = 2, .weight_columns = 4, .stretch = 4096},
    {.lanes = 16, .items = 1, .channels = 8, .weight_rows = 4, .weight_columns = 4, .stretch = 4096},
};

static bool set_tiles(kernel_device *device, long lanes)
{
    for (size_t i = 0; i < COUNT(known_tiles); i++)
        if (known_tiles[i].lanes == lanes) {
            device->tiles = known_tiles[i];
            return true;
        }
    return false;
}

bool kernel__choose_tiles(kernel_device *device)
{
    const char *text = getenv("PAIRWISE_KERNEL_LANES");
    cl_uint width = 1;
    char *end;

    if (text) {
        long lanes = strtol(text, &end, 10);
        return *text && !*end && set_tiles(device, lanes);
    }
    clGetDeviceInfo(device->id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof width, &width, NULL);
    if (!device->info.is_cpu) return set_tiles(device, 1);
    return set_tiles(device, width >= 16 ? 16 : width >= 8 ? 8 : 4);
}
