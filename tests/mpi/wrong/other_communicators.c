/* SPDX-License-Identifier: MIT */
/* other_communicators: two barriers on two communicators, in another order on each rank. */
// ranks: 2
// expect: different communicators
// report: communicator_mismatch
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm twin;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Barrier(rank ? twin : MPI_COMM_WORLD);
    MPI_Barrier(rank ? MPI_COMM_WORLD : twin);
    MPI_Comm_free(&twin);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
