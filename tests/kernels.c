/* SPDX-License-Identifier: MIT */
// worlds: none
/*
 * kernels: the OpenCL layer: devices, memory, events, programs and their cache, errors, processes.
 */
#include "kernels/kernels.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels/device.h"
#include "tests/kernels/tensor.h"
#include "tests/util/job.h"
#include "tests/util/process.h"

#define ASSERT_CONTAINS(text, part) cr_assert(strstr((text), (part)), "expected \"%s\" in: %s", (part), (text))

static char folder[64]; /* of this test's own cache */

static void remove_folder(void)
{
    char command[128];

    tensor_release();
    if (!*folder) return;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    cr_assert_eq(system(command), 0);
}

static void own_cache(void)
{
    snprintf(folder, sizeof folder, "/tmp/pairwise-kernels.XXXXXX");
    cr_assert(mkdtemp(folder));
    setenv("PAIRWISE_CACHE", folder, 1);
}

/* cppcheck-suppress unknownMacro */
TestSuite(kernels, .fini = remove_folder, .timeout = 120);
TestSuite(kernels_long, .fini = remove_folder, .timeout = 120);

/* Something that needs a program: the sum of two vectors, right or wrong. */
static kernel_err add_up(kernel_device *d, float *sum)
{
    kernel_buffer *buffer;
    kernel_err err = kernel_buffer_new(d, "numbers", 200, &buffer);

    if (err) return err;
    err = kernel_fill(d, kernel_at(buffer, 0), 100, 1.5f);
    if (!err) err = kernel_fill(d, kernel_at(buffer, 100), 100, 2);
    if (!err) err = kernel_sum(d, kernel_at(buffer, 0), kernel_at(buffer, 100), 100);
    if (!err) err = kernel_read(d, sum, kernel_at(buffer, 99), 1);
    kernel_buffer_free(buffer);
    return err;
}

/* ---- Devices ---- */

Test(kernels, device_says_what_it_is)
{
    kernel_device_info info;

    ASSERT_KERNEL(kernel_info(device(), &info));
    cr_assert(*info.name && *info.driver && info.cores >= 1);
    cr_assert_str_eq(kernel_error_message(device()), "");
    cr_assert_str_eq(kernel_strerror(KERNEL_OK), "success");
    cr_assert_str_eq(kernel_strerror((kernel_err)-99), "unknown error");
}

Test(kernels, device_specs)
{
    static const char *const bad[] = {"",       "tpu",       "cpu:", "cpu:x",  "gpu:-1",
                                      "cpu:1x", "cpu:99999", "cpus", "auto:0", "CPU"};
    kernel_device *d = NULL;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(kernel_open(bad[i], 0, &d), KERNEL_ERR_ARG, "\"%s\"", bad[i]);
        ASSERT_CONTAINS(kernel_error_message(NULL), "auto, cpu, gpu, cpu:K or gpu:K");
        cr_assert_null(d);
    }
    setenv("PAIRWISE_DEVICE", "nonsense", 1);
    cr_assert_eq(kernel_open(NULL, 0, &d), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "PAIRWISE_DEVICE: \"nonsense\" is no device");
    cr_assert_eq(kernel_open("auto", 0, NULL), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_open("cpu:998", 0, &d), KERNEL_ERR_DEVICE);
    ASSERT_CONTAINS(kernel_error_message(NULL), "no OpenCL device cpu:998: there are");
}

Test(kernels, device_settings_that_are_wrong)
{
    kernel_device *d = NULL;

    setenv("PAIRWISE_KERNEL_LANES", "3", 1);
    cr_assert_eq(kernel_open(NULL, 0, &d), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "PAIRWISE_KERNEL_LANES: \"3\"");
    setenv("PAIRWISE_KERNEL_PLAIN", "yes", 1);
    cr_assert_eq(kernel_open(NULL, 0, &d), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "PAIRWISE_KERNEL_PLAIN: \"yes\"");
    setenv("PAIRWISE_KERNEL_FAIL", "alloc:0", 1);
    cr_assert_eq(kernel_open(NULL, 0, &d), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "PAIRWISE_KERNEL_FAIL: \"alloc:0\"");
}

