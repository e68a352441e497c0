/* SPDX-License-Identifier: MIT */
/*
 * event: marks in the queue, to wait for and to measure the time between.
 */
#include <stdlib.h>
#include <unistd.h>

#include "kernels/device.h"

kernel_err kernel_finish(kernel_device *device)
{
    kernel_err err = kernel__ready(device, __func__);
    bool own = device && device->owner == getpid();
    cl_int code = own ? clFinish(device->queue)
                      : CL_SUCCESS; /* after an error what was queued before it still writes */

    return err ? err : kernel__cl(device, code, "clFinish", "device %s", device->info.name);
}

kernel_err kernel_record(kernel_device *device, kernel_event **event)
{
    kernel_err err = kernel__ready(device, __func__);
    kernel_event *made;

    if (err) return err;
    if (!event) return kernel__fail(device, KERNEL_ERR_ARG, "kernel_record: nowhere to put the event (NULL)");
    made = malloc(sizeof *made);
    if (!made) return kernel__fail(device, KERNEL_ERR_NOMEM, "kernel_record: out of memory");
    made->device = device;
    err = kernel__cl(device, clEnqueueMarkerWithWaitList(device->queue, 0, NULL, &made->event),
                     "clEnqueueMarkerWithWaitList", "device %s", device->info.name);
    if (err) {
        free(made);
        return err;
    }
    *event = made;
    return kernel__cl(device, clFlush(device->queue), "clFlush", "device %s", device->info.name);
}

static kernel_err ready(const kernel_event *event, const char *call)
{
    if (!event) return kernel__fail(NULL, KERNEL_ERR_ARG, "%s: no event (NULL)", call);
    return kernel__ready(event->device, call);
}

kernel_err kernel_event_wait(kernel_event *event)
{
    kernel_err err = ready(event, __func__);

    return err ? err : kernel__cl(event->device, clWaitForEvents(1, &event->event), "clWaitForEvents", "one event");
}

kernel_err kernel_event_done(kernel_event *event, bool *done)
{
    kernel_err err = ready(event, __func__);
    cl_int status = CL_COMPLETE, code;

    if (err) return err;
    code = clGetEventInfo(event->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    err = kernel__cl(event->device, code ? code : status < 0 ? status : CL_SUCCESS, "clGetEventInfo", "one event");
    if (!err) *done = status == CL_COMPLETE;
    return err;
}

void kernel_event_free(kernel_event *event)
{
    if (!event || event->device->owner != getpid()) return;
    clReleaseEvent(event->event);
    free(event);
}

kernel_err kernel_event_elapsed(const kernel_event *from, const kernel_event *to, double *seconds)
{
    kernel_err err = ready(from, __func__);
    cl_ulong begin = 0, end = 0;

    if (!err) err = ready(to, __func__);
    if (err) return err;
    if (clGetEventProfilingInfo(from->event, CL_PROFILING_COMMAND_END, sizeof begin, &begin, NULL) ||
        clGetEventProfilingInfo(to->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL))
        return kernel__fail(to->device, KERNEL_ERR_ARG, "kernel_event_elapsed: an event is not done yet");
    *seconds = ((double)end - (double)begin) * 1e-9;
    return KERNEL_OK;
}
