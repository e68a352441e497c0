/* SPDX-License-Identifier: MIT */
#include "trainer/window.h"

#include <sys/mman.h>
#include <unistd.h>

#include "trainer/pages.h"

static bool map_at(char *at, size_t bytes, int file)
{
    return mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
}

/* The same memory twice; NULL: none. */
static float *map_twice(size_t bytes)
{
    int file = memfd_create("pairwise window", MFD_CLOEXEC);
    if (file < 0) return NULL;
    char *at = ftruncate(file, (off_t)bytes) < 0
                   ? MAP_FAILED
                   : mmap(NULL, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool mapped = at != MAP_FAILED && map_at(at, bytes, file) && map_at(at + bytes, bytes, file);
    close(file);
    if (!mapped && at != MAP_FAILED) munmap(at, 2 * bytes);
    return mapped ? (float *)(void *)at : NULL;
}

kernel_err train__window_open(train_window *window, kernel_device *device, const char *name, size_t floats)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE) / sizeof(float);
    *window = (train_window){.floats = (floats / page + 1) * page};
    window->host = map_twice(window->floats * sizeof(float));
    kernel_err err = window->host ? kernel_buffer_wrap(device, name, window->host, 2 * window->floats, &window->on)
                                  : KERNEL_ERR_NOMEM;
    if (err) train__window_close(window);
    return err;
}

void train__window_close(train_window *window)
{
    kernel_buffer_free(window->on);
    train__pages_free(window->host, 2 * window->floats * sizeof(float));
    *window = (train_window){0};
}

float *train__window_host(const train_window *window, size_t first)
{
    return window->host + first % window->floats;
}

kernel_slice train__window_slice(const train_window *window, size_t first)
{
    return kernel_at(window->on, first % window->floats);
}

bool train__window_collide(const train_window *window, size_t first, size_t count, size_t other, size_t others)
{
    size_t length = window->floats, behind = (other % length + length - first % length) % length;
    return count && others && (behind < count || length - behind < others);
}

size_t train__window_held(const train_window *window)
{
    return window->on ? train__pages_held(window->host, window->floats * sizeof(float)) : 0;
}
