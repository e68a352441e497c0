/* SPDX-License-Identifier: MIT */
/* taken_not_received: a message that a probe has taken, and nothing receives. */
// ranks: 2
// expect: which MPI_Mprobe took on line 15, was never received
// report: lost_message
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x[8] = {0}, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Message message;
    if (rank == 0)
        MPI_Mprobe(1, 0, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    else
        MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x[0] + y[0] > 1000000;
}
