/* SPDX-License-Identifier: MIT */
/*
 * kernels: what a network computes, on an OpenCL device. Knows OpenCL, and nothing of ranks.
 *
 *      device            kernel_list, kernel_open, kernel_close, kernel_info, kernel_error_message, kernel_strerror
 *      memory            kernel_buffer_new, kernel_buffer_wrap, kernel_buffer_free, kernel_at, kernel_write,
 *                        kernel_read, kernel_push, kernel_fetch, kernel_fill, kernel_copy
 *      order and time    kernel_finish, kernel_record, kernel_event_wait, kernel_event_done, kernel_event_elapsed,
 *                        kernel_event_free, kernel_stats
 *      activations       kernel_floats, kernel_from_nchw, kernel_to_nchw
 *      layers            kernel_conv_forward, kernel_conv_backward_input, kernel_conv_backward_weight,
 *                        kernel_norm_forward, kernel_norm_backward, kernel_conv_norm_forward, kernel_relu_forward,
 *                        kernel_relu_backward, kernel_max_pool_forward, kernel_max_pool_backward,
 *                        kernel_mean_pool_forward, kernel_mean_pool_backward, kernel_linear_forward,
 *                        kernel_linear_backward, kernel_cross_entropy, kernel_cross_entropy_smoothed
 *      vectors           kernel_sum, kernel_update
 *
 * For tests and for reading: PAIRWISE_KERNEL_PLAIN=1 takes convolutions from kernels/conv_plain.cl and
 * conv_weight_plain.cl, PAIRWISE_KERNEL_LANES=1|4|8|16 cuts work for another vector width, and
 * PAIRWISE_KERNEL_FAIL=alloc:N|launch:N|build makes the N-th buffer, the N-th kernel or every compilation fail.
 *
 * All functions return kernel_err unless said: 0 (KERNEL_OK) or a negative code; outputs are set only on success.
 * Nothing is printed: kernel_error_message says what happened, with the name of the OpenCL error, the kernel, the sizes
 * and, if a kernel does not build, the compiler's log. After KERNEL_ERR_ARG nothing has happened and the device can go
 * on. Any other error sticks: what was computed is lost, every later call returns the same error at once, and the
 * device can only be closed; so a program may check many calls by the result of the last one.
 *
 * Calls that compute only queue the work, in order, and return: results are there after kernel_finish, kernel_read, or
 * the wait for an event recorded later. A wrong size is found when it is queued. Buffers must live until then.
 *
 * Processes: open the device after the fork. A driver's threads do not survive a fork, and a child that uses OpenCL
 * after its parent did hangs for ever; so every function refuses, with KERNEL_ERR_STATE, under another process id than
 * that of the first kernel_open, whether that found a device or not, and also once it is closed. What is needed before
 * the fork, how many devices there are, kernel_list says. Only one thread at a time may use a device.
 *
 * Results are the same bits from run to run, and for every number of cores: sums have a fixed order, there are no
 * floating point atomics. All numbers are f32. Tensors have fewer than 2^31 elements.
 */
#ifndef PAIRWISE_KERNELS_H
#define PAIRWISE_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Errors: name, value, text. One list makes the enum and kernel_strerror. ---- */

#define KERNEL_ERROR_LIST(X)                                                       \
    X(KERNEL_OK, 0, "success")                                                     \
    X(KERNEL_ERR_ARG, -1, "invalid argument")                                      \
    X(KERNEL_ERR_STATE, -2, "used by another process than the one that opened it") \
    X(KERNEL_ERR_DEVICE, -3, "no such device")                                     \
    X(KERNEL_ERR_BUILD, -4, "a kernel does not build")                             \
    X(KERNEL_ERR_NOMEM, -5, "out of memory")                                       \
    X(KERNEL_ERR_CL, -6, "an OpenCL call failed")

typedef enum {
#define KERNEL_ERROR_ENUM(name, value, text) name = (value),
    KERNEL_ERROR_LIST(KERNEL_ERROR_ENUM)
#undef KERNEL_ERROR_ENUM
} kernel_err;

/* ---- Types ---- */

typedef struct kernel_device kernel_device; /* a device, its queue, its programs */
typedef struct kernel_buffer kernel_buffer; /* memory the device can use */
typedef struct kernel_event kernel_event;   /* a place in the queue: everything queued before it */

