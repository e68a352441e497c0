/* SPDX-License-Identifier: MIT */
/* recv_recv: both ranks receive first. */
// ranks: 2
// expect: deadlock
// report: deadlock/cycle [0,1]
// report: 0 waits MPI_Recv {receive} peer 1 tag 3 4 bytes for [1]
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line: receive
    MPI_Send(&x, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
