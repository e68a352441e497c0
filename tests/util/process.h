/* SPDX-License-Identifier: MIT */
/*
 * process: run something in a process of its own and see everything it leaves: output, exit status, time, orphans.
 * Knows nothing of ranks and nothing of the test framework, so that any test program can use it.
 *
 *      process_run      a function in a forked child
 *      shell_run        a command line, with the launcher's path in $L (TEST_LAUNCHER: another one), the folder of test
 *                       programs in $T
 *      process_begin    process_run in two halves, for tests that act on the program while it runs
 *      process_start    the same with pipes, for tests that talk to it
 *
 * Output goes to memory files, so that no program waits for its reader, but with process_start.
 */
#ifndef PAIRWISE_TESTS_PROCESS_H
#define PAIRWISE_TESTS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    int status;                /* exit code, or 128 + signal */
    bool late;                 /* ran into the limit and was killed */
    int left_behind;           /* processes it left alive, a moment after its end; they and what they left are killed */
    double seconds, orphans_s; /* until it ended; until what it left had ended too */
    char *out, *err;           /* what it wrote, each with a NUL behind it; err is NULL where both went to one */
    size_t out_bytes, err_bytes;
} process_result;

/* Run body(arg) in a forked child with `input` as its standard input (NULL: none); the child ends with _exit of
 * what body returns. It is killed after limit_s seconds. Free the result with process_free. */
void process_run(int (*body)(void *arg), void *arg, const char *input, double limit_s, process_result *result);

/* Run a command line of the shell, as process_run with a limit of 60 s. `exec` in front spares a process. */
void shell_run(const char *command, const char *input, process_result *result);

void process_free(process_result *result);

/* A program under way: this side's ends of its standard input, output and errors. */
typedef struct {
    pid_t pid;
    int in, out, err;
    double started;
} process;

/* process_run in two halves. `together`: errors go to the output, in the order in which they are written. */
void process_begin(int (*body)(void *arg), void *arg, const char *input, bool together, process *program);
void process_end(process *program, double limit_s, process_result *result);

/* What it has written so far, allocated. */
char *process_said(const process *program);

void process_start(int (*body)(void *arg), void *arg, process *program);
void shell_start(const char *command, process *program);

/* Read from fd until `text` has come (true) or the end or 60 s (false). */
bool process_read_until(int fd, const char *text);

/* Close its input, read what remains, wait for it. As process_run from there on. */
void process_finish(process *program, process_result *result);

/* The folder things are built in: $PAIRWISE_BUILD, else where this program is: FOLDER/tests/NAME. */
const char *process_build_folder(void);

/* Seconds on the monotonic clock. */
double process_now(void);

/* Descriptors this process has open. */
int process_open_files(void);

#endif
