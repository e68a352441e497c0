/* SPDX-License-Identifier: MIT */
/*
 * launch: put one kernel with its arguments into the queue.
 */
#include "kernels/device.h"

void kernel_set_mode(kernel_device *device, kernel_mode mode)
{
    device->mode = mode;
}

static void list(kernel_device *device, kernel__entry *entry)
{
    device->counters.kernels_listed += !entry->listed;
    entry->listed = true;
}

kernel__call kernel__begin(kernel_device *device, kernel__family family, int vectors, const char *name)
{
    kernel__call call = {.device = device, .family = family, .vectors = vectors};

    call.entry = kernel__find(device, family, vectors, name);
    if (call.entry && device->mode != KERNEL_LIST && (device->mode == KERNEL_LAUNCH || !call.entry->used))
        call.kernel = kernel__make(device, family, vectors, call.entry);
    call.err = device->err;
    return call;
}

void kernel__value(kernel__call *call, const void *value, size_t bytes)
{
    cl_int code;

    if (call->err || !call->kernel) return;
    code = clSetKernelArg(call->kernel, call->arguments, bytes, value);
    call->err = kernel__cl(call->device, code, "clSetKernelArg", "kernel %s, argument %u, %zu bytes", call->entry->name,
                           call->arguments, bytes);
    call->arguments++;
}

void kernel__slice(kernel__call *call, kernel_slice slice)
{
    cl_mem memory = slice.buffer ? slice.buffer->memory : NULL;
    cl_ulong first = slice.first;

    kernel__value(call, memory ? &memory : NULL, sizeof memory);
    kernel__value(call, &first, sizeof first);
}

void kernel__int(kernel__call *call, int value)
{
    cl_int argument = value;

    kernel__value(call, &argument, sizeof argument);
}

void kernel__float(kernel__call *call, float value)
{
    cl_float argument = value;

    kernel__value(call, &argument, sizeof argument);
}

/* On a CPU a work-group is one work-item, which computes a tile alone; on a GPU the driver chooses the size. */
static kernel_err enqueue(kernel__call *call, const size_t global[3])
{
    static const size_t one[3] = {1, 1, 1};
    kernel_device *device = call->device;
    cl_int code = CL_OUT_OF_RESOURCES;
    bool fails = device->faults.launch > 0 && --device->faults.launch == 0;

    if (!fails)
        code = clEnqueueNDRangeKernel(device->queue, call->kernel, 3, NULL, global, device->info.is_cpu ? one : NULL, 0,
                                      NULL, NULL);
    device->counters.launches++;
    return kernel__cl(device, code, "clEnqueueNDRangeKernel", "kernel %s, %zu x %zu x %zu work-items",
                      call->entry->name, global[0], global[1], global[2]);
}

/* It is compiled now: at the latest when it has run. */
static kernel_err enqueue_first(kernel__call *call, const size_t global[3])
{
    kernel_device *device = call->device;
    int lock = kernel__lock_first(device, call->family, call->vectors, call->entry->name);
    kernel__guarded before;
    kernel_err err;

    if (lock == KERNEL__BUSY) return KERNEL_OK;
    if (device->driver_caches) kernel__guard(&before);
    err = enqueue(call, global);
    if (!err && device->driver_caches)
        err = kernel__cl(device, clFinish(device->queue), "clFinish", "kernel %s", call->entry->name);
    if (device->driver_caches) kernel__unguard(&before);
    kernel__cache_unlock(lock);
    call->entry->used = !err;
    device->counters.kernels_used += !err;
    return err;
}

kernel_err kernel__run(kernel__call *call, size_t x, size_t y, size_t z)
{
    const size_t global[3] = {x, y, z};

    if (call->err || x * y * z == 0) return call->err;
    if (call->device->mode == KERNEL_LIST) list(call->device, call->entry);
    if (!call->kernel) return KERNEL_OK;
    return call->entry->used ? enqueue(call, global) : enqueue_first(call, global);
}
