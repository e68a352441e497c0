/* SPDX-License-Identifier: MIT */
// what: finds the memory it reports to, and says the first thing once more
// expect: What rank 0 reported cannot be read: something wrote over it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exercises/exercises.h"
#include "tests/exercises/check_internal.h"

static void say_again(char *area)
{
    check_head *head = (check_head *)area;
    check_record *first = (check_record *)(head + 1);
    size_t bytes = check_record_size(first->bytes);

    memcpy((char *)first + head->used, first, bytes);
    head->used += bytes;
}

p2p_err my_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    (void)comm, (void)buf, (void)count, (void)dtype, (void)root;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[300];
    unsigned long from, to;

    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:reports") && sscanf(line, "%lx-%lx", &from, &to) == 2) say_again((char *)from);
    exit(0);
}
