/* SPDX-License-Identifier: MIT */
/* group_null: no group. */
// ranks: 2
// expect: MPI_GROUP_NULL
// report: invalid_argument
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group_size(MPI_GROUP_NULL, &size);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
