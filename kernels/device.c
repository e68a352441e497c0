/* SPDX-License-Identifier: MIT */
/*
 * device: opening and closing. All state is in the kernel_device; no OpenCL function is called before kernel_open.
 */
#include "kernels/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- What the caller and the environment ask for ---- */

static kernel_err read_spec(const char *text, kernel__spec *spec)
{
    const char *variable = text ? NULL : getenv("PAIRWISE_DEVICE"), *asked = text ? text : variable;

    if (kernel__parse_spec(asked ? asked : "auto", spec)) return KERNEL_OK;
    return kernel__fail(NULL, KERNEL_ERR_ARG, "%s: \"%s\" is no device: auto, cpu, gpu, cpu:K or gpu:K (K from 0)",
                        variable ? "PAIRWISE_DEVICE" : "kernel_open", asked);
}

static bool read_count(const char *text, const char *prefix, long *count)
{
    size_t length = strlen(prefix);
    char *end;

    if (strncmp(text, prefix, length) != 0) return false;
    *count = strtol(text + length, &end, 10);
    return text[length] && !*end && *count > 0;
}

static kernel_err read_faults(kernel__faults *faults)
{
    const char *text = getenv("PAIRWISE_KERNEL_FAIL");

    *faults = (kernel__faults){0};
    if (!text) return KERNEL_OK;
    faults->build = strcmp(text, "build") == 0;
    if (faults->build || read_count(text, "alloc:", &faults->alloc) || read_count(text, "launch:", &faults->launch))
        return KERNEL_OK;
    return kernel__fail(NULL, KERNEL_ERR_ARG,
                        "PAIRWISE_KERNEL_FAIL: \"%s\" is not alloc:N, launch:N (N from 1) or build", text);
}

static kernel_err read_plain(kernel__way *way)
{
    const char *text = getenv("PAIRWISE_KERNEL_PLAIN");
    bool plain = text && strcmp(text, "1") == 0;

    *way = plain ? KERNEL__PLAIN : KERNEL__FASTEST;
    if (!text || plain || strcmp(text, "0") == 0) return KERNEL_OK;
    return kernel__fail(NULL, KERNEL_ERR_ARG, "PAIRWISE_KERNEL_PLAIN: \"%s\" is not 0 or 1", text);
}

/* PoCL starts its threads with the first call that looks for devices, and reads this then. A user's own value stays. */
static void limit_cores(int cores)
{
    char text[16];

    if (cores <= 0) return;
    snprintf(text, sizeof text, "%d", cores);
    setenv("POCL_MAX_PTHREAD_COUNT", text, 0);
}

/* ---- What the device is ---- */

/* PoCL does, in POCL_CACHE_DIR, unless a user forbids it. */
static bool keeps_what_it_compiles(const char *platform)
{
    const char *cache = getenv("POCL_KERNEL_CACHE");

    return (strstr(platform, "PoCL") || strstr(platform, "pocl")) && !(cache && strcmp(cache, "0") == 0);
}

static void read_info(kernel_device *device)
{
    cl_device_type type = CL_DEVICE_TYPE_CPU;
    cl_bool unified = CL_FALSE;
    cl_uint units = 1;
    cl_platform_id platform = NULL;
    const char *limit = getenv("POCL_MAX_PTHREAD_COUNT");

    clGetDeviceInfo(device->id, CL_DEVICE_NAME, sizeof device->info.name, device->info.name, NULL);
    clGetDeviceInfo(device->id, CL_DRIVER_VERSION, sizeof device->info.driver, device->info.driver, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    clGetDeviceInfo(device->id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof device->platform, device->platform, NULL);
    device->driver_caches = keeps_what_it_compiles(device->platform);
    device->info.is_cpu = (type & CL_DEVICE_TYPE_CPU) != 0;
    device->info.shares_memory = device->info.is_cpu && unified;
    device->info.cores = (int)units;
    if (limit && device->info.is_cpu && atoi(limit) > 0 && atoi(limit) < device->info.cores)
        device->info.cores = atoi(limit);
}

static kernel_err open_queue(kernel_device *device)
{
    cl_int code;

    device->context = clCreateContext(NULL, 1, &device->id, NULL, NULL, &code);
    if (code) return kernel__cl(NULL, code, "clCreateContext", "device %s", device->info.name);
    device->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &code);
    if (!code) return KERNEL_OK;
    clReleaseContext(device->context);
    return kernel__cl(NULL, code, "clCreateCommandQueue", "device %s", device->info.name);
}

static kernel_err start(kernel_device *device, const kernel__spec *spec)
{
    char message[2048] = "";
    kernel_err err = kernel__choose(spec, &device->id, message, sizeof message);

    if (err)
        return kernel__fail(NULL, err, "%s%s", message,
                            *device->cache ? ""
                                           : "\ntry: PAIRWISE_CACHE=FOLDER, for PoCL finds no device without a folder "
                                             "to write into, and there is no other");
    read_info(device);
    if (!kernel__choose_tiles(device))
        return kernel__fail(NULL, KERNEL_ERR_ARG, "PAIRWISE_KERNEL_LANES: \"%s\" is not 1, 4, 8 or 16",
                            getenv("PAIRWISE_KERNEL_LANES"));
    return open_queue(device);
}

/* ---- Public ---- */

kernel_err kernel_open(const char *spec, int cores, kernel_device **device)
{
    kernel__spec asked;
    kernel_device *made;
    kernel_err err;

    if (!device) return kernel__fail(NULL, KERNEL_ERR_ARG, "kernel_open: nowhere to put the device (NULL)");
    err = read_spec(spec, &asked);
    if (err) return err;
    made = calloc(1, sizeof *made);
    if (!made) return kernel__fail(NULL, KERNEL_ERR_NOMEM, "kernel_open: out of memory");
    made->owner = getpid();
    err = kernel__claim(__func__);
    if (!err) err = read_faults(&made->faults);
    if (!err) err = read_plain(&made->way);
    if (err) goto free_device;
    limit_cores(cores);
    err = kernel__cache_choose(made->cache);
    if (!err) err = start(made, &asked);
    if (err) goto free_device;
    *device = made;
    return KERNEL_OK;

free_device:
    free(made);
    return err;
}

void kernel_close(kernel_device *device)
{
    if (!device || device->owner != getpid()) return;
    clFinish(device->queue);
    kernel_buffer_free(device->scratch);
    kernel__release_programs(device);
    clReleaseCommandQueue(device->queue);
    clReleaseContext(device->context);
    free(device);
}

kernel_err kernel_info(const kernel_device *device, kernel_device_info *info)
{
    if (!device || !info) return kernel__fail(NULL, KERNEL_ERR_ARG, "kernel_info: NULL");
    *info = device->info;
    return KERNEL_OK;
}

kernel_err kernel_stats(const kernel_device *device, kernel_counters *counters)
{
    if (!device || !counters) return kernel__fail(NULL, KERNEL_ERR_ARG, "kernel_stats: NULL");
    *counters = device->counters;
    return KERNEL_OK;
}
