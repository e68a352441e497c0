/* SPDX-License-Identifier: MIT */
/* address_in_int: an address has gone through an int, so the receive gets one where there is no memory. */
// ranks: 2
// environment: ASAN_OPTIONS=handle_segv=0:handle_sigbus=0
// expect: rank 1: MPI_Recv(source 0, tag 0) at {recv}: the buffer at 0x7d0 (2000 bytes) is no memory that this program may use so
// report: invalid_argument/buffer [1]
// report: 1 call MPI_Recv {recv} peer 0
#include <mpi.h>
#include <stdint.h>

int main(int argc, char **argv)
{
    int rank, x[500] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Send(x, 500, MPI_INT, 1, 0, MPI_COMM_WORLD);
    volatile intptr_t place = 2000;
    if (rank == 1) MPI_Recv((void *)place, 500, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line: recv
    MPI_Finalize();
    return 0;
}
