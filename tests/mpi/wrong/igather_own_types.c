/* SPDX-License-Identifier: MIT */
/* igather_own_types: the root sends floats to itself, and receives them as integers. */
// ranks: 2
// expect: this rank sends MPI_FLOAT to itself, and receives MPI_INT
// report: type_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int y[4] = {0};
    float x[2] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Igather(x, 2, MPI_FLOAT, y, 2, MPI_INT, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y[0];
}
