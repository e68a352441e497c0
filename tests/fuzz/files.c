/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"
#include "tests/util/folder.h"

static pid_t owner;

static void remove_mine(void)
{
    if (getpid() == owner) remove_test_folder();
}

const char *fuzz_folder(void)
{
    if (owner != getpid()) {
        make_test_folder();
        owner = getpid();
        atexit(remove_mine);
    }
    return test_folder;
}

const char *fuzz_file(const char *name, const void *bytes, size_t count)
{
    fuzz_folder();
    const char *path = in_folder(name);
    FILE *file = fopen(path, "we");
    if (!file || fwrite(bytes, 1, count, file) != count || fclose(file) != 0) {
        perror(path);
        abort();
    }
    return path;
}

char *fuzz_text(const void *bytes, size_t count)
{
    char *text = malloc(count + 1);
    if (!text) abort();
    if (count) memcpy(text, bytes, count);
    text[count] = '\0';
    return text;
}
