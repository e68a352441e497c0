/* SPDX-License-Identifier: MIT */
// what: finds the memory it reports to, and writes over it
// expect: What rank 0 reported cannot be read: something wrote over it.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "exercises/exercises.h"

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[300];
    unsigned long from, to;

    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:reports") && sscanf(line, "%lx-%lx", &from, &to) == 2)
            memset((void *)from, 0xff, to - from);
    _exit(0);
}
