/* SPDX-License-Identifier: MIT */
/* buffers_same: one buffer to send and to receive. */
// ranks: 2
// expect: MPI_IN_PLACE
// report: buffer_conflict
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&x, &x, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
