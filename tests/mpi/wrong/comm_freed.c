/* SPDX-License-Identifier: MIT */
/* comm_freed: a communicator that was freed. */
// ranks: 2
// expect: has been freed
// report: invalid_argument/communicator
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm c, copy;
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    copy = c;
    MPI_Comm_free(&c);
    MPI_Barrier(copy);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
