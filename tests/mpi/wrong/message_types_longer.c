/* SPDX-License-Identifier: MIT */
/* message_types_longer: doubles are received as as many integers: they do not fit, but their type is the mistake. */
// ranks: 2
// expect: is of another type than its receive (MPI_DOUBLE was sent, MPI_INT is received)
// reject: larger buffer
// report: type_mismatch [0,1]
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, y[4] = {0};
    double x[4] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(x, 4, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(y, 4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y[0];
}
