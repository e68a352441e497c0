/* SPDX-License-Identifier: MIT */
/* igatherv_types: a gather of any lengths that returns a request, whose types differ. */
// ranks: 2
// expect: elements of another type
// report: type_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, y[8] = {0}, counts[] = {1, 1}, places[] = {0, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Request r;
    MPI_Igatherv(&rank, 1, rank ? MPI_UNSIGNED : MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return y[0] > 1000000;
}
