/* SPDX-License-Identifier: MIT */
/* gaps_accessed: an element of a type with gaps is written to while it is being sent; the gaps may be. */
// ranks: 2
// expect: write() at {write}
// report: buffer_conflict
// report: 0 call write {write}
// report: 0 other MPI_Isend {isend}
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    int x[8] = {0}, y[8];
    MPI_Datatype every_other;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Isend(x, 1, every_other, 1 - rank, 0, MPI_COMM_WORLD, &r); // line: isend
    x[3] = 1;
    if (rank == 0) x[4] = x[2]; // line: write
    MPI_Recv(y, 4, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Type_free(&every_other);
    MPI_Finalize();
    return 0;
}
