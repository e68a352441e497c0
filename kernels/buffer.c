/* SPDX-License-Identifier: MIT */
/*
 * buffer: memory the device can use. Wrapped buffers are the host's own memory on devices that use it directly (CPUs),
 * and have a copy on the device elsewhere.
 */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/device.h"

enum { HOST_ALIGNMENT = 64 };

static bool fault_is_due(long *left)
{
    return *left > 0 && --*left == 0;
}

static kernel_err allocate(kernel_device *device, cl_mem_flags flags, kernel_buffer *buffer)
{
    size_t bytes = (buffer->floats ? buffer->floats : 1) * sizeof(float);
    cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    void *host = flags & CL_MEM_USE_HOST_PTR ? buffer->host : NULL;

    if (!fault_is_due(&device->faults.alloc))
        buffer->memory = clCreateBuffer(device->context, CL_MEM_READ_WRITE | flags, bytes, host, &code);
    return kernel__cl(device, code, "clCreateBuffer", "buffer %s, %zu floats, %.1f MB", buffer->name, buffer->floats,
                      (double)bytes * 1e-6);
}

static kernel_err create(kernel_device *device, const char *call, cl_mem_flags flags, kernel_buffer wanted,
                         kernel_buffer **buffer)
{
    kernel_err err = kernel__ready(device, call);
    kernel_buffer *made;

    if (err) return err;
    if (!buffer || !wanted.name || wanted.floats > SIZE_MAX / sizeof(float) / 2)
        return kernel__fail(device, KERNEL_ERR_ARG, "%s: %s", call,
                            !buffer        ? "nowhere to put the buffer (NULL)"
                            : !wanted.name ? "a buffer needs a name"
                                           : "too large for any memory");
    made = malloc(sizeof *made);
    if (!made) return kernel__fail(device, KERNEL_ERR_NOMEM, "%s: buffer %s: out of memory", call, wanted.name);
    *made = wanted;
    err = allocate(device, flags, made);
    if (err)
        free(made);
    else
        *buffer = made;
    return err;
}

kernel_err kernel_buffer_new(kernel_device *device, const char *name, size_t floats, kernel_buffer **buffer)
{
    return create(device, __func__, 0, (kernel_buffer){device, name, NULL, NULL, floats}, buffer);
}

kernel_err kernel_buffer_wrap(kernel_device *device, const char *name, void *host, size_t floats,
                              kernel_buffer **buffer)
{
    kernel_err err = kernel__ready(device, __func__);

    if (err) return err;
    if (!host || (uintptr_t)host % HOST_ALIGNMENT || !floats)
        return kernel__fail(device, KERNEL_ERR_ARG,
                            "%s: buffer %s: memory %p of %zu floats: needs some, aligned to %d bytes", __func__,
                            name ? name : "?", host, floats, HOST_ALIGNMENT);
    return create(device, __func__, device->info.shares_memory ? CL_MEM_USE_HOST_PTR : 0,
                  (kernel_buffer){device, name, NULL, host, floats}, buffer);
}

void kernel_buffer_free(kernel_buffer *buffer)
{
    if (!buffer || buffer->device->owner != getpid()) return;
    clReleaseMemObject(buffer->memory);
    free(buffer);
}

size_t kernel_buffer_floats(const kernel_buffer *buffer)
{
    return buffer ? buffer->floats : 0;
}

/* ---- Copies between host and device ---- */

static kernel_err copy_in(kernel_device *device, kernel_slice to, const void *from, size_t count)
{
    cl_int code = clEnqueueWriteBuffer(device->queue, to.buffer->memory, CL_TRUE, to.first * sizeof(float),
                                       count * sizeof(float), from, 0, NULL, NULL);

    device->counters.bytes_to_device += count * sizeof(float);
    return kernel__cl(device, code, "clEnqueueWriteBuffer", "buffer %s, %zu floats from %zu", to.buffer->name, count,
                      to.first);
}

