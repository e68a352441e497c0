/* SPDX-License-Identifier: MIT */
/*
 * tensor: what the suites of kernels share: one device a test, numbers to feed it, and the way to and from it. Every
 * number fed is a float, so that the oracle in double sees the same. Everything is freed by tensor_release, the suites'
 * fixture.
 */
#ifndef PAIRWISE_TESTS_TENSOR_H
#define PAIRWISE_TESTS_TENSOR_H

#include <criterion/criterion.h>

#include "kernels/oracle.h"

/* The call succeeded; else its message. */
#define ASSERT_KERNEL(call)                                                                                       \
    do {                                                                                                          \
        kernel_err err_ = (call);                                                                                 \
        cr_assert(err_ == KERNEL_OK, "%s: %s: %s", #call, kernel_strerror(err_), kernel_error_message(device())); \
    } while (0)

/* The call failed like this, and says this. */
#define ASSERT_REFUSED(call, want, part)                                                                       \
    do {                                                                                                       \
        kernel_err err_ = (call);                                                                              \
        cr_assert(err_ == (want), "%s: %s, expected %s", #call, kernel_strerror(err_), kernel_strerror(want)); \
        cr_assert(strstr(kernel_error_message(device()), (part)), "expected \"%s\" in: %s", (part),            \
                  kernel_error_message(device()));                                                             \
    } while (0)

/* |got - want| <= limit * the largest |want|, element by element. */
#define ASSERT_CLOSE(got, want, count, limit)                                                                     \
    do {                                                                                                          \
        double worst_ = tensor_distance(got, want, count);                                                        \
        cr_assert(worst_ <= (limit), "%s is off by %.3g of its largest element, allowed %.1g (%s)", #got, worst_, \
                  (double)(limit), tensor_about);                                                                 \
    } while (0)

/* What is being tested, for messages. */
extern char tensor_about[256];

kernel_device *device(void); /* opened on first use */
void tensor_release(void);

/* Memory until the end of the test. */
void *tensor_memory(size_t bytes);

/* Numbers between -1 and 1, the same for the same seed. */
double *tensor_numbers(size_t count, unsigned seed);

/* The same floats on the device, somewhere odd in a buffer; values NULL: NaN everywhere. */
kernel_slice tensor_vector(size_t count, const double *values);
double *tensor_read(kernel_slice slice, size_t count);

/* The same as an activation; values NULL: NaN everywhere, lanes beyond the last image too. */
kernel_slice tensor_activation(kernel_shape shape, const double *values);

/* Back in (N, C, H, W). Asserts that lanes beyond the last image are zero. */
double *tensor_activation_read(kernel_slice slice, kernel_shape shape);

/* The largest |got - want|, as a share of the largest |want|; infinite where one is NaN and the other not. */
double tensor_distance(const double *got, const double *want, size_t count);

#endif