/* A place in a buffer: `first` floats from its start. How long it is follows from what it is used for, and is checked.
 * Activations begin at a multiple of 16 floats, as every multiple of kernel_floats does; the others anywhere. */
typedef struct {
    kernel_buffer *buffer;
    size_t first;
} kernel_slice;

/* Instead of a slice, where one is optional. */
#define KERNEL_NONE ((kernel_slice){NULL, 0})

/* An activation's shape: (N, C, H, W). n may be 0 (a rank without images): then outputs of that shape are empty,
 * gradients of parameters are zero, and running statistics stay as they are. */
typedef struct {
    int n, c, h, w; /* images, channels, height, width */
} kernel_shape;

typedef struct {
    char name[128], driver[128]; /* as the driver says */
    bool is_cpu;
    bool shares_memory; /* wrapped buffers are the host's own memory: kernel_push and kernel_fetch copy nothing */
    int cores;          /* compute units in use */
} kernel_device_info;

typedef struct {
    uint64_t launches;                        /* kernels queued */
    uint64_t bytes_to_device;                 /* copied from the host's memory to the device's */
    uint64_t bytes_from_device;               /* and back */
    uint64_t programs_built, programs_loaded; /* from their text; from our cache on disk */
    uint64_t kernels_listed, kernels_used;    /* different ones: that KERNEL_LIST has met; that have been launched */
} kernel_counters;

/* ---- Device ---- */

/* The devices there are. text: "cpu:0 (its name), gpu:0 (its name)"; without any, what to try. */
typedef struct {
    int cpus, gpus;
    char text[2000];
} kernel_listing;

/* Safe before a fork: unless this process uses OpenCL already, a process is started that asks and ends. It is no error
 * if there is no device. */
kernel_err kernel_list(kernel_listing *listing);

/* Open a device. spec is "auto" (the first GPU, else the first CPU), "cpu", "gpu", "cpu:K" or "gpu:K" (the K-th of
 * its kind, from 0); NULL: PAIRWISE_DEVICE, else "auto". `cores` is how many CPU cores this process may use, 0 for all:
 * it counts for the first kernel_open of a process (PoCL reads POCL_MAX_PTHREAD_COUNT once).
 * No kernel is compiled before it is used; programs are then taken from the cache on disk ($PAIRWISE_CACHE, or
 * $XDG_CACHE_HOME/pairwise, else ~/.cache/pairwise, else a temporary folder). If several processes need a program at
 * the same time, one builds it and the others load it. A damaged entry is built again. PoCL has a cache of its own
 * (POCL_CACHE_DIR; if that is not set, a folder in ours), which is used instead, unless POCL_KERNEL_CACHE is 0.
 * KERNEL_ERR_ARG: spec is none of these, or a PAIRWISE_ variable is wrong; KERNEL_ERR_DEVICE: there is no such device,
 * and the message (kernel_error_message(NULL)) lists the devices that exist. */
kernel_err kernel_open(const char *spec, int cores, kernel_device **device);

/* Wait for all work and release the device. Buffers and events should be freed before. NULL is allowed; under another
 * process id it does nothing. */
void kernel_close(kernel_device *device);

kernel_err kernel_info(const kernel_device *device, kernel_device_info *info);

/* What the calls that follow do with the kernels that they need. KERNEL_LAUNCH is usual; the others are for compiling
 * kernels before they are needed, with the same calls: what is in the buffers is undefined afterwards. */
typedef enum {
    KERNEL_LAUNCH,
    KERNEL_LIST,  /* count them, and launch none */
    KERNEL_SHARE, /* launch each once, unless it has been launched or another process compiles it at this moment */
    KERNEL_ONCE   /* launch each once, unless it has been launched; wait while another process compiles it */
} kernel_mode;
void kernel_set_mode(kernel_device *device, kernel_mode mode);

/* What the last failed call on this device said: a sentence, perhaps with lines of advice or a compiler's log behind
 * it, no newline at the end; "" if none failed. Of NULL: the last kernel_open that failed in this thread, or the last
 * call that was refused under another process id. */
const char *kernel_error_message(const kernel_device *device);
const char *kernel_strerror(kernel_err err);

