/* SPDX-License-Identifier: MIT */
/* unmapped: the memory of a send goes back to the system before it has ended, in a way that mpicc does not see. */
// ranks: 2
// expect: : the memory of a send that is under way, from line
// expect: is not there any more (16777216 bytes): was it freed?
// expect: try: MPI_Wait before it is freed, moved, or goes out of scope
// report: buffer_conflict [0]
// report: 0 pending MPI_Isend {isend}
#include <mpi.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 16 << 20 };

int main(int argc, char **argv)
{
    static char x[BYTES];
    int rank;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        char *gone = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        MPI_Isend(gone, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r); // line: isend
        munmap(gone, BYTES);
        MPI_Send(x, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(x, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(x, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
