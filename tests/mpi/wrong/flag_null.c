/* SPDX-License-Identifier: MIT */
/* flag_null: MPI_Test has nowhere to put its answer. */
// ranks: 1
// expect: MPI_Test() at {test}: there is nowhere to put the answer: flag is NULL
// report: invalid_argument/other [0]
// report: 0 call MPI_Test {test}
#include <mpi.h>

int main(int argc, char **argv)
{
    int x = 0;
    MPI_Request r;
    MPI_Init(&argc, &argv);
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &r);
    MPI_Test(&r, NULL, MPI_STATUS_IGNORE); // line: test
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
