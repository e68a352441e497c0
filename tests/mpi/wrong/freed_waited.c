/* SPDX-License-Identifier: MIT */
/* freed_waited: a request that has been freed is waited for, by a copy of its handle. */
// ranks: 2
// expect: or been freed
// report: request_state [0]
// report: 0 call MPI_Wait {wait}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 0;
    MPI_Request r, copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r);
        copy = r;
        MPI_Request_free(&r);
        MPI_Wait(&copy, MPI_STATUS_IGNORE); // line: wait
    } else {
        MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
