/* SPDX-License-Identifier: MIT */
/* ssend_ssend: synchronous sends to each other, which no buffering would help. */
// ranks: 2
// expect: deadlock
// report: deadlock/cycle [0,1]
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Ssend(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
