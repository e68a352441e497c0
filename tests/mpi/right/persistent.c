/* SPDX-License-Identifier: MIT */
/* persistent: persistent collectives, each started several times over other values, two at a time. */
// ranks: 4
#include <assert.h>
#include <mpi.h>

#undef NDEBUG
enum { MOST = 16, TIMES = 3 };

static int rank, size;

static void blocks(void)
{
    int root = size - 1, value, sum, mine;
    MPI_Request r[2];
    MPI_Bcast_init(&value, 1, MPI_INT, root, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Allreduce_init(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    for (int i = 0; i < TIMES; i++) {
        value = rank == root ? 10 + i : -1;
        mine = rank + i;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        assert(r[0] != MPI_REQUEST_NULL && value == 10 + i);
        assert(sum == size * (size - 1) / 2 + i * size);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    assert(r[0] == MPI_REQUEST_NULL);
}

/* The lists are the program's again once the request is made. */
static void lists(void)
{
    int out[MOST], in[MOST], gathered[MOST], counts[MOST], places[MOST], done;
    MPI_Request all, gather;
    for (int i = 0; i < size; i++) {
        counts[i] = 1;
        places[i] = size - 1 - i;
    }
    MPI_Alltoallv_init(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &all);
    if (rank)
        MPI_Gatherv_init(&rank, 1, MPI_INT, NULL, NULL, NULL, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &gather);
    else
        MPI_Gatherv_init(&rank, 1, MPI_INT, gathered, counts, places, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &gather);
    for (int i = 0; i < size; i++) counts[i] = places[i] = -1;
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < size; i++) out[size - 1 - i] = 100 * k + 10 * rank + i;
        MPI_Start(&all);
        MPI_Start(&gather);
        for (done = 0; !done;) MPI_Test(&all, &done, MPI_STATUS_IGNORE);
        MPI_Wait(&gather, MPI_STATUS_IGNORE);
        for (int i = 0; i < size; i++) assert(in[size - 1 - i] == 100 * k + 10 * i + rank);
        for (int i = 0; !rank && i < size; i++) assert(gathered[size - 1 - i] == i);
    }
    MPI_Request_free(&all);
    MPI_Request_free(&gather);
}

/* A request that is not started ends at once, before its first start too; and one that is never needed may be freed. */
static void inactive(void)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size, sent = -1, got, index, done;
    MPI_Request r[2];
    MPI_Status status;
    MPI_Send_init(&sent, 1, MPI_INT, to, 0, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&got, 1, MPI_INT, from, 0, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < TIMES; i++) {
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        MPI_Wait(&r[0], &status);
        assert(status.MPI_SOURCE == MPI_ANY_SOURCE && status.MPI_TAG == MPI_ANY_TAG);
        MPI_Waitany(2, r, &index, MPI_STATUS_IGNORE);
        assert(index == MPI_UNDEFINED);
        MPI_Testall(2, r, &done, MPI_STATUSES_IGNORE);
        assert(done && (i == 0 || got == 10 * from + i - 1));
        sent = 10 * rank + i;
        MPI_Startall(2, r);
    }
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    MPI_Recv_init(&got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Request_free(&r[0]);
}

/* Made in one order, started in another one on each rank. */
static void any_order(void)
{
    enum { SUMS = 3 };
    int mine[SUMS], sums[SUMS];
    MPI_Request r[SUMS];
    for (int k = 0; k < SUMS; k++)
        MPI_Allreduce_init(&mine[k], &sums[k], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &r[k]);
    for (int i = 0; i < TIMES; i++) {
        for (int k = 0; k < SUMS; k++) mine[k] = rank + 10 * k + i;
        for (int k = 0; k < SUMS; k++) MPI_Start(&r[(rank + k) % SUMS]);
        MPI_Waitall(SUMS, r, MPI_STATUSES_IGNORE);
        for (int k = 0; k < SUMS; k++) assert(sums[k] == size * (size - 1) / 2 + size * (10 * k + i));
    }
    for (int k = 0; k < SUMS; k++) MPI_Request_free(&r[k]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    assert(size <= MOST);
    blocks();
    lists();
    inactive();
    any_order();
    MPI_Request barrier;
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
    MPI_Start(&barrier);
    MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    MPI_Request_free(&barrier);
    MPI_Finalize();
    return 0;
}