Test(kernels, device_that_is_not_there)
{
    kernel_device *d = NULL;

    setenv("OCL_ICD_VENDORS", "/dev/null/none", 1);
    cr_assert_eq(kernel_open(NULL, 0, &d), KERNEL_ERR_DEVICE);
    ASSERT_CONTAINS(kernel_error_message(NULL), "no OpenCL device was found\ntry: ");
}

Test(kernels, null_is_an_error_and_not_a_crash)
{
    kernel_counters counters;
    kernel_device_info info;
    bool done;

    cr_assert_eq(kernel_finish(NULL), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_info(NULL, &info), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_stats(NULL, &counters), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_event_wait(NULL), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_event_done(NULL, &done), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_sum(NULL, KERNEL_NONE, KERNEL_NONE, 1), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "kernel_sum: no device");
    cr_assert_eq(kernel_buffer_floats(NULL), 0u);
    kernel_buffer_free(NULL);
    kernel_event_free(NULL);
    kernel_close(NULL);
    ASSERT_REFUSED(kernel_record(device(), NULL), KERNEL_ERR_ARG, "nowhere");
    ASSERT_REFUSED(kernel_buffer_new(device(), NULL, 1, NULL), KERNEL_ERR_ARG, "nowhere");
}

/* ---- Memory ---- */

