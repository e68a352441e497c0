/* SPDX-License-Identifier: MIT */
#include "p2p/shared/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char p2p__process_letter(int pid)
{
    char path[40], line[400], letter = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fgets(line, sizeof line, file)) {
        const char *name_end = strrchr(line, ')'); /* the name may hold anything */
        if (name_end && name_end[1]) letter = name_end[2];
    }
    fclose(file);
    return letter;
}

uint64_t p2p__number_in(const char *path, const char *name, uint64_t otherwise)
{
    char line[200], *end;
    bool found = false;
    FILE *file = fopen(path, "re");
    if (!file) return otherwise;
    while (!found && fgets(line, sizeof line, file)) {
        size_t length = strlen(name);
        if (strncmp(line, name, length) != 0) continue;
        unsigned long long number = strtoull(line + length, &end, 10);
        found = end != line + length;
        if (found) otherwise = number;
    }
    fclose(file);
    return otherwise;
}
