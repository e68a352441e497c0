/* SPDX-License-Identifier: MIT */
/* bsend_without_room: a buffered send without a buffer. */
// ranks: 2
// expect: has no room
// report: invalid_argument/buffer
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Bsend(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
