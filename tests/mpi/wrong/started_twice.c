/* SPDX-License-Identifier: MIT */
/* started_twice: a persistent request that is started twice. */
// ranks: 2
// expect: has been started already
// report: request_state
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size, x = 0, y[8] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Request r;
    MPI_Recv_init(y, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &r);
    MPI_Start(&r);
    MPI_Start(&r);
    MPI_Finalize();
    return x + y[0] > 1000000;
}
