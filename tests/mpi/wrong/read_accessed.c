/* SPDX-License-Identifier: MIT */
/* read_accessed: a buffer is read while it is being received into. */
// ranks: 2
// expect: rank 0: read() at {read}: the program reads the buffer that MPI_Irecv at
// report: buffer_conflict [0]
// report: 0 call read {read}
// report: 0 other MPI_Irecv {irecv}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x[4] = {0};
    volatile int seen = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(x, 4, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); // line: irecv
        seen = x[2];                                        // line: read
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(x, 4, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    (void)seen;
    MPI_Finalize();
    return 0;
}
