/* SPDX-License-Identifier: MIT */
/* any_source: MPI_ANY_SOURCE, MPI_Waitany, MPI_Waitsome, MPI_Iprobe and MPI_Mprobe, as the first argument says; rank 0 gets a
 * message of each other rank. Its orders are counted by tests/orders.c. exchange: each rank sends one to the next, which does not
 * know from whom; a barrier ends it (Hoefler, Siebert and Lumsdaine 2010). exchange_early: without the wait for receives that
 * this takes, which is wrong in some orders. */
// ranks: 3
#include <assert.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#undef NDEBUG

enum { MOST = 8 };

static int size, sum;

static void receive(void)
{
    int got;
    MPI_Status status;
    for (int i = 1; i < size; i++) {
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
        assert(got == status.MPI_SOURCE);
        sum += got;
    }
}

static void wait_for_any(int some)
{
    MPI_Request requests[MOST];
    int got[MOST], indices[MOST], done = 0, count;
    for (int i = 1; i < size; i++) MPI_Irecv(&got[i - 1], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[i - 1]);
    for (; done < size - 1; done += count) {
        count = 1;
        if (some)
            MPI_Waitsome(size - 1, requests, &count, indices, MPI_STATUSES_IGNORE);
        else
            MPI_Waitany(size - 1, requests, indices, MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++) sum += got[indices[i]];
    }
}

static void probe(void)
{
    MPI_Message message;
    MPI_Status status;
    int got;
    for (int i = 1; i < size; i++) {
        MPI_Mprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        sum += got;
    }
}

static void poll(void)
{
    int found = 0;
    while (!found) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    receive();
}

typedef int (*send_function)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void exchange(int rank, send_function send)
{
    MPI_Request sent, barrier;
    MPI_Status status;
    int got, found, done, ends = 0;
    send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, &sent);
    for (;;) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, &status);
        if (found) MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (found) sum += got;
        MPI_Test(ends ? &barrier : &sent, &done, MPI_STATUS_IGNORE);
        if (done && ends) return;
        if (done) MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        ends = ends || done;
    }
}

int main(int argc, char **argv)
{
    int rank;
    const char *how = argc > 1 ? argv[1] : "receive";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "exchange") == 0) exchange(rank, MPI_Issend);
    if (strcmp(how, "exchange_early") == 0) exchange(rank, MPI_Isend);
    if (rank > 0 && strncmp(how, "exchange", 8) != 0) MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    if (rank == 0 && strcmp(how, "receive") == 0) receive();
    if (rank == 0 && strcmp(how, "any") == 0) wait_for_any(0);
    if (rank == 0 && strcmp(how, "some") == 0) wait_for_any(1);
    if (rank == 0 && strcmp(how, "probe") == 0) probe();
    if (rank == 0 && strcmp(how, "poll") == 0) poll();
    if (rank == 0) printf("%d\n", sum);
    if (rank == 0 && strncmp(how, "exchange", 8) != 0) assert(sum == size * (size - 1) / 2);
    MPI_Finalize();
    return 0;
}
