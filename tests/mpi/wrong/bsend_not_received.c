/* SPDX-License-Identifier: MIT */
/* bsend_not_received: the buffer cannot be given back, for nobody takes the message that is in it. */
// ranks: 2
// options: --strict
// expect: rank 0 waits in MPI_Buffer_detach() at {detach} for rank 1
// expect: send to 1, tag 7, 4 bytes, posted on line 20
// expect: is a receive missing, or a send too many?
// report: deadlock/finished [0]
// report: 0 waits MPI_Buffer_detach {detach}
#include <mpi.h>

int main(int argc, char **argv)
{
    static char room[1000 + MPI_BSEND_OVERHEAD];
    int rank, x = 0, size = sizeof room;
    void *at = room;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Buffer_attach(room, size);
    if (rank == 0) MPI_Bsend(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Buffer_detach(&at, &size); // line: detach
    MPI_Finalize();
    return x;
}
