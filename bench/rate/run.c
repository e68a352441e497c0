/* SPDX-License-Identifier: MIT */
/* A kernel on this machine's device: its data, its arguments, and whether its results are those of the oracle. */
#include <math.h>
#include <stdlib.h>

#include "bench/rate/rate.h"

cl_kernel rate__kernel(kernel_device *device, const char *source, const char *name, const char *what)
{
    static char log[KERNEL__MESSAGE];
    cl_int code;
    cl_program program = clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    rate__need(code, "clCreateProgramWithSource");
    if (clBuildProgram(program, 1, &device->id, "", NULL, NULL)) {
        clGetProgramBuildInfo(program, device->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        rate__end_with(what, log);
    }
    cl_kernel kernel = clCreateKernel(program, name, &code);
    if (code) rate__end_with(what, "there is no kernel of the name that the page gives it, or it is not a __kernel");
    return kernel;
}

static bool is_memory(const work_argument *a)
{
    return a->kind == WORK_IN || a->kind == WORK_OUT;
}

void rate__begin(rate_run *it, const rate_size *size)
{
    it->n = size->n;
    it->w = it->r->describe(size->n, size->group);
    it->out = NULL;
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        const work_argument *a = &it->w.arguments[i];
        cl_int code;
        it->memory[i] = NULL;
        it->data[i] = NULL;
        if (!is_memory(a)) continue;
        it->data[i] = calloc(a->count + 1, sizeof(float));
        if (!it->data[i]) rate__end_with("none", "out of memory");
        uint32_t state = 12345u + (uint32_t)i;
        for (size_t k = 0; k < a->count; k++) {
            state = state * 1664525u + 1013904223u;
            it->data[i][k] = a->kind == WORK_OUT ? NAN
                                                 : it->r->begin + it->r->step * ((float)(state >> 8) / (1 << 23) - 1);
        }
        it->memory[i] = clCreateBuffer(it->device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       a->count * sizeof(float), it->data[i], &code);
        rate__need(code, "clCreateBuffer");
    }
}

void rate__end(rate_run *it)
{
    for (int i = 0; i < WORK_ARGUMENTS; i++) {
        if (it->memory[i]) clReleaseMemObject(it->memory[i]);
        free(it->data[i]);
    }
    free(it->out);
}

void rate__set_arguments(const rate_run *it, cl_kernel kernel)
{
    for (cl_uint i = 0; i < WORK_ARGUMENTS && it->w.arguments[i].kind; i++) {
        const work_argument *a = &it->w.arguments[i];
        cl_int whole = (cl_int)a->count;
        size_t bytes = a->kind == WORK_LOCAL ? a->count * sizeof(float)
                       : is_memory(a)        ? sizeof(cl_mem)
                                             : sizeof(cl_int);
        const void *value = a->kind == WORK_LOCAL ? NULL
                            : is_memory(a)        ? (const void *)&it->memory[i]
                            : a->kind == WORK_INT ? (const void *)&whole
                                                  : (const void *)&a->value;
        rate__need(clSetKernelArg(kernel, i, bytes, value),
                   "clSetKernelArg: the kernel's arguments are not those of the page");
    }
}

/* Seconds that it took. */
double rate__launch(const rate_run *it, cl_kernel kernel)
{
    double begin = rate__now();
    rate__need(clEnqueueNDRangeKernel(it->device->queue, kernel, 2, NULL, it->w.global, it->w.local, 0, NULL, NULL),
               "clEnqueueNDRangeKernel");
    rate__need(clFinish(it->device->queue), "clFinish");
    return rate__now() - begin;
}

static void read_output(rate_run *it)
{
    int i = work_output(&it->w);
    size_t bytes = it->w.arguments[i].count * sizeof(float);
    if (!it->out) it->out = calloc(1, bytes + 1);
    if (!it->out) rate__end_with("none", "out of memory");
    rate__need(clEnqueueReadBuffer(it->device->queue, it->memory[i], CL_TRUE, 0, bytes, it->out, 0, NULL, NULL),
               "clEnqueueReadBuffer");
}

/* Is what lies in the output what should be there? */
static void compare(rate_run *it, const double *want)
{
    size_t count = it->w.arguments[work_output(&it->w)].count, first = 0;
    double total = 0, most = 0, worst = 0;
    char text[256];
    read_output(it);
    for (size_t i = 0; i < count; i++) total += it->out[i];
    if (it->w.by_parts) count = 1;
    for (size_t i = 0; i < count; i++) {
        double off = fabs((it->w.by_parts ? total : it->out[i]) - want[i]);
        most = fmax(most, fabs(want[i]));
        if (isnan(off)) off = INFINITY;
        if (off > worst) worst = off, first = i;
    }
    if (worst <= it->r->tolerance * fmax(most, 1)) return;
    if (it->w.by_parts)
        snprintf(text, sizeof text, "the sum is %g, and should be %g", total, want[0]);
    else
        snprintf(text, sizeof text, "%s[%zu] is %g, and should be %g", it->w.arguments[work_output(&it->w)].name, first,
                 it->out[first], want[first]);
    rate__end_with("wrong", text);
}

void rate__check(rate_run *it, cl_kernel kernel, const rate_size *size)
{
    rate__begin(it, size);
    double *want = calloc(it->w.arguments[work_output(&it->w)].count + 1, sizeof *want);
    if (!want) rate__end_with("none", "out of memory");
    it->w.oracle(&it->w, it->n, (const float *const *)it->data, want);
    rate__set_arguments(it, kernel);
    rate__launch(it, kernel);
    compare(it, want);
    free(want);
    rate__end(it);
}

/* The first run of a kernel may have been compiled for the size of its groups: the second one says how long it takes, unless
 * the first is so slow that it says enough. */
static double time_of(const rate_run *it, cl_kernel kernel)
{
    double seconds = rate__launch(it, kernel);
    return seconds < 2 ? rate__launch(it, kernel) : seconds;
}

/* The same, and how often theirs is done while ours is done: twice each at most, so that a kernel which takes seconds is not run
 * for ever. */
double rate__check_large(rate_run *it, cl_kernel theirs, cl_kernel ours)
{
    size_t count = it->w.arguments[work_output(&it->w)].count;
    double *want = calloc(count + 1, sizeof *want);
    if (!want) rate__end_with("none", "out of memory");
    rate__set_arguments(it, theirs);
    rate__set_arguments(it, ours);
    double seconds = time_of(it, ours);
    read_output(it);
    for (size_t i = 0; i < count; i++) want[it->w.by_parts ? 0 : i] += it->out[i];
    it->seconds = time_of(it, theirs);
    compare(it, want);
    free(want);
    return seconds / it->seconds;
}
