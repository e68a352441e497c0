/* SPDX-License-Identifier: MIT */
/*
 * A kernel on this machine's device. On a processor its buffers are the shared memory itself: what learn finds there is what the
 * kernel has written. On another device they are copied, and no kernel can reach this process.
 */
#include <stdio.h>
#include <stdlib.h>

#include "bench/rate/rate.h"

static bool good(rate_run *it, cl_int code, const char *what)
{
    if (code) snprintf(it->words, sizeof it->words, "%s: %s", what, kernel__cl_name(code));
    return !code;
}

bool rate__build(rate_run *it, const char *source, const char *name)
{
    cl_int code;
    cl_program program = clCreateProgramWithSource(it->device->context, 1, &source, NULL, &code);
    if (!good(it, code, "clCreateProgramWithSource")) return false;
    if (clBuildProgram(program, 1, &it->device->id, "", NULL, NULL)) {
        clGetProgramBuildInfo(program, it->device->id, CL_PROGRAM_BUILD_LOG, sizeof it->words - 1, it->words, NULL);
        return false;
    }
    it->kernel = clCreateKernel(program, name, &code);
    if (code)
        snprintf(it->words, sizeof it->words,
                 "there is no kernel of the name that the page gives it, or it is not a __kernel");
    return !code;
}

static bool set_argument(rate_run *it, cl_uint i)
{
    const work_argument *a = &it->w.arguments[i];
    cl_int whole = (cl_int)a->count;
    size_t bytes = a->kind == WORK_LOCAL ? a->count * sizeof(float)
                   : rate_is_memory(a)   ? sizeof(cl_mem)
                                         : sizeof(cl_int);
    const void *value = a->kind == WORK_LOCAL ? NULL
                        : rate_is_memory(a)   ? (const void *)&it->memory[i]
                        : a->kind == WORK_INT ? (const void *)&whole
                                              : (const void *)&a->value;
    return good(it, clSetKernelArg(it->kernel, i, bytes, value),
                "clSetKernelArg: the kernel's arguments are not those of the page");
}

bool rate__begin(rate_run *it, const work *w)
{
    cl_mem_flags flags = CL_MEM_READ_WRITE | (it->device->info.is_cpu ? CL_MEM_USE_HOST_PTR : 0);
    for (int i = 0; i < WORK_ARGUMENTS; i++)
        if (it->memory[i]) clReleaseMemObject(it->memory[i]);
    memset(it->memory, 0, sizeof it->memory);
    it->w = *w;
    for (int i = 0; i < WORK_ARGUMENTS && w->arguments[i].kind; i++) {
        cl_int code = 0;
        char *at = it->shared + rate_place(w, i);
        size_t bytes = w->arguments[i].count * sizeof(float);
        if (rate_is_memory(&w->arguments[i]))
            it->memory[i] = clCreateBuffer(it->device->context, flags, bytes, flags & CL_MEM_USE_HOST_PTR ? at : NULL,
                                           &code);
        if (!good(it, code, "clCreateBuffer") || !set_argument(it, (cl_uint)i)) return false;
    }
    return true;
}

/* Both ways between the buffers of a device with a memory of its own and the shared memory. */
static bool copy(rate_run *it, bool to_device)
{
    bool all = true;
    for (int i = 0; all && i < WORK_ARGUMENTS; i++) {
        char *at = it->shared + rate_place(&it->w, i);
        size_t bytes = it->w.arguments[i].count * sizeof(float);
        if (!it->memory[i] || (!to_device && it->w.arguments[i].kind != WORK_OUT)) continue;
        cl_int code = to_device
                          ? clEnqueueWriteBuffer(it->device->queue, it->memory[i], CL_TRUE, 0, bytes, at, 0, NULL, NULL)
                          : clEnqueueReadBuffer(it->device->queue, it->memory[i], CL_TRUE, 0, bytes, at, 0, NULL, NULL);
        all = good(it, code, "copying a buffer");
    }
    return all;
}

/* Of a processor the output is mapped, which makes it seen. */
static cl_int show_output(rate_run *it)
{
    int i = work_output(&it->w);
    size_t bytes = it->w.arguments[i].count * sizeof(float);
    cl_int code;
    void *at = clEnqueueMapBuffer(it->device->queue, it->memory[i], CL_TRUE, CL_MAP_READ, 0, bytes, 0, NULL, NULL,
                                  &code);
    return code ? code : clEnqueueUnmapMemObject(it->device->queue, it->memory[i], at, 0, NULL, NULL);
}

bool rate__launch(rate_run *it, double *seconds)
{
    bool cpu = it->device->info.is_cpu;
    if (!cpu && !copy(it, true)) return false;
    double begin = rate__now();
    if (!good(it,
              clEnqueueNDRangeKernel(it->device->queue, it->kernel, 2, NULL, it->w.global, it->w.local, 0, NULL, NULL),
              "clEnqueueNDRangeKernel") ||
        (cpu && !good(it, show_output(it), "clEnqueueMapBuffer")) || !good(it, clFinish(it->device->queue), "clFinish"))
        return false;
    *seconds = rate__now() - begin;
    return cpu || copy(it, false);
}