/* ---- Memory ---- */

/* A buffer of `floats` elements (4 bytes each: labels are int32_t in the same kind of buffer), contents undefined.
 * `name` is for messages and must outlive the buffer. */
kernel_err kernel_buffer_new(kernel_device *device, const char *name, size_t floats, kernel_buffer **buffer);

/* A buffer over the host's own memory, aligned to 64 bytes, which stays the caller's and must outlive the buffer. On a
 * device with shares_memory it is the same memory; elsewhere it is a copy on the device (undefined until kernel_push)
 * and kernel_push and kernel_fetch move slices of it. The host may touch a slice only while no queued work uses it:
 * write it before kernel_push, read it after kernel_fetch's event. */
kernel_err kernel_buffer_wrap(kernel_device *device, const char *name, void *host, size_t floats,
                              kernel_buffer **buffer);
void kernel_buffer_free(kernel_buffer *buffer); /* does not wait: call kernel_finish first; NULL is allowed */
size_t kernel_buffer_floats(const kernel_buffer *buffer);

static inline kernel_slice kernel_at(kernel_buffer *buffer, size_t first)
{
    kernel_slice slice = {buffer, first};
    return slice;
}

/* Copy count floats between the host and any buffer; both wait until it is done (read: and for all work before it). */
kernel_err kernel_write(kernel_device *device, kernel_slice to, const void *from, size_t count);
kernel_err kernel_read(kernel_device *device, void *to, kernel_slice from, size_t count);

/* Wrapped buffers: what the host wrote there is what work queued from now on sees. `slice` and `count` say where.
 * Elsewhere than in shared memory the bytes are copied (and counted) before it returns. */
kernel_err kernel_push(kernel_device *device, kernel_slice slice, size_t count);

/* Wrapped buffers: the host may read the slice, as the work queued so far leaves it, once *event is done; work queued
 * later may already be running then, on other slices. event may be NULL: then it waits. */
kernel_err kernel_fetch(kernel_device *device, kernel_slice slice, size_t count, kernel_event **event);

kernel_err kernel_fill(kernel_device *device, kernel_slice to, size_t count, float value);
kernel_err kernel_copy(kernel_device *device, kernel_slice to, kernel_slice from, size_t count); /* may not overlap */

/* ---- Order and time ---- */

/* Wait until everything queued is done, after an error too: then nothing uses buffers, or memory that they wrap, any more. */
kernel_err kernel_finish(kernel_device *device);

/* An event behind everything queued so far; the queue is flushed. To be freed before the device is closed. */
kernel_err kernel_record(kernel_device *device, kernel_event **event);
kernel_err kernel_event_wait(kernel_event *event);             /* until everything before it is done */
kernel_err kernel_event_done(kernel_event *event, bool *done); /* does not wait */
void kernel_event_free(kernel_event *event);                   /* NULL is allowed */

/* Seconds of device time from one recorded event to a later one; both must be done (else KERNEL_ERR_ARG). */
kernel_err kernel_event_elapsed(const kernel_event *from, const kernel_event *to, double *seconds);

kernel_err kernel_stats(const kernel_device *device, kernel_counters *counters);

/* ---- Activations ----
 * The device decides how an activation lies in memory (kernels/layout.h). kernel_floats says how much room it needs; a
 * batch of fewer images never needs more. The two functions below convert it from and to the plain (N, C, H, W). */

/* Floats a slice needs to hold an activation of this shape; 0 if the shape is not valid or too large. */
size_t kernel_floats(const kernel_device *device, kernel_shape shape);

/* x = nchw, and back: nchw has n*c*h*w floats on the device. For a batch of images: shape (N, 3, 32, 32). */
kernel_err kernel_from_nchw(kernel_device *device, kernel_shape shape, kernel_slice nchw, kernel_slice x);
kernel_err kernel_to_nchw(kernel_device *device, kernel_shape shape, kernel_slice x, kernel_slice nchw);

/* ---- Convolution ----
 * weight is (K, C, R, R) as torchvision stores it: K output channels, C input channels, R x R taps; no bias.
 * Output: (N, K, P, Q), P = (H + 2*padding - R) / stride + 1, Q alike. */

