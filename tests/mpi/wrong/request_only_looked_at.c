/* SPDX-License-Identifier: MIT */
/* request_only_looked_at: MPI_Request_get_status says that it is done, and leaves it to be waited for. */
// ranks: 2
// expect: 1 request never waited for: MPI_Isend from {send}
// report: request_leak [0]
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, x = 0, done = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); // line: send
        while (!done) MPI_Request_get_status(r, &done, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return x;
}