static kernel_err copy_out(kernel_device *device, void *to, kernel_slice from, size_t count, cl_bool wait,
                           cl_event *event)
{
    cl_int code = clEnqueueReadBuffer(device->queue, from.buffer->memory, wait, from.first * sizeof(float),
                                      count * sizeof(float), to, 0, NULL, event);

    device->counters.bytes_from_device += count * sizeof(float);
    return kernel__cl(device, code, "clEnqueueReadBuffer", "buffer %s, %zu floats from %zu", from.buffer->name, count,
                      from.first);
}

kernel_err kernel_write(kernel_device *device, kernel_slice to, const void *from, size_t count)
{
    kernel__need needs[] = {{"to", to, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));

    return err || !count ? err : copy_in(device, to, from, count);
}

kernel_err kernel_read(kernel_device *device, void *to, kernel_slice from, size_t count)
{
    kernel__need needs[] = {{"from", from, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));

    if (err) return err;
    return count ? copy_out(device, to, from, count, CL_TRUE, NULL) : kernel_finish(device);
}

/* ---- Wrapped buffers ---- */

static kernel_err check_wrapped(kernel_device *device, const char *call, kernel_slice slice, size_t count)
{
    kernel__need needs[] = {{"slice", slice, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, call, needs, COUNT(needs));

    if (err || slice.buffer->host) return err;
    return kernel__fail(device, KERNEL_ERR_ARG, "%s: buffer %s is not wrapped: use kernel_write and kernel_read", call,
                        slice.buffer->name);
}

kernel_err kernel_push(kernel_device *device, kernel_slice slice, size_t count)
{
    kernel_err err = check_wrapped(device, __func__, slice, count);

    if (err || device->info.shares_memory || !count) return err;
    return copy_in(device, slice, (const float *)slice.buffer->host + slice.first, count);
}

kernel_err kernel_fetch(kernel_device *device, kernel_slice slice, size_t count, kernel_event **event)
{
    kernel_err err = check_wrapped(device, __func__, slice, count);

    if (!err && !device->info.shares_memory && count)
        err = copy_out(device, (float *)slice.buffer->host + slice.first, slice, count, CL_FALSE, NULL);
    if (err) return err;
    return event ? kernel_record(device, event) : kernel_finish(device);
}

/* ---- On the device ---- */

kernel_err kernel_fill(kernel_device *device, kernel_slice to, size_t count, float value)
{
    kernel__need needs[] = {{"to", to, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));
    cl_int code;

    if (err || !count) return err;
    code = clEnqueueFillBuffer(device->queue, to.buffer->memory, &value, sizeof value, to.first * sizeof value,
                               count * sizeof value, 0, NULL, NULL);
    return kernel__cl(device, code, "clEnqueueFillBuffer", "buffer %s, %zu floats from %zu", to.buffer->name, count,
                      to.first);
}

kernel_err kernel_copy(kernel_device *device, kernel_slice to, kernel_slice from, size_t count)
{
    kernel__need needs[] = {{"to", to, count, KERNEL__REQUIRED}, {"from", from, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));
    cl_int code;

    if (err || !count) return err;
    if (to.buffer == from.buffer && to.first < from.first + count && from.first < to.first + count)
        return kernel__fail(device, KERNEL_ERR_ARG, "kernel_copy: %zu floats from %zu to %zu of buffer %s overlap",
                            count, from.first, to.first, to.buffer->name);
    code = clEnqueueCopyBuffer(device->queue, from.buffer->memory, to.buffer->memory, from.first * sizeof(float),
                               to.first * sizeof(float), count * sizeof(float), 0, NULL, NULL);
    return kernel__cl(device, code, "clEnqueueCopyBuffer", "buffer %s to %s, %zu floats", from.buffer->name,
                      to.buffer->name, count);
}

kernel_err kernel__scratch(kernel_device *device, size_t floats, kernel_slice *slice)
{
    kernel_err err;

    if (!device->scratch || device->scratch->floats < floats) {
        kernel_buffer_free(device->scratch);
        device->scratch = NULL;
        err = kernel_buffer_new(device, "scratch", floats, &device->scratch);
        if (err) return err;
    }
    *slice = kernel_at(device->scratch, 0);
    return KERNEL_OK;
}
