/* SPDX-License-Identifier: MIT */
/* orders_accessed: receives from any source that are right in every order, each for another reason. */
// ranks: 3
#include <mpi.h>

static int rank, x = 1, y;

static void from(int source, int tag)
{
    MPI_Recv(&y, 1, MPI_INT, source, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void to(int dest, int tag)
{
    MPI_Send(&x, 1, MPI_INT, dest, tag, MPI_COMM_WORLD);
}

/* Each worker's first message comes to a receive from any source. */
static void all_alike(void)
{
    if (rank) to(0, 0);
    for (int i = 1; i < 3 && !rank; i++) from(MPI_ANY_SOURCE, 0);
}

static void other_tags(void)
{
    if (rank == 0) from(MPI_ANY_SOURCE, 1), from(2, 2);
    if (rank) to(0, rank);
}

/* Rank 2 sends when it is told to. */
static void asked(void)
{
    if (rank == 0) from(MPI_ANY_SOURCE, 0), to(2, 0), from(2, 0);
    if (rank == 1) to(0, 0);
    if (rank == 2) from(0, 0), to(0, 0);
}

static void after_barrier(void)
{
    if (rank == 0) from(MPI_ANY_SOURCE, 0);
    if (rank == 1) to(0, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) from(2, 0);
    if (rank == 2) to(0, 0);
}

/* The other one is waited for, whoever came first. */
static void looked_at(void)
{
    MPI_Status status;
    if (rank) to(0, 0);
    if (rank) return;
    MPI_Recv(&y, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    from(3 - status.MPI_SOURCE, 0);
}

/* The message of rank 2 is sent only once that of rank 1 has been received. */
static void chain(void)
{
    if (rank == 0) from(MPI_ANY_SOURCE, 0), from(2, 0);
    if (rank == 1) MPI_Ssend(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD), to(2, 0);
    if (rank == 2) from(1, 0), to(0, 0);
}

/* The receive from rank 2 was there before. */
static void posted_before(void)
{
    int z = 0;
    MPI_Request r;
    if (rank == 0) {
        MPI_Irecv(&z, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &r);
        to(1, 9);
        to(2, 9);
        from(MPI_ANY_SOURCE, 0);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
    } else {
        from(0, 9);
        to(0, 0);
    }
}

int main(int argc, char **argv)
{
    static void (*const all[])(void) = {all_alike, other_tags, asked, after_barrier, looked_at, chain, posted_before};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        all[i]();
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
