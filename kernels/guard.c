/* SPDX-License-Identifier: MIT */
/*
 * guard: the driver compiles, or takes what it has kept on disk. Where files there are damaged it does not refuse them: it ends
 * the process, by an assertion (SIGABRT), or since it maps a file that has become shorter (SIGBUS). Then the process says which
 * folder to delete, and dies as it would have.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/device.h"

static const int deadly[KERNEL__DEADLY] = {SIGABRT, SIGBUS, SIGSEGV};

static char last_words[2 * KERNEL__PATH];

static void say_last_words(int signal)
{
    (void)signal;
    if (write(STDERR_FILENO, last_words, strlen(last_words)) < 0) return;
}

void kernel__guard(kernel__guarded *before)
{
    const struct sigaction say = {.sa_handler = say_last_words, .sa_flags = (int)SA_RESETHAND};
    const char *folder = getenv("POCL_CACHE_DIR");

    snprintf(
        last_words, sizeof last_words,
        "kernels: the OpenCL driver has ended this process while it compiled a kernel, or took one that it had kept\n"
        "  try: rm -r %s; damaged files there do this, and it makes them again\n",
        folder && strlen(folder) < KERNEL__PATH ? folder : "the folder in which the driver keeps them");
    for (int i = 0; i < KERNEL__DEADLY; i++) sigaction(deadly[i], &say, &before->old[i]);
}

void kernel__unguard(const kernel__guarded *before)
{
    for (int i = 0; i < KERNEL__DEADLY; i++) sigaction(deadly[i], &before->old[i], NULL);
}
