/* SPDX-License-Identifier: MIT */
/* short_accessed: a matrix of rows that were allocated one by one is received as one buffer. */
// ranks: 2
// expect: rank 1: MPI_Recv(source 0, tag 0) at {recv}: 256 bytes are received into this buffer (32 x MPI_DOUBLE), but
// expect: the memory that was allocated has 64 from there on
// report: invalid_argument/buffer [1]
// report: 1 call MPI_Recv {recv} peer 0
#include <mpi.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 8 };

int main(int argc, char **argv)
{
    double *row[ROWS], whole[ROWS][COLUMNS] = {{0}};
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < ROWS; i++) row[i] = malloc(COLUMNS * sizeof *row[i]);
    if (rank == 0) MPI_Send(whole, ROWS * COLUMNS, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(row[0], ROWS * COLUMNS, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line: recv
    MPI_Finalize();
    for (int i = 0; i < ROWS; i++) free(row[i]);
    return 0;
}
