/* SPDX-License-Identifier: MIT */
/* by_pointer: functions that are called through pointers, so that no macro notes the line; -g does. */
// ranks: 2
// expect: deadlock
// report: deadlock/cycle [0,1]
// report: 0 waits MPI_Recv {receive} peer 1 tag 3 4 bytes for [1]
#include <mpi.h>

typedef int (*receiver)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);

int main(int argc, char **argv)
{
    int rank, x;
    const receiver receive = MPI_Recv;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    receive(&x, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line: receive
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
