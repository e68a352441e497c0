/* SPDX-License-Identifier: MIT */
/* root_too_large: a root that does not exist. */
// ranks: 2
// expect: root 2 is not a rank
// report: invalid_argument/root
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bcast(&x, 1, MPI_INT, size, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