Test(kernels, write_and_read_count_bytes)
{
    kernel_counters before, after;
    float in[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, out[4] = {0};
    kernel_buffer *buffer;

    ASSERT_KERNEL(kernel_buffer_new(device(), "ten", 10, &buffer));
    cr_assert_eq(kernel_buffer_floats(buffer), 10u);
    ASSERT_KERNEL(kernel_stats(device(), &before));
    ASSERT_KERNEL(kernel_write(device(), kernel_at(buffer, 0), in, 10));
    ASSERT_KERNEL(kernel_read(device(), out, kernel_at(buffer, 6), 4));
    ASSERT_KERNEL(kernel_read(device(), out, kernel_at(buffer, 10), 0));
    ASSERT_KERNEL(kernel_stats(device(), &after));
    cr_assert_arr_eq(out, (in + 6), sizeof out);
    cr_assert_eq(after.bytes_to_device - before.bytes_to_device, 40u);
    cr_assert_eq(after.bytes_from_device - before.bytes_from_device, 16u);
    ASSERT_REFUSED(kernel_read(device(), out, kernel_at(buffer, 8), 4), KERNEL_ERR_ARG, "buffer ten has 10");
    ASSERT_REFUSED(kernel_push(device(), kernel_at(buffer, 0), 1), KERNEL_ERR_ARG, "ten is not wrapped");
    kernel_buffer_free(buffer);
}

enum { WRAPPED = 1 << 16, HALF = WRAPPED / 2 };

Test(kernels, wrapped_memory_is_shared)
{
    float *host = aligned_alloc(64, WRAPPED * sizeof *host), other = 0;
    kernel_device_info info;
    kernel_counters counters;
    kernel_buffer *buffer;
    kernel_event *event;

    ASSERT_KERNEL(kernel_info(device(), &info));
    for (int i = 0; i < WRAPPED; i++) host[i] = (float)i;
    ASSERT_KERNEL(kernel_buffer_wrap(device(), "wrapped", host, WRAPPED, &buffer));
    ASSERT_KERNEL(kernel_push(device(), kernel_at(buffer, 0), WRAPPED));
    ASSERT_KERNEL(kernel_sum(device(), kernel_at(buffer, 0), kernel_at(buffer, WRAPPED / 2), WRAPPED / 2));
    ASSERT_KERNEL(kernel_fetch(device(), kernel_at(buffer, 0), WRAPPED / 2, &event));
    ASSERT_KERNEL(kernel_event_wait(event));
    for (int i = 0; i < WRAPPED / 2; i++) cr_assert_eq(host[i], (float)(2 * i + HALF), "element %d", i);
    host[7] = 70;
    ASSERT_KERNEL(kernel_push(device(), kernel_at(buffer, 7), 1));
    ASSERT_KERNEL(kernel_read(device(), &other, kernel_at(buffer, 7), 1));
    cr_assert_eq(other, 70.0f);
    ASSERT_KERNEL(kernel_fetch(device(), kernel_at(buffer, 0), WRAPPED, NULL));
    ASSERT_KERNEL(kernel_stats(device(), &counters));
    cr_assert_eq(counters.bytes_to_device, info.shares_memory ? 0u : (WRAPPED + 1) * 4u);
    ASSERT_REFUSED(kernel_buffer_wrap(device(), "odd", host + 1, 8, &buffer), KERNEL_ERR_ARG, "aligned to 64");
    kernel_event_free(event);
    kernel_buffer_free(buffer);
    free(host);
}

/* ---- Events ---- */

Test(kernels, events)
{
    kernel_event *begin, *end;
    kernel_buffer *buffer;
    bool done = false;
    double seconds = -1;

    ASSERT_KERNEL(kernel_buffer_new(device(), "long", 1 << 22, &buffer));
    ASSERT_KERNEL(kernel_record(device(), &begin));
    for (int i = 0; i < 10; i++)
        ASSERT_KERNEL(kernel_sum(device(), kernel_at(buffer, 0), kernel_at(buffer, 1 << 21), 1 << 21));
    ASSERT_KERNEL(kernel_record(device(), &end));
    while (!done) ASSERT_KERNEL(kernel_event_done(end, &done));
    ASSERT_KERNEL(kernel_event_wait(end));
    ASSERT_KERNEL(kernel_event_elapsed(begin, end, &seconds));
    cr_assert(seconds > 1e-4 && seconds < 60, "%g s for 10 sums of 2 million floats", seconds);
    kernel_event_free(begin);
    kernel_event_free(end);
    kernel_buffer_free(buffer);
}

/* ---- Errors ---- */

Test(kernels, no_memory)
{
    kernel_buffer *buffer;
    kernel_err err;

    setenv("PAIRWISE_KERNEL_FAIL", "alloc:2", 1);
    ASSERT_KERNEL(kernel_buffer_new(device(), "first", 1, &buffer));
    err = kernel_buffer_new(device(), "activations", 1 << 20, &buffer);
    cr_assert_eq(err, KERNEL_ERR_NOMEM);
    ASSERT_CONTAINS(kernel_error_message(device()), "clCreateBuffer: CL_MEM_OBJECT_ALLOCATION_FAILURE (-4): buffer "
                                                    "activations, 1048576 floats, 4.2 MB\ntry: ");
    cr_assert_eq(kernel_finish(device()), KERNEL_ERR_NOMEM, "the error does not stick");
    kernel_buffer_free(buffer);
}

/* More than any machine has: the driver itself says no. */
Test(kernels, no_such_memory)
{
    kernel_buffer *buffer;
    kernel_err err = kernel_buffer_new(device(), "everything", (size_t)1 << 50, &buffer);

    cr_assert(err == KERNEL_ERR_NOMEM, "%s", kernel_error_message(device()));
    ASSERT_CONTAINS(kernel_error_message(device()), "buffer everything, 1125899906842624 floats");
}

Test(kernels, launch_that_fails)
{
    kernel_counters counters;
    kernel_buffer *buffer;
    float sum;

    setenv("PAIRWISE_KERNEL_FAIL", "launch:2", 1);
    ASSERT_KERNEL(add_up(device(), &sum));
    cr_assert_eq(add_up(device(), &sum), KERNEL_ERR_NOMEM);
    ASSERT_CONTAINS(kernel_error_message(device()), "clEnqueueNDRangeKernel: CL_OUT_OF_RESOURCES (-5): kernel sum, ");
    cr_assert_eq(kernel_buffer_new(device(), "more", 1, &buffer), KERNEL_ERR_NOMEM);
    ASSERT_KERNEL(kernel_stats(device(), &counters));
}

Test(kernels, program_that_does_not_build)
{
    float sum;

    own_cache();
    setenv("PAIRWISE_KERNEL_FAIL", "build", 1);
    cr_assert_eq(add_up(device(), &sum), KERNEL_ERR_BUILD);
    ASSERT_CONTAINS(kernel_error_message(device()), "CL_BUILD_PROGRAM_FAILURE (-11): program vector, options -DLANES=");
    ASSERT_CONTAINS(kernel_error_message(device()), "this error was asked for by PAIRWISE_KERNEL_FAIL");
    cr_assert_eq(add_up(device(), &sum), KERNEL_ERR_BUILD);
}

/* Memory that is wrapped may be given back behind kernel_finish, whatever has failed. */
Test(kernels, an_error_does_not_end_the_wait_for_what_was_queued)
{
    enum { FLOATS = 16 << 20, FILLS = 4 };
    float *host = aligned_alloc(64, FLOATS * sizeof *host), sum = 0;
    kernel_device_info info;
    kernel_buffer *buffer;

    setenv("PAIRWISE_KERNEL_FAIL", "launch:2", 1);
    ASSERT_KERNEL(kernel_info(device(), &info));
    ASSERT_KERNEL(add_up(device(), &sum));
    ASSERT_KERNEL(kernel_buffer_wrap(device(), "wrapped", host, FLOATS, &buffer));
    for (int i = 1; i <= FILLS; i++) ASSERT_KERNEL(kernel_fill(device(), kernel_at(buffer, 0), FLOATS, (float)i));
    cr_assert_eq(kernel_sum(device(), kernel_at(buffer, 0), kernel_at(buffer, 1), 1), KERNEL_ERR_NOMEM);
    cr_assert_eq(kernel_finish(device()), KERNEL_ERR_NOMEM);
    cr_expect(!info.shares_memory || host[FLOATS - 1] == (float)FILLS, "the last element is %g",
              (double)host[FLOATS - 1]);
    kernel_buffer_free(buffer);
    free(host);
}

Test(kernels, arguments_that_are_wrong_do_not_stick)
{
    float sum = 0;

    cr_assert_eq(kernel_sum(device(), KERNEL_NONE, KERNEL_NONE, 1), KERNEL_ERR_ARG);
    ASSERT_KERNEL(add_up(device(), &sum));
    cr_assert_eq(sum, 3.5f);
}

/* ---- Processes ---- */

/* In a child: no cr_ call, and out by _exit. Bits of the answer say what was wrong. */
static int use_after_fork(kernel_device *d, kernel_buffer *buffer, kernel_event *event)
{
    const char *said = kernel_error_message(NULL);
    float number;
    bool done;
    int wrong = 0;

    if (kernel_finish(d) != KERNEL_ERR_STATE) wrong |= 1;
    if (!strstr(said, "kernel_finish: process ") || !strstr(said, "call kernel_open after the fork")) wrong |= 2;
    if (kernel_read(d, &number, kernel_at(buffer, 0), 1) != KERNEL_ERR_STATE) wrong |= 4;
    if (kernel_event_done(event, &done) != KERNEL_ERR_STATE) wrong |= 8;
    if (kernel_sum(d, kernel_at(buffer, 0), kernel_at(buffer, 1), 1) != KERNEL_ERR_STATE) wrong |= 16;
    kernel_buffer_free(buffer);
    kernel_event_free(event);
    kernel_close(d);
    return wrong;
}

Test(kernels, refuses_after_a_fork)
{
    kernel_buffer *buffer;
    kernel_event *event;
    int status;
    float sum;
    pid_t child;

    ASSERT_KERNEL(kernel_buffer_new(device(), "parent's", 2, &buffer));
    ASSERT_KERNEL(kernel_record(device(), &event));
    child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(20);
        _exit(use_after_fork(device(), buffer, event));
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_eq(status, 0, "wrong: %x (low byte: a signal)", (unsigned)status);
    ASSERT_KERNEL(add_up(device(), &sum));
    kernel_buffer_free(buffer);
    kernel_event_free(event);
}

/* Waits for a child that ran `body`; what it ended with. */
static int in_child(int (*body)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(20);
        _exit(body());
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

static int refused(const char *call)
{
    const char *said = kernel_error_message(NULL);

    return !strstr(said, call) || !strstr(said, "after the fork") || !strstr(said, "kernel_list");
}

static int open_after_parent(void)
{
    kernel_listing listing;
    kernel_device *d;
    int wrong = 0;

    if (kernel_open(NULL, 1, &d) != KERNEL_ERR_STATE || refused("kernel_open: process ")) wrong |= 1;
    if (kernel_list(&listing) != KERNEL_ERR_STATE || refused("kernel_list: process ")) wrong |= 2;
    return wrong;
}

/* The driver's threads are gone in the child, whether the parent has closed its device, or found none at all. */
Test(kernels, refuses_a_child_of_a_process_that_has_opened_and_closed)
{
    kernel_device *d;
    float sum;

    ASSERT_KERNEL(kernel_open(NULL, 1, &d));
    kernel_close(d);
    cr_assert_eq(in_child(open_after_parent), 0);
    ASSERT_KERNEL(add_up(device(), &sum)); /* the parent itself goes on */
}

Test(kernels, refuses_a_child_of_a_process_that_has_found_no_device)
{
    kernel_device *d;

    cr_assert_eq(kernel_open("cpu:998", 1, &d), KERNEL_ERR_DEVICE);
    cr_assert_eq(in_child(open_after_parent), 0);
}

static int open_and_compute(void)
{
    kernel_device *d;
    float sum = 0;

    return kernel_open(NULL, 1, &d) || add_up(d, &sum) || sum != 3.5f;
}

Test(kernels, can_be_listed_before_a_fork)
{
    kernel_listing before, after;

    cr_assert_eq(kernel_list(NULL), KERNEL_ERR_ARG);
    cr_assert_eq(kernel_list(&before), KERNEL_OK, "%s", kernel_error_message(NULL));
    cr_assert(before.cpus + before.gpus > 0);
    ASSERT_CONTAINS(before.text, before.cpus ? "cpu:0 (" : "gpu:0 (");
    cr_assert_eq(in_child(open_and_compute), 0);
    device();
    cr_assert_eq(kernel_list(&after), KERNEL_OK, "%s", kernel_error_message(NULL));
    cr_assert_str_eq(before.text, after.text);
}

Test(kernels, can_be_listed_where_there_are_none)
{
    kernel_listing listing = {.cpus = 7};

    setenv("OCL_ICD_VENDORS", "/dev/null/none", 1);
    cr_assert_eq(kernel_list(&listing), KERNEL_OK, "%s", kernel_error_message(NULL));
    cr_assert(listing.cpus == 0 && listing.gpus == 0);
    ASSERT_CONTAINS(listing.text, "no OpenCL device was found\ntry: ");
}

/* ---- The cache ---- */

/* As with a driver that keeps nothing. (PoCL has read the variable by then, and saves time.) */
static void cache_of_our_own(void)
{
    kernel_device *d;

    own_cache();
    cr_assert_eq(kernel_open(NULL, 1, &d), KERNEL_OK, "%s", kernel_error_message(NULL));
    kernel_close(d);
    setenv("POCL_KERNEL_CACHE", "0", 1);
}

static kernel_counters open_and_add(void)
{
    kernel_device *d = NULL;
    kernel_counters counters = {0};
    float sum = 0;

    cr_assert_eq(kernel_open(NULL, 1, &d), KERNEL_OK, "%s", kernel_error_message(NULL));
    cr_assert_eq(add_up(d, &sum), KERNEL_OK, "%s", kernel_error_message(d));
    cr_assert_eq(sum, 3.5f);
    cr_assert_eq(kernel_stats(d, &counters), KERNEL_OK);
    kernel_close(d);
    return counters;
}

Test(kernels, cache_is_used)
{
    kernel_counters first, second;

    cache_of_our_own();
    first = open_and_add(), second = open_and_add();
    cr_assert(first.programs_built == 1 && first.programs_loaded == 0);
    cr_assert(second.programs_built == 0 && second.programs_loaded == 1);
}

/* How many paths in the folder match. */
static int count_files(const char *pattern)
{
    char command[256];
    int count = -1;
    FILE *list;

    snprintf(command, sizeof command, "find '%s' -path '%s' | wc -l", folder, pattern);
    list = popen(command, "r");
    cr_assert(list && fscanf(list, "%d", &count) == 1);
    pclose(list);
    return count;
}

/* PoCL compiles a kernel for the work-groups of its launches, and for no others: what is not launched is not compiled,
 * and nothing is kept twice. */
Test(kernels, cache_of_the_driver_is_used)
{
    own_cache();
    unsetenv("POCL_KERNEL_CACHE");
    for (int i = 0; i < 2; i++) {
        kernel_counters counters = open_and_add();
        if (!count_files("*/pocl/*.bc")) cr_skip("the device is not PoCL's");
        cr_assert(counters.programs_built == 1 && counters.programs_loaded == 0);
        cr_assert_eq(count_files("*.program"), 0);
        cr_assert_eq(count_files("*/sum/*.so"), 1, "kernel sum was compiled %d times", count_files("*/sum/*.so"));
        cr_assert_eq(count_files("*.so"), 1, "%d kernels were compiled", count_files("*.so"));
    }
}

/* Take all locks there are; release them with close. */
static int take_locks(int locks[], int most)
{
    DIR *list = opendir(folder);
    int count = 0;

    for (struct dirent *entry; list && (entry = readdir(list));)
        if (strstr(entry->d_name, ".lock") && count < most) {
            locks[count] = openat(dirfd(list), entry->d_name, O_RDWR | O_CLOEXEC);
            cr_assert(locks[count] >= 0 && flock(locks[count], LOCK_EX | LOCK_NB) == 0, "%s", entry->d_name);
            count++;
        }
    if (list) closedir(list);
    return count;
}

static void expect_used(kernel_device *d, kernel_mode mode, uint64_t listed, uint64_t used, uint64_t launches)
{
    kernel_counters counters;
    float sum;

    kernel_set_mode(d, mode);
    cr_assert_eq(add_up(d, &sum), KERNEL_OK, "%s", kernel_error_message(d));
    cr_assert_eq(kernel_stats(d, &counters), KERNEL_OK);
    cr_assert(counters.kernels_listed == listed && counters.kernels_used == used && counters.launches == launches,
              "mode %d: %d listed, %d used, %d launches", (int)mode, (int)counters.kernels_listed,
              (int)counters.kernels_used, (int)counters.launches);
}

/* A kernel that another process compiles is left to it. */
Test(kernels, compiling_is_shared)
{
    int locks[8], count;
    kernel_device *d;

    own_cache();
    unsetenv("POCL_KERNEL_CACHE");
    open_and_add();
    count = take_locks(locks, 8);
    cr_assert(count >= 1);
    cr_assert_eq(kernel_open(NULL, 1, &d), KERNEL_OK, "%s", kernel_error_message(NULL));
    expect_used(d, KERNEL_LIST, 1, 0, 0);
    if (count_files("*/pocl/*.bc")) expect_used(d, KERNEL_SHARE, 1, 0, 0);
    for (int i = 0; i < count; i++) close(locks[i]);
    expect_used(d, KERNEL_SHARE, 1, 1, 1);
    expect_used(d, KERNEL_ONCE, 1, 1, 1);
    expect_used(d, KERNEL_LAUNCH, 1, 1, 2);
    kernel_close(d);
}

static void program_file(char path[512])
{
    DIR *list = opendir(folder);

    *path = 0;
    for (struct dirent *entry; list && (entry = readdir(list));)
        if (strstr(entry->d_name, ".program")) snprintf(path, 512, "%s/%s", folder, entry->d_name);
    if (list) closedir(list);
    cr_assert(*path, "no program in %s", folder);
}

/* Even: a byte changed; odd: cut short; at the start, a quarter, the middle and the end. Last: something behind it. */
static void damage_file(const char *path, int kind)
{
    int file = open(path, O_RDWR);
    off_t size = lseek(file, 0, SEEK_END), places[] = {0, size / 4, size / 2, size - 1, size};
    off_t place = places[kind / 2];
    char byte = 0;

    cr_assert(file >= 0 && size > 0);
    cr_assert(kind == 8 || pread(file, &byte, 1, place) == 1);
    byte ^= 1;
    cr_assert(kind % 2 ? ftruncate(file, place) == 0 : pwrite(file, &byte, 1, place) == 1);
    close(file);
}

Test(kernels, cache_that_is_damaged_is_rebuilt)
{
    char path[512];

    cache_of_our_own();
    open_and_add();
    program_file(path);
    for (int kind = 0; kind <= 8; kind += job_is_quick() ? 3 : 1) {
        damage_file(path, kind);
        kernel_counters rebuilt = open_and_add(), loaded = open_and_add();
        cr_assert(rebuilt.programs_built == 1 && rebuilt.programs_loaded == 0, "damage %d was not seen", kind);
        cr_assert(loaded.programs_loaded == 1, "damage %d was not repaired", kind);
    }
}

static int add_in_a_process(void *arg)
{
    kernel_device *d = NULL;
    float sum = 0;

    (void)arg;
    return kernel_open(NULL, 1, &d) || add_up(d, &sum) ? 1 : 0;
}

/* What the driver keeps itself: it ends the process where a file is cut short, and the folder to delete is said. */
Test(kernels, cache_of_the_driver_that_is_damaged_is_named)
{
    process_result whole, cut;
    char command[300];

    own_cache();
    unsetenv("POCL_CACHE_DIR");
    process_run(add_in_a_process, NULL, NULL, 100, &whole);
    cr_assert_eq(whole.status, 0, "%s", whole.err);
    snprintf(command, sizeof command, "find %s/pocl -type f -size +0 -exec truncate -s 100 {} +", folder);
    cr_assert_eq(system(command), 0);
    process_run(add_in_a_process, NULL, NULL, 100, &cut);
    snprintf(command, sizeof command, "try: rm -r %s/pocl", folder);
    if (cut.status) ASSERT_CONTAINS(cut.err, command); /* another driver may do without */
    process_free(&whole);
    process_free(&cut);
}

/* No home: the temporary folder. */
Test(kernels_long, cache_without_a_home)
{
    kernel_counters counters;

    own_cache();
    setenv("POCL_KERNEL_CACHE", "0", 1);
    unsetenv("PAIRWISE_CACHE");
    setenv("TMPDIR", folder, 1);
    setenv("XDG_CACHE_HOME", "/dev/null/no", 1);
    setenv("HOME", "/dev/null/no", 1);
    counters = open_and_add();
    cr_assert_eq(counters.programs_built, 1u);
    counters = open_and_add();
    cr_assert_eq(counters.programs_loaded, 1u);
}

static bool is_there(const char *parent, const char *name)
{
    char path[600];

    snprintf(path, sizeof path, "%s/%s", parent, name);
    return access(path, F_OK) == 0;
}

/* Only folders of the cache are made, never those above it: a home that is not there stays away. */
Test(kernels, cache_makes_no_home)
{
    char path[KERNEL__PATH], home[600];

    own_cache();
    unsetenv("PAIRWISE_CACHE");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("POCL_CACHE_DIR");
    setenv("TMPDIR", folder, 1);
    snprintf(home, sizeof home, "%s/home", folder);
    setenv("HOME", home, 1);
    cr_assert_eq(kernel__cache_choose(path), KERNEL_OK);
    cr_assert(strncmp(path, folder, strlen(folder)) == 0 && !is_there(folder, "home"), "%s", path);
    cr_assert_eq(mkdir(home, 0700), 0);
    cr_assert_eq(kernel__cache_choose(path), KERNEL_OK);
    cr_assert(is_there(home, ".cache/pairwise/pocl"), "%s", path);
    snprintf(home, sizeof home, "%s/far/xdg", folder);
    setenv("XDG_CACHE_HOME", home, 1);
    cr_assert_eq(kernel__cache_choose(path), KERNEL_OK);
    cr_assert(!is_there(folder, "far"), "%s", path);
}

Test(kernels, cache_that_cannot_be)
{
    kernel_device *d = NULL;

    setenv("PAIRWISE_CACHE", "/dev/null/no", 1);
    cr_assert_eq(kernel_open(NULL, 1, &d), KERNEL_ERR_ARG);
    ASSERT_CONTAINS(kernel_error_message(NULL), "PAIRWISE_CACHE: \"/dev/null/no\"");
    setenv("PAIRWISE_CACHE", "", 1);
    cr_assert_eq(kernel_open(NULL, 1, &d), KERNEL_ERR_ARG);
}

/* Processes that start together: one builds, the others load. Before the fork nothing of OpenCL. */
Test(kernels_long, cache_is_built_once)
{
    enum { PROCESSES = 4 };
    int pipes[2], built = 0, loaded = 0, status;
    kernel_counters c;

    own_cache();
    setenv("POCL_KERNEL_CACHE", "0", 1);
    cr_assert_eq(pipe(pipes), 0);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            kernel_device *d;
            float sum;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(60);
            if (kernel_open(NULL, 1, &d) || add_up(d, &sum) || kernel_stats(d, &c)) _exit(1);
            _exit(write(pipes[1], &c, sizeof c) == sizeof c ? 0 : 1);
        }
    for (int i = 0; i < PROCESSES; i++) {
        cr_assert(wait(&status) > 0 && status == 0, "a process ended with %x", (unsigned)status);
        cr_assert_eq(read(pipes[0], &c, sizeof c), (ssize_t)sizeof c);
        built += (int)c.programs_built, loaded += (int)c.programs_loaded;
    }
    cr_assert(built == 1 && loaded == PROCESSES - 1, "%d built, %d loaded", built, loaded);
}

/* ---- The same bits ---- */

enum { IMAGES = 37, CHANNELS = 32, WEIGHTS = CHANNELS * CHANNELS * 9 };

/* A checksum of what a convolution and a norm give, forward and backward; 0 on error. */
static uint64_t work(kernel_device *d, int channels, int side)
{
    kernel_shape shape = {IMAGES, channels, side, side};
    kernel_conv conv = {shape, channels, 3, 1, 1};
    size_t floats = kernel_floats(d, shape), saved = kernel_norm_floats(d, shape);
    size_t total = 5 * floats + 2 * WEIGHTS + 6 * CHANNELS + saved;
    float *host = calloc(total, sizeof *host);
    uint64_t hash = 14695981039346656037u;
    kernel_buffer *b = NULL;
    kernel_err err = host ? kernel_buffer_new(d, "work", total, &b) : KERNEL_ERR_NOMEM;
    kernel_slice weight = kernel_at(b, 5 * floats), dweight = kernel_at(b, 5 * floats + WEIGHTS);
    size_t rest = 5 * floats + 2 * WEIGHTS;
    kernel_norm norm = {shape,
                        false,
                        true,
                        0.1f,
                        1e-5f,
                        kernel_at(b, rest),
                        kernel_at(b, rest + CHANNELS),
                        kernel_at(b, rest + 2 * CHANNELS),
                        kernel_at(b, rest + 3 * CHANNELS),
                        kernel_at(b, rest + 6 * CHANNELS)};

    for (size_t i = 0; host && i < total; i++) host[i] = sinf((float)i);
    if (!err) err = kernel_write(d, kernel_at(b, 0), host, total);
    if (!err) err = kernel_from_nchw(d, shape, kernel_at(b, floats), kernel_at(b, 0));
    if (!err)
        err = kernel_conv_norm_forward(d, &conv, &norm, kernel_at(b, 0), weight, kernel_at(b, floats), KERNEL_NONE,
                                       kernel_at(b, 2 * floats));
    if (!err)
        err = kernel_norm_backward(d, &norm, kernel_at(b, 2 * floats), kernel_at(b, floats), kernel_at(b, 2 * floats),
                                   kernel_at(b, 3 * floats), kernel_at(b, rest + 4 * CHANNELS),
                                   kernel_at(b, rest + 5 * CHANNELS), KERNEL_NONE);
    if (!err)
        err = kernel_conv_backward_input(d, &conv, kernel_at(b, 3 * floats), weight, kernel_at(b, 4 * floats), false);
    if (!err) err = kernel_conv_backward_weight(d, &conv, kernel_at(b, 0), kernel_at(b, 3 * floats), dweight);
    if (!err) err = kernel_read(d, host, kernel_at(b, 0), total);
    for (size_t i = 0; host && i < total; i++) {
        uint32_t bits;
        memcpy(&bits, &host[i], sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    kernel_buffer_free(b);
    free(host);
    return err ? 0 : hash;
}

typedef struct {
    int cores;
    int to;
} worker;

static int work_in_process(void *arg)
{
    worker *w = arg;
    kernel_device *d;
    uint64_t hash;

    if (kernel_open("cpu", w->cores, &d)) return 1;
    hash = work(d, CHANNELS, 9); /* Winograd's way, in many strips and in one, then images of 2 x 2, then tiles */
    if (hash) hash = hash * 31 + work(d, CHANNELS, 4);
    if (hash) hash = hash * 31 + work(d, CHANNELS, 2);
    if (hash) hash = hash * 31 + work(d, 12, 9);
    kernel_close(d);
    return hash && write(w->to, &hash, sizeof hash) == sizeof hash ? 0 : 1;
}

/* One core, two cores, and once more. */
Test(kernels, same_bits_whatever_the_cores)
{
    static const int cores[] = {1, 2, 2, 1};
    uint64_t hash, first = 0;
    process_result result;
    int pipes[2];

    cr_assert_eq(pipe(pipes), 0);
    for (int i = 0; i < 4; i++) {
        process_run(work_in_process, &(worker){cores[i], pipes[1]}, NULL, 60, &result);
        cr_assert(result.status == 0, "%.500s", result.err);
        process_free(&result);
        cr_assert_eq(read(pipes[0], &hash, sizeof hash), (ssize_t)sizeof hash);
        if (i == 0) first = hash;
        cr_assert_eq(hash, first, "run %d with %d cores differs", i, cores[i]);
    }
}