typedef struct {
    kernel_shape in; /* of x */
    int out_channels, size, stride, padding;
} kernel_conv;

/* Shape of the output; all zero if there is none (a size that does not fit). */
kernel_shape kernel_conv_out(const kernel_conv *conv);

/* y[n,k,p,q] = sum over c,r,s of x[n, c, p*stride+r-padding, q*stride+s-padding] * weight[k,c,r,s]. */
kernel_err kernel_conv_forward(kernel_device *device, const kernel_conv *conv, kernel_slice x, kernel_slice weight,
                               kernel_slice y);

/* dx = gradient by x, given dy; with `add`, dx += it (to the gradient of another branch). */
kernel_err kernel_conv_backward_input(kernel_device *device, const kernel_conv *conv, kernel_slice dy,
                                      kernel_slice weight, kernel_slice dx, bool add);

/* dweight = gradient by weight, summed over the images of this batch; all of it is written. */
kernel_err kernel_conv_backward_weight(kernel_device *device, const kernel_conv *conv, kernel_slice x, kernel_slice dy,
                                       kernel_slice dweight);

/* ---- Batch norm (Ioffe and Szegedy 2015), with what usually follows it ----
 *      y = [relu] ( gamma * (x - mean) / sqrt(variance + eps) + beta [+ residual] )
 * mean and variance are over the n*h*w elements of a channel in this batch (variance divided by their number), and the
 * running ones move towards them by `momentum` (variance divided by their number less one, as PyTorch does; one
 * element has no variance, and leaves the running ones as they are). If frozen, the running ones are used and stay:
 * evaluation, and training with frozen statistics. */

typedef struct {
    kernel_shape shape;
    bool frozen, relu;
    float momentum, eps;                    /* PyTorch: 0.1, 1e-5 */
    kernel_slice gamma, beta;               /* (C) each */
    kernel_slice running_mean, running_var; /* (C) each */
    kernel_slice saved;                     /* kernel_norm_floats(shape): from forward to backward, this layer's own */
} kernel_norm;

size_t kernel_norm_floats(const kernel_device *device, kernel_shape shape);

/* residual may be KERNEL_NONE; y may be residual itself, but not x. */
kernel_err kernel_norm_forward(kernel_device *device, const kernel_norm *norm, kernel_slice x, kernel_slice residual,
                               kernel_slice y);

/* Given dy, and x and y of the forward pass: dx, dgamma and dbeta (all written, not added to), and, where there was a
 * residual, its gradient dresidual (else KERNEL_NONE). dx or dresidual may be dy itself, but not each other. */
kernel_err kernel_norm_backward(kernel_device *device, const kernel_norm *norm, kernel_slice dy, kernel_slice x,
                                kernel_slice y, kernel_slice dx, kernel_slice dgamma, kernel_slice dbeta,
                                kernel_slice dresidual);

/* kernel_conv_forward into `convolved` (norm->shape, kept for backward), then kernel_norm_forward into y: the same
 * results to within rounding, in fewer passes over memory. */
kernel_err kernel_conv_norm_forward(kernel_device *device, const kernel_conv *conv, const kernel_norm *norm,
                                    kernel_slice x, kernel_slice weight, kernel_slice convolved, kernel_slice residual,
                                    kernel_slice y);

/* ---- Other layers ---- */

/* y = max(x, 0), NaN stays NaN; dx = y > 0 ? dy : 0. In place is allowed. */
kernel_err kernel_relu_forward(kernel_device *device, kernel_shape shape, kernel_slice x, kernel_slice y);
kernel_err kernel_relu_backward(kernel_device *device, kernel_shape shape, kernel_slice dy, kernel_slice y,
                                kernel_slice dx);

/* 3 x 3, stride 2, padding 1: (N, C, H, W) to (N, C, (H-1)/2+1, (W-1)/2+1). Of equal elements the first counts;
 * which one it was is kept in `chosen` (as many floats as y) for backward, which writes all of dx. */
kernel_shape kernel_max_pool_out(kernel_shape in);
kernel_err kernel_max_pool_forward(kernel_device *device, kernel_shape in, kernel_slice x, kernel_slice y,
                                   kernel_slice chosen);
