/* SPDX-License-Identifier: MIT */
/* send_send_large: both ranks send more than is buffered. */
// ranks: 2
// expect: MPI_Send
// report: buffering
// report: 0 waits MPI_Send {send} peer 1
#include <mpi.h>

static double data[100000];

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Send(data, 100000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD); // line: send
    MPI_Recv(data, 100000, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
