/* SPDX-License-Identifier: MIT */
/* heap_accessed: what is right with memory of the heap: blocks that are used to their last byte, parts of blocks, a type
 * whose elements lie in several blocks, memory that is freed and moved where no operation has it. */
// ranks: 2
#undef NDEBUG
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

enum { N = 37 };

static void to_the_last_byte(int peer)
{
    char *a = malloc(N), *b = malloc(N), *other = malloc(N);
    MPI_Request r[2];
    memset(a, 7, N);
    MPI_Irecv(b, N, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(a, N, MPI_CHAR, peer, 0, MPI_COMM_WORLD, &r[1]);
    free(other);
    other = realloc(malloc(10), 100000);
    free(other);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    assert(b[N - 1] == 7);
    MPI_Sendrecv_replace(b + 30, 7, MPI_CHAR, peer, 0, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    free(a);
    b = realloc(b, 2 * N);
    free(b);
}

/* A column of a matrix: the last element has no gap behind it. */
static void column(int peer)
{
    MPI_Datatype type;
    double *a = calloc(4 * 5, sizeof *a), *b = calloc(4 * 5, sizeof *b);
    for (int i = 0; i < 20; i++) a[i] = i;
    MPI_Type_vector(4, 1, 5, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(a + 4, 1, type, peer, 1, b + 4, 1, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(b[19] == 19 && b[18] == 0);
    MPI_Type_free(&type);
    free(a);
    free(b);
}

static void several_blocks(int peer)
{
    int *a[2] = {malloc(sizeof(int)), malloc(3 * sizeof(int))}, b[4] = {0};
    int lengths[2] = {1, 3};
    MPI_Aint places[2];
    MPI_Datatype types[2] = {MPI_INT, MPI_INT}, type;
    for (int i = 0; i < 2; i++) MPI_Get_address(a[i], &places[i]);
    for (int i = 0; i < 4; i++) *(i ? &a[1][i - 1] : a[0]) = i + 1;
    MPI_Type_create_struct(2, lengths, places, types, &type);
    MPI_Type_commit(&type);
    MPI_Sendrecv(MPI_BOTTOM, 1, type, peer, 2, b, 4, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(b[0] == 1 && b[3] == 4);
    MPI_Type_free(&type);
    free(a[0]);
    free(a[1]);
}

static void blocks_of_lengths(int rank)
{
    int counts[2] = {1, 2}, places[2] = {2, 0}, *all = malloc(3 * sizeof *all), mine[2] = {rank, rank + 10};
    MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD);
    assert(all[2] == 0 && all[0] == 1 && all[1] == 11);
    free(all);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    to_the_last_byte(1 - rank);
    column(1 - rank);
    several_blocks(1 - rank);
    blocks_of_lengths(rank);
    MPI_Finalize();
    return 0;
}