kernel_err kernel_max_pool_backward(kernel_device *device, kernel_shape in, kernel_slice dy, kernel_slice chosen,
                                    kernel_slice dx);

/* Global average pool: (N, C, H, W) to (N, C, 1, 1). */
kernel_err kernel_mean_pool_forward(kernel_device *device, kernel_shape in, kernel_slice x, kernel_slice y);
kernel_err kernel_mean_pool_backward(kernel_device *device, kernel_shape in, kernel_slice dy, kernel_slice dx);

/* x is (N, C, 1, 1), weight (K, C), bias (K), y (N, K, 1, 1): y = x weight^T + bias. Backward writes all of dx (which
 * may be KERNEL_NONE), dweight and dbias. */
kernel_err kernel_linear_forward(kernel_device *device, kernel_shape in, int out_channels, kernel_slice x,
                                 kernel_slice weight, kernel_slice bias, kernel_slice y);
kernel_err kernel_linear_backward(kernel_device *device, kernel_shape in, int out_channels, kernel_slice x,
                                  kernel_slice weight, kernel_slice dy, kernel_slice dx, kernel_slice dweight,
                                  kernel_slice dbias);

/* Softmax cross-entropy of logits (N, K, 1, 1) against labels, n int32_t from 0 to K-1 (another label makes the loss
 * NaN). result[0] += sum over the images of their losses, result[1] += how many were classified correctly (the first
 * largest logit): fill both with 0 before the first batch. dlogits (KERNEL_NONE: only evaluate) = scale * (softmax -
 * one-hot): scale 1/n is the gradient of this batch's mean loss, 1/(images on all ranks) that of the whole step's. */
kernel_err kernel_cross_entropy(kernel_device *device, kernel_shape shape, kernel_slice logits, kernel_slice labels,
                                float scale, kernel_slice dlogits, kernel_slice result);

/* The same against labels that are smoothed, as torch.nn.CrossEntropyLoss(label_smoothing) has it: smoothing / K for
 * each class, and 1 - smoothing more for the label. 0: the same bits as without. */
kernel_err kernel_cross_entropy_smoothed(kernel_device *device, kernel_shape shape, kernel_slice logits,
                                         kernel_slice labels, float smoothing, float scale, kernel_slice dlogits,
                                         kernel_slice result);

/* ---- Vectors: parameters, gradients, optimiser state ---- */

/* into[i] += from[i]: the sum of two gradients, on the device. */
kernel_err kernel_sum(kernel_device *device, kernel_slice into, kernel_slice from, size_t count);

/* KERNEL_NESTEROV: SGD with Nesterov's momentum. */
typedef enum { KERNEL_SGD, KERNEL_ADAM, KERNEL_ADAMW, KERNEL_RMSPROP, KERNEL_NESTEROV } kernel_rule;

/* PyTorch's optimisers, to the formula. kernel_optimizer_defaults sets its default values. */
typedef struct {
    kernel_rule rule;
    double lr, weight_decay;
    double momentum;     /* SGD, RMSProp, Nesterov */
    double beta1, beta2; /* Adam, AdamW: 0.9, 0.999 */
    double alpha;        /* RMSProp: 0.99 */
    double eps;          /* Adam, AdamW, RMSProp: 1e-8 */
} kernel_optimizer;

/* PyTorch's defaults for everything but lr, weight_decay and momentum, which are 0 afterwards. */
void kernel_optimizer_defaults(kernel_optimizer *optimizer, kernel_rule rule);

/* How many state buffers (as long as the parameters, zero before the first step) the rule needs: 0 to 2.
 * SGD and Nesterov with momentum: the velocity. Adam, AdamW: first and second moment. RMSProp: mean square, and the
 * velocity if there is momentum. */
int kernel_optimizer_states(const kernel_optimizer *optimizer);

/* One step, number `step` (from 1), of parameters[i] for i < count; state[0] and state[1] beside them (KERNEL_NONE
 * where not needed). The bits of an element's new value depend on that element alone, so several ranks may each update
 * a slice. */
kernel_err kernel_update(kernel_device *device, const kernel_optimizer *optimizer, uint64_t step, size_t count,
                         kernel_slice parameters, kernel_slice gradients, const kernel_slice state[2]);

#ifdef __cplusplus
}
#endif
#endif
