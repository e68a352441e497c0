/* SPDX-License-Identifier: MIT */
/* persistent_types: a persistent exchange of any lengths, whose types differ. */
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
    MPI_Datatype type = rank ? MPI_FLOAT : MPI_INT;
    int x[2] = {0};
    MPI_Alltoallv_init(x, counts, places, type, y, counts, places, type, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    MPI_Finalize();
    return y[0] > 1000000;
}
