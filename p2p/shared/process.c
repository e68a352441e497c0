/* SPDX-License-Identifier: MIT */
#include "p2p/shared/process.h"

#include <stdio.h>
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

void p2p__process_words(char letter, char *text, size_t bytes)
{
    static const struct {
        char letter;
        const char *name;
    } names[] = {
        {'R', "running"}, {'S', "sleeping"}, {'D', "in the kernel"}, {'T', "stopped"}, {'t', "stopped by a debugger"},
        {'Z', "ended"}};
    const char *name = "unknown";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].letter == letter) name = names[i].name;
    if (letter)
        snprintf(text, bytes, "state %c (%s)", letter, name);
    else
        snprintf(text, bytes, "gone");
}

void p2p__process_state(int pid, char *text, size_t bytes)
{
    p2p__process_words(p2p__process_letter(pid), text, bytes);
}

uint64_t p2p__oom_kills(void)
{
    char line[200];
    unsigned long long kills = 0;
    FILE *file = fopen("/proc/vmstat", "re");
    if (!file) return 0;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "oom_kill %llu", &kills) == 1) break;
    fclose(file);
    return kills;
}
