/* SPDX-License-Identifier: MIT */
/* never_started: a persistent request is waited for, but is never started. */
// ranks: 2
// expect: has never been started
// report: request_state [0]
// report: 0 call MPI_Request_free {free}
// report: 0 other MPI_Send_init {made}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); // line: made
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Request_free(&r); // line: free
    }
    MPI_Finalize();
    return 0;
}
