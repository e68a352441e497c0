/* SPDX-License-Identifier: MIT */
/* request_overwritten: of many receives into one buffer only the last is waited for. */
// ranks: 2
// expect: takes the place of that of the MPI_Irecv before, from the same line
// report: request_leak
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 3; i++) {
        if (rank == 0)
            MPI_Irecv(&x, 1, MPI_INT, 1, i, MPI_COMM_WORLD, &r);
        else
            MPI_Send(&rank, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    }
    if (rank == 0) MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x > 1000000;
}
