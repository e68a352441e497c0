/* SPDX-License-Identifier: MIT */
/* race_lengths: had the longer message come first, it would not have fitted. Rank 2 is told by rank 1, as in race.c. */
// ranks: 3
// expect: taken by MPI_Recv of any source on line 18, which it does not fit
// report: message_race
#include <mpi.h>

enum { N = 50000 };

int main(int argc, char **argv)
{
    static int x[N + 1], y[N + 1];
    int rank;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(y, N, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        MPI_Recv(y, N + 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    }
    if (rank == 1) MPI_Send(x, N, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Send(x, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(y, N, MPI_INT, 1, 5, MPI_COMM_WORLD, &status);
    if (rank == 2) MPI_Send(x, N + 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return y[0] > 1000000;
}
