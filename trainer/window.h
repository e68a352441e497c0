/* SPDX-License-Identifier: MIT */
/*
 * window: a run of elements of an array that is nowhere whole, always in the same memory. Element i lies at i modulo the
 * window's length. The memory is mapped twice, one mapping behind the other, so that a run that goes over the end finds
 * the begin there:
 *
 *      array       ... 3 4 5 | 6 7 8 9 10 11 | 12 13 ...
 *      addresses             | 6 7 8 9 10 11 | 6 7 8 9 10 11 |
 *      after 6, 7 made room for 12, 13:
 *                            | 12 13 8 9 10 11 | 12 13 8 9 10 11 |         8 to 13 are one run
 */
#ifndef PAIRWISE_TRAINER_WINDOW_H
#define PAIRWISE_TRAINER_WINDOW_H

#include "kernels/kernels.h"

typedef struct {
    float *host;
    kernel_buffer *on; /* both mappings; NULL: there is no window */
    size_t floats;     /* of one mapping */
} train_window;

/* For runs of up to `floats` elements, and a little more. After an error there is nothing to close. */
kernel_err train__window_open(train_window *window, kernel_device *device, const char *name, size_t floats);
void train__window_close(train_window *window);

/* Where element `first` lies, and as many behind it as the window is long. */
float *train__window_host(const train_window *window, size_t first);
kernel_slice train__window_slice(const train_window *window, size_t first);

/* Have elements [first, first + count) and [other, other + others) a place in common? */
bool train__window_collide(const train_window *window, size_t first, size_t count, size_t other, size_t others);

/* Bytes that are in memory. */
size_t train__window_held(const train_window *window);

#endif
