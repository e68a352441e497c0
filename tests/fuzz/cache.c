/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/device.h"
#include "tests/fuzz/fuzz.h"

static const char key[] = "a device";

/* Under which name a program of this key is kept. */
static const char *name_of_file(void)
{
    static char name[64];
    if (*name) return name;
    kernel__cache_store(fuzz_folder(), key, (const unsigned char *)"program", 7);
    DIR *folder = opendir(fuzz_folder());
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strstr(entry->d_name, ".program")) snprintf(name, sizeof name, "%.60s", entry->d_name);
    if (folder) closedir(folder);
    return name;
}

FUZZ(cache)
{
    size_t length;
    fuzz_file(name_of_file(), bytes, count);
    unsigned char *program = kernel__cache_load(fuzz_folder(), key, &length);
    if (program && length > count) __builtin_trap();
    free(program);
    return 0;
}
