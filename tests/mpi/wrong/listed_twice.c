/* SPDX-License-Identifier: MIT */
/* listed_twice: a list of requests has the same one twice. */
// ranks: 2
// expect: stands in it twice
// report: request_state [0]
// report: 0 call MPI_Waitall {wait}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x = 0;
    MPI_Request r[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Isend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &r[0]);
        r[1] = r[0];
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE); // line: wait
    } else {
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
