/* SPDX-License-Identifier: MIT */
/* matched_written: the message has been announced before its receive, and is on its way when the buffer is written to. */
// ranks: 2
// options: --strict --world socket
// expect: the buffer of the receive from line 18 was written to
// report: buffer_conflict
#include <mpi.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, x[100] = {0};
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Probe(1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(x, 100, MPI_INT, 1, 0, MPI_COMM_WORLD, &r);
        memset(x, 1, 4);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(x, 100, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return x[0] > 1000000;
}
