/* SPDX-License-Identifier: MIT */
/* send_of_pending_receive: a buffer is sent while a receive has it. */
// ranks: 2
// expect: overlaps that of a receive
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r;
    MPI_Irecv(y, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r);
    MPI_Send(y, 4, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
