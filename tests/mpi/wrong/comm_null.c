/* SPDX-License-Identifier: MIT */
/* comm_null: no communicator. */
// ranks: 2
// expect: MPI_COMM_NULL
// report: invalid_argument/communicator
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_NULL);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
