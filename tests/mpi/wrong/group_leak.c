/* SPDX-License-Identifier: MIT */
/* group_leak: a group that is never freed. */
// ranks: 2
// status: 0
// expect: note: ranks 0-1: MPI_Finalize()
// expect: group never freed
// report: resource_leak/group
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Group g;
    MPI_Comm_group(MPI_COMM_WORLD, &g);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
