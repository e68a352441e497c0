/* SPDX-License-Identifier: MIT */
/* race: had the message of rank 2 come first, the second receive would wait for ever. Here rank 2 is told by rank 1, whose
 * message is so long that MPI_Send waits until it is received; but no program may count on that. */
// ranks: 3
// expect: could have come first, and been taken by MPI_Recv of any source on line 18
// report: message_race
#include <mpi.h>

enum { N = 50000 };

int main(int argc, char **argv)
{
    static int x[N], y[N];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Recv(y, N, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(y, N, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (rank == 1) MPI_Send(x, N, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Send(x, 1, MPI_INT, 2, 5, MPI_COMM_WORLD);
    if (rank == 2) MPI_Recv(y, N, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 2) MPI_Send(x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return y[0] > 1000000;
}
