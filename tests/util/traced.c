/* SPDX-License-Identifier: MIT */
#include "tests/util/traced.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void traced_name(char *path, size_t bytes)
{
    static int number;
    const char *folder = getenv("TMPDIR");

    snprintf(path, bytes, "%s/pairwise-trace.%d.%d.json", folder ? folder : "/tmp", (int)getpid(), number++);
}

char *traced_read(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;

    *bytes = 0;
    if (!file) return NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long length = ftell(file);
        text = length >= 0 ? malloc((size_t)length + 1) : NULL;
        rewind(file);
        if (text) *bytes = fread(text, 1, (size_t)length, file), text[*bytes] = 0;
    }
    fclose(file);
    return text;
}

char *traced_run(int size, const p2p_options *options, job_main rank_main, void *arg, job_result *result, size_t *bytes)
{
    char path[200];
    p2p_options with = {.trace = path};

    if (options) with = *options;
    traced_name(path, sizeof path);
    with.trace = path;
    job_run(size, &with, rank_main, arg, result);
    char *text = traced_read(path, bytes);
    unlink(path);
    return text;
}
