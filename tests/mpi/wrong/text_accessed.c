/* SPDX-License-Identifier: MIT */
/* text_accessed: a text is printed while it is being received into. */
// ranks: 2
// expect: rank 0: read() at {read}: the program reads the buffer that MPI_Irecv at
// report: buffer_conflict [0]
// report: 0 call read {read}
// report: 0 other MPI_Irecv {irecv}
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;
    char text[8] = "before";
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(text, 8, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r); // line: irecv
        printf("%g %d %s\n", 0.5, rank, text);                  // line: read
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Send(text, 8, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
