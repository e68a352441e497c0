/* SPDX-License-Identifier: MIT */
/* freed_accessed: memory is freed while a send has it. */
// ranks: 2
// expect: rank 0: free() at {free}: the program frees the memory that MPI_Isend at
// expect: try: MPI_Wait for its request before the buffer is freed, or goes out of scope
// report: buffer_conflict [0]
// report: 0 call free {free}
// report: 0 other MPI_Isend {isend}
#include <mpi.h>
#include <stdlib.h>

enum { N = 100000 };

int main(int argc, char **argv)
{
    int rank, *x = calloc(N, sizeof *x);
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(x, N, MPI_INT, 1, 0, MPI_COMM_WORLD, &r); // line: isend
        free(x);                                            // line: free
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(x, N, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
