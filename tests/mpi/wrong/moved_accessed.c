/* SPDX-License-Identifier: MIT */
/* moved_accessed: memory is given to realloc while a receive has a part of it. */
// ranks: 2
// expect: rank 1: realloc() at {realloc}: the program frees the memory that MPI_Irecv at
// report: buffer_conflict [1]
// report: 1 call realloc {realloc}
// report: 1 other MPI_Irecv {irecv}
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, *x = calloc(10, sizeof *x);
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) {
        MPI_Irecv(x + 5, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, &r); // line: irecv
        x = realloc(x, 1000);                                   // line: realloc
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(x, 2, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
    free(x);
    MPI_Finalize();
    return 0;
}
