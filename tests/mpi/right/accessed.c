/* SPDX-License-Identifier: MIT */
/* accessed: what a program may do with its memory while operations are pending. */
// ranks: 2
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, peer;

/* What is being sent may be read; what lies beside a buffer, or in the gaps of a type, is free. */
static void beside(void)
{
    int x[10] = {0}, y[10] = {0}, sum = 0;
    MPI_Datatype every_other;
    MPI_Request r[2];
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Irecv(x + 1, 1, every_other, peer, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(y, 4, MPI_INT, peer, 0, MPI_COMM_WORLD, &r[1]);
    x[0] = x[2] = x[4] = 7;
    x[9] = x[8] = x[2];
    for (int i = 0; i < 10; i++) sum += y[i];
    y[4] = sum;
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    x[1] = x[3] = y[0];
    assert(x[9] == 7 && !x[1]);
    MPI_Type_free(&every_other);
}

/* A persistent request has its buffer from its start to its end only; one that was freed is the program's own affair. */
static void between(void)
{
    int x = 0, y = 0;
    MPI_Request in, out;
    MPI_Recv_init(&x, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &in);
    for (int i = 0; i < 3; i++) {
        x = 100;
        MPI_Start(&in);
        y = i;
        MPI_Isend(&y, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &out);
        MPI_Wait(&in, MPI_STATUS_IGNORE);
        assert(x == i);
        MPI_Wait(&out, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&in);
    MPI_Isend(&y, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &out);
    MPI_Request_free(&out);
    MPI_Recv(&x, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    y = 5;
    assert(x == 2 && y == 5);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((long *)inout)[i] += ((long *)in)[i];
}

/* An operator of the program's works on the buffers. */
static void operators(void)
{
    enum { COUNT = 20000 };
    long *in = malloc(COUNT * sizeof *in), *out = malloc(COUNT * sizeof *out), seen = 0;
    MPI_Op op;
    MPI_Request r;
    assert(in && out);
    for (int i = 0; i < COUNT; i++) in[i] = i;
    MPI_Op_create(add, 1, &op);
    MPI_Iallreduce(in, out, COUNT, MPI_LONG, op, MPI_COMM_WORLD, &r);
    for (int i = 0; i < COUNT; i++) seen += in[i];
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(out[COUNT - 1] == 2 * (COUNT - 1) && seen > 0);
    MPI_Op_free(&op);
    free(in);
    free(out);
}

/* The C library may read what is being sent, and do what it likes with what lies beside a buffer. */
static void library(void)
{
    char in[64] = "", out[64] = "text";
    FILE *file = fopen("/dev/null", "w");
    MPI_Request r[2];
    assert(file);
    MPI_Irecv(in, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(out, 32, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &r[1]);
    memcpy(in + 32, out, strlen(out) + 1);
    memset(out + 32, 1, 32);
    int printed = fprintf(file, "%Lg %5.1f %*d %s %p %lld %c %.*s %zu%%", 1.5L, 2.5, 4, 3, in + 32, (void *)in, 1LL,
                          'c', 2, out, sizeof in);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    fprintf(file, "%s", in);
    assert(printed > 20 && strcmp(in, out) == 0 && memcmp(in + 32, in, 5) == 0);
    fclose(file);
}

/* A process that is forked has a copy of its own. */
static void forked(void)
{
    int in = 0, out = rank, status = -1;
    MPI_Request r;
    MPI_Irecv(&in, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &r);
    pid_t child = fork();
    if (child == 0) {
        in = 7;
        _exit(in - 7);
    }
    waitpid(child, &status, 0);
    MPI_Send(&out, 1, MPI_INT, peer, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(status == 0 && in == peer);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    peer = 1 - rank;
    beside();
    between();
    operators();
    library();
    forked();
    MPI_Finalize();
    return 0;
}
