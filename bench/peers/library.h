/* SPDX-License-Identifier: MIT */
/*
 * library: which MPI library a program runs with. The library itself is asked: MPICH and all that are made from it have the same
 * macros in mpi.h.
 */
#ifndef PAIRWISE_BENCH_PEERS_LIBRARY_H
#define PAIRWISE_BENCH_PEERS_LIBRARY_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name;                          /* one word */
    char version[32];                          /* digits and points, such as 4.1.4 */
    char text[MPI_MAX_LIBRARY_VERSION_STRING]; /* all that it says of itself */
} library;

/* Needs no MPI_Init. */
static inline library library_find(void)
{
    static const struct {
        const char *begins, *name;
    } known[] = {{"Open MPI v", "openmpi"},
                 {"Intel(R) MPI Library", "intelmpi"},
                 {"MPICH Version", "mpich"},
                 {"MVAPICH2 Version", "mvapich"},
                 {"MVAPICH Version", "mvapich"}};
    library l = {.name = "mpi"};
    int length = 0;

    MPI_Get_library_version(l.text, &length);
    const char *at = l.text;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(l.text, known[i].begins, strlen(known[i].begins)) == 0) {
            l.name = known[i].name;
            at += strlen(known[i].begins);
            break;
        }
    at += strcspn(at, "0123456789");
    snprintf(l.version, sizeof l.version, "%.*s", (int)strspn(at, "0123456789."), at);
    return l;
}

/* A line with name and version, and all that the library says behind it. */
static inline void library_print(void)
{
    library l = library_find();
    printf("%s %s\n%s\n", l.name, *l.version ? l.version : "-", l.text);
}

#endif
