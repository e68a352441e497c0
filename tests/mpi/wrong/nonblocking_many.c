/* SPDX-License-Identifier: MIT */
/* nonblocking_many: of thirty collectives under way one is another on rank 1. */
// ranks: 3
// expect: MPI_Iallreduce #16
// expect: MPI_Ibarrier #16
// report: collective_mismatch
#include <mpi.h>

enum { MANY = 30 };

int main(int argc, char **argv)
{
    int rank, in[MANY], out[MANY];
    MPI_Request r[MANY];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < MANY; i++) {
        in[i] = i;
        if (rank == 1 && i == MANY / 2)
            MPI_Ibarrier(MPI_COMM_WORLD, &r[i]);
        else
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &r[i]);
    }
    MPI_Waitall(MANY, r, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
