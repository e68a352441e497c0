/* SPDX-License-Identifier: MIT */
/*
 * vector: operations on each element: the sum of two buffers, and the ReLU alone.
 */
#include "kernels/device.h"

enum { GROUP = 64 };

/* On a GPU whole groups: the work-items beyond the end find nothing to do. */
size_t kernel__stretches(const kernel_device *device, size_t count)
{
    size_t stretch = (size_t)device->tiles.stretch, stretches = (count + stretch - 1) / stretch;

    return device->info.is_cpu ? stretches : (stretches + GROUP - 1) / GROUP * GROUP;
}

static kernel_err run(kernel_device *device, const char *name, const kernel_slice slices[], size_t slice_count,
                      size_t count)
{
    kernel__call call;
    cl_ulong elements = count;

    if (count == 0) return KERNEL_OK;
    call = kernel__begin(device, KERNEL__VECTOR, 1, name);
    for (size_t i = 0; i < slice_count; i++) kernel__slice(&call, slices[i]);
    kernel__value(&call, &elements, sizeof elements);
    return kernel__run(&call, kernel__stretches(device, count), 1, 1);
}

kernel_err kernel_sum(kernel_device *device, kernel_slice into, kernel_slice from, size_t count)
{
    kernel__need needs[] = {{"into", into, count, KERNEL__REQUIRED}, {"from", from, count, KERNEL__REQUIRED}};
    kernel_err err = kernel__check(device, __func__, needs, COUNT(needs));

    return err ? err : run(device, "sum", (kernel_slice[]){into, from}, 2, count);
}

kernel_err kernel_relu_forward(kernel_device *device, kernel_shape shape, kernel_slice x, kernel_slice y)
{
    kernel_err err = kernel__check_shape(device, __func__, "shape", shape);
    size_t floats = err ? 0 : kernel_floats(device, shape);

    if (err) return err;
    kernel__need needs[] = {{"x", x, floats, KERNEL__ACTIVATION}, {"y", y, floats, KERNEL__ACTIVATION}};
    err = kernel__check(device, __func__, needs, COUNT(needs));
    return err ? err : run(device, "relu", (kernel_slice[]){x, y}, 2, floats);
}

kernel_err kernel_relu_backward(kernel_device *device, kernel_shape shape, kernel_slice dy, kernel_slice y,
                                kernel_slice dx)
{
    kernel_err err = kernel__check_shape(device, __func__, "shape", shape);
    size_t floats = err ? 0 : kernel_floats(device, shape);

    if (err) return err;
    kernel__need needs[] = {
        {"dy", dy, floats, KERNEL__ACTIVATION},
        {"y", y, floats, KERNEL__ACTIVATION},
        {"dx", dx, floats, KERNEL__ACTIVATION},
    };
    err = kernel__check(device, __func__, needs, COUNT(needs));
    return err ? err : run(device, "relu_back", (kernel_slice[]){dy, y, dx}, 3, floats);
}
