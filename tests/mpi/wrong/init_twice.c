/* SPDX-License-Identifier: MIT */
/* init_twice: MPI_Init is called twice. */
// ranks: 2
// expect: initialized already
// report: call_order
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Init(&argc, &argv);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
