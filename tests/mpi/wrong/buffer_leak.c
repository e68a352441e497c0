/* SPDX-License-Identifier: MIT */
/* buffer_leak: an attached buffer that is never detached. */
// ranks: 2
// status: 0
// expect: note: ranks 0-1: MPI_Finalize()
// expect: buffer never detached
// report: resource_leak/buffer
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static char room[1000];
    MPI_Buffer_attach(room, sizeof room);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
