/* SPDX-License-Identifier: MIT */
/* bcast_overlaps: a broadcast into a buffer that a receive has. */
// ranks: 2
// expect: overlaps that of a receive
// report: buffer_conflict
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request r;
    MPI_Irecv(x, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r);
    MPI_Bcast(x + 2, 4, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Send(y, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x[0] > 1000000;
}
