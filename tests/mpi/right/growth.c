/* SPDX-License-Identifier: MIT */
/* growth: what goes on without a handle is given back when it has ended, and what many operations share is made once. */
// ranks: 2
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
enum { COMMS = 4200, PENDING = 200, WAITED = 20000, STEPS = 3000, LENGTH = 1000 };

static int rank;

/* Pages of this process, in bytes; 0 where a checker of memory keeps what has been freed. */
static long resident(void)
{
    long pages = 0;
    const char *loaded = getenv("LD_PRELOAD");
#ifdef __SANITIZE_ADDRESS__
    loaded = "vgpreload";
#endif
    if (loaded && strstr(loaded, "vgpreload")) return 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert(file && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * 4096;
}

/* More communicators than there can be at once, each of which a send without a handle has used. */
static void communicators(void)
{
    static char room[1 << 20];
    int out = 5, in, size;
    void *at;
    MPI_Buffer_attach(room, sizeof room);
    for (int i = 0; i < COMMS; i++) {
        MPI_Comm c;
        MPI_Request r;
        MPI_Comm_dup(MPI_COMM_WORLD, &c);
        if (i % 3 == 0) MPI_Bsend(&out, 1, MPI_INT, 1 - rank, 0, c);
        if (i % 3 == 1) MPI_Isend(&out, 1, MPI_INT, 1 - rank, 0, c, &r);
        if (i % 3 == 1) MPI_Request_free(&r);
        if (i % 3 < 2) MPI_Recv(&in, 1, MPI_INT, 1 - rank, 0, c, MPI_STATUS_IGNORE);
        if (i % 3 == 2) MPI_Isendrecv(&out, 1, MPI_INT, 1 - rank, 0, &in, 1, MPI_INT, 1 - rank, 0, c, &r);
        if (i % 3 == 2) MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Comm_free(&c);
    }
    MPI_Buffer_detach(&at, &size);
}

/* Sends without an end: buffered, of copies, and whose requests are freed. */
static void messages(void)
{
    static char out[LENGTH], in[LENGTH], other[LENGTH];
    long before = 0;
    int size;
    void *at;
    MPI_Request r;
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    for (int i = 0; i < STEPS; i++) {
        if (i == STEPS / 3) before = resident();
        MPI_Bsend(out, LENGTH, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD);
        MPI_Isend(out, LENGTH, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &r);
        MPI_Request_free(&r);
        MPI_Isendrecv(out, LENGTH, MPI_CHAR, 1 - rank, 1, in, LENGTH, MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, &r);
        for (int k = 0; k < 2; k++) MPI_Recv(other, LENGTH, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    }
    assert(resident() - before < STEPS / 3 * LENGTH); /* two thirds of the steps, and three messages in each */
    MPI_Buffer_detach(&at, &size);
}

static void reductions(void)
{
    static unsigned in[PENDING], out[PENDING];
    static MPI_Request r[PENDING];
    for (int i = 0; i < PENDING; i++) {
        in[i] = (unsigned)(i + rank);
        MPI_Iallreduce(&in[i], &out[i], 1, MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Waitall(PENDING, r, MPI_STATUSES_IGNORE);
    for (unsigned i = 0; i < PENDING; i++) assert(out[i] == 2 * i + 1);
}

static void requests(void)
{
    static int in[WAITED], out[WAITED];
    static MPI_Request r[2 * WAITED];
    for (int i = 0; i < WAITED; i++) {
        out[i] = i;
        MPI_Irecv(&in[i], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r[i]);
        MPI_Isend(&out[i], 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r[WAITED + i]);
    }
    MPI_Waitall(2 * WAITED, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < WAITED; i++) assert(in[i] == i);
}

/* Over 4,096 calls whose lines no macro has noted. */
#define CALL PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
#define EIGHT(X) X X X X X X X X
static void lines(void)
{
    EIGHT(EIGHT(EIGHT(EIGHT(CALL))))
    EIGHT(EIGHT(CALL))
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    communicators();
    messages();
    reductions();
    requests();
    lines();
    MPI_Finalize();
    return 0;
}
