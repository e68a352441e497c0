/* SPDX-License-Identifier: MIT */
/*
 * launch: put one kernel with its arguments into the queue.
 */
#include "kernels/device.h"

kernel__call kernel__begin(kernel_device *device, kernel__family family, int vectors, const char *name)
{
    kernel__call call = {.device = device, .name = name};

    call.kernel = kernel__find(device, family, vectors, name);
    call.err = device->err;
    return call;
}

void kernel__value(kernel__call *call, const void *value, size_t bytes)
{
    cl_int code;

    if (call->err) return;
    code = clSetKernelArg(call->kernel, call->arguments, bytes, value);
    call->err = kernel__cl(call->device, code, "clSetKernelArg", "kernel %s, argument %u, %zu bytes", call->name,
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
kernel_err kernel__run(kernel__call *call, size_t x, size_t y, size_t z)
{
    static const size_t one[3] = {1, 1, 1};
    kernel_device *device = call->device;
    size_t global[3] = {x, y, z};
    cl_int code = CL_OUT_OF_RESOURCES;
    bool fails = device->faults.launch > 0 && --device->faults.launch == 0;

    if (call->err || x * y * z == 0) return call->err;
    if (!fails)
        code = clEnqueueNDRangeKernel(device->queue, call->kernel, 3, NULL, global, device->info.is_cpu ? one : NULL, 0,
                                      NULL, NULL);
    device->counters.launches++;
    return kernel__cl(device, code, "clEnqueueNDRangeKernel", "kernel %s, %zu x %zu x %zu work-items", call->name, x, y,
                      z);
}
