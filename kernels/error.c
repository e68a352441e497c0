/* SPDX-License-Identifier: MIT */
/*
 * error: one message for each device, written by the function that finds the error; and the names of OpenCL's error
 * codes.
 */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/device.h"

/* For errors without a device: a kernel_open that failed, a call under another process id. */
static _Thread_local char message_without_device[KERNEL__MESSAGE];

const char *kernel_strerror(kernel_err err)
{
    switch (err) {
#define KERNEL_ERROR_TEXT(name, value, text) \
    case name: return text;
        KERNEL_ERROR_LIST(KERNEL_ERROR_TEXT)
#undef KERNEL_ERROR_TEXT
    }
    return "unknown error";
}

const char *kernel_error_message(const kernel_device *device)
{
    return device ? device->message : message_without_device;
}

kernel_err kernel__fail(kernel_device *device, kernel_err err, const char *format, ...)
{
    char *message = device ? device->message : message_without_device;
    va_list list;

    va_start(list, format);
    vsnprintf(message, KERNEL__MESSAGE, format, list);
    va_end(list);
    if (device && err != KERNEL_ERR_ARG) device->err = err;
    return err;
}

kernel_err kernel__cl(kernel_device *device, cl_int code, const char *call, const char *format, ...)
{
    bool no_memory = code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_HOST_MEMORY ||
                     code == CL_OUT_OF_RESOURCES || code == CL_INVALID_BUFFER_SIZE;
    char what[1024];
    va_list list;

    if (code == CL_SUCCESS) return KERNEL_OK;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    return kernel__fail(device, no_memory ? KERNEL_ERR_NOMEM : KERNEL_ERR_CL, "%s: %s (%d): %s%s", call,
                        kernel__cl_name(code), code, what,
                        no_memory ? "\ntry: a smaller batch or model, or fewer ranks on this device" : "");
}

/* ---- Whose OpenCL it is ---- */

static atomic_long owner; /* the process that called OpenCL first; a child has its parent's value */

bool kernel__is_ours(void)
{
    return atomic_load(&owner) == getpid();
}

kernel_err kernel__may_use(const char *call)
{
    long first = atomic_load(&owner);

    if (!first || first == getpid()) return KERNEL_OK;
    return kernel__fail(NULL, KERNEL_ERR_STATE,
                        "%s: process %ld used OpenCL before it forked process %ld: an OpenCL driver does not survive "
                        "a fork\n"
                        "try: call kernel_open after the fork only; to count devices before it, kernel_list",
                        call, first, (long)getpid());
}

kernel_err kernel__claim(const char *call)
{
    long none = 0;

    atomic_compare_exchange_strong(&owner, &none, getpid());
    return kernel__may_use(call);
}

kernel_err kernel__ready(kernel_device *device, const char *call)
{
    static const char *const refused =
        "%s: process %ld uses a device that process %ld opened: an OpenCL driver does not survive a fork\n"
        "try: call kernel_open after the fork, in every process";

    if (!device) return kernel__fail(NULL, KERNEL_ERR_ARG, "%s: no device (NULL)", call);
    if (device->owner != getpid()) {
        kernel__fail(NULL, KERNEL_ERR_STATE, refused, call, (long)getpid(), (long)device->owner);
        return kernel__fail(device, KERNEL_ERR_STATE, refused, call, (long)getpid(), (long)device->owner);
    }
    return device->err;
}

/* ---- OpenCL's names ---- */

/* clang-format off */
#define CL_NAMES(X) \
    X(CL_DEVICE_NOT_FOUND) X(CL_DEVICE_NOT_AVAILABLE) X(CL_COMPILER_NOT_AVAILABLE) \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE) X(CL_OUT_OF_RESOURCES) X(CL_OUT_OF_HOST_MEMORY) \
    X(CL_PROFILING_INFO_NOT_AVAILABLE) X(CL_MEM_COPY_OVERLAP) X(CL_BUILD_PROGRAM_FAILURE) X(CL_MAP_FAILURE) \
    X(CL_MISALIGNED_SUB_BUFFER_OFFSET) X(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) \
    X(CL_COMPILE_PROGRAM_FAILURE) X(CL_LINKER_NOT_AVAILABLE) X(CL_LINK_PROGRAM_FAILURE) \
    X(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) X(CL_INVALID_VALUE) X(CL_INVALID_DEVICE_TYPE) X(CL_INVALID_PLATFORM) \
    X(CL_INVALID_DEVICE) X(CL_INVALID_CONTEXT) X(CL_INVALID_QUEUE_PROPERTIES) X(CL_INVALID_COMMAND_QUEUE) \
    X(CL_INVALID_HOST_PTR) X(CL_INVALID_MEM_OBJECT) X(CL_INVALID_BINARY) X(CL_INVALID_BUILD_OPTIONS) \
    X(CL_INVALID_PROGRAM) X(CL_INVALID_PROGRAM_EXECUTABLE) X(CL_INVALID_KERNEL_NAME) \
    X(CL_INVALID_KERNEL_DEFINITION) X(CL_INVALID_KERNEL) X(CL_INVALID_ARG_INDEX) X(CL_INVALID_ARG_VALUE) \
    X(CL_INVALID_ARG_SIZE) X(CL_INVALID_KERNEL_ARGS) X(CL_INVALID_WORK_DIMENSION) \
    X(CL_INVALID_WORK_GROUP_SIZE) X(CL_INVALID_WORK_ITEM_SIZE) X(CL_INVALID_GLOBAL_OFFSET) \
    X(CL_INVALID_EVENT_WAIT_LIST) X(CL_INVALID_EVENT) X(CL_INVALID_OPERATION) X(CL_INVALID_BUFFER_SIZE) \
    X(CL_INVALID_GLOBAL_WORK_SIZE) X(CL_INVALID_PROPERTY)
/* clang-format on */

const char *kernel__cl_name(cl_int code)
{
    switch (code) {
#define CL_NAME(name) \
    case name: return #name;
        CL_NAMES(CL_NAME)
#undef CL_NAME
    case -1001: return "CL_PLATFORM_NOT_FOUND_KHR";
    default: return "an error without a name";
    }
}
