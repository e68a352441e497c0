/* SPDX-License-Identifier: MIT */
/* request_garbage: a request that was never set. */
// ranks: 2
// expect: this is no request
// report: invalid_argument/request
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r = (MPI_Request)(void *)y;
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
