/* SPDX-License-Identifier: MIT */
/* messages: every kind of send and receive, probes, statuses, wildcards; right in strict mode as well. */
// ranks: 3
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#undef NDEBUG
#define N 20000

static int rank, size, right, left;

static void blocking(void)
{
    double out[N], in[N];
    MPI_Status status;
    int count;
    for (int n = 0; n <= N; n = n ? n * 10 : 1) {
        for (int i = 0; i < n; i++) out[i] = rank * 1000.0 + i;
        if (rank == 0) {
            MPI_Send(out, n, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
            MPI_Recv(in, N, MPI_DOUBLE, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        } else {
            MPI_Recv(in, N, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &status);
            MPI_Ssend(out, n, MPI_DOUBLE, right, 7, MPI_COMM_WORLD);
        }
        assert(status.MPI_SOURCE == left && status.MPI_TAG == 7);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        assert(count == n);
        for (int i = 0; i < n; i++) assert(in[i] == left * 1000.0 + i);
    }
}

static void null_process(void)
{
    int x = 5;
    MPI_Status status;
    MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    assert(status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG && x == 5);
    MPI_Test_cancelled(&status, &x);
    assert(!x);
}

static void exchanges(void)
{
    int out = rank, in = -1, both = rank;
    MPI_Status status;
    MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status);
    assert(in == left && status.MPI_SOURCE == left);
    MPI_Sendrecv_replace(&both, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(both == left);
    MPI_Sendrecv(&out, 1, MPI_INT, MPI_PROC_NULL, 1, &in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    assert(in == left && status.MPI_SOURCE == MPI_PROC_NULL);
}

static void requests(void)
{
    MPI_Request r[4] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status statuses[4];
    int out[2] = {rank, rank + 100}, in[2] = {-1, -1}, flag = 0, index, count, indices[4];
    MPI_Irecv(&in[0], 1, MPI_INT, left, 3, MPI_COMM_WORLD, &r[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 3, MPI_COMM_WORLD, &r[2]);
    MPI_Issend(&out[1], 1, MPI_INT, right, 4, MPI_COMM_WORLD, &r[3]);
    MPI_Waitall(4, r, statuses);
    assert(in[0] == left && in[1] == left + 100 && statuses[1].MPI_SOURCE == left);
    for (int i = 0; i < 4; i++) assert(r[i] == MPI_REQUEST_NULL);

    MPI_Irecv(&in[0], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 5, MPI_COMM_WORLD, &r[1]);
    while (!flag) MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE);
    MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE);
    assert(index == 1);
    MPI_Waitany(4, r, &index, MPI_STATUS_IGNORE);
    assert(index == MPI_UNDEFINED);

    MPI_Irecv(&in[0], 1, MPI_INT, left, 5, MPI_COMM_WORLD, &r[3]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 5, MPI_COMM_WORLD, &r[2]);
    for (int done = 0; done < 2; done += count) MPI_Waitsome(4, r, &count, indices, MPI_STATUSES_IGNORE);
    MPI_Waitsome(4, r, &count, indices, MPI_STATUSES_IGNORE);
    assert(count == MPI_UNDEFINED);

    MPI_Irecv(&in[0], 1, MPI_INT, left, 6, MPI_COMM_WORLD, &r[0]);
    MPI_Isend(&out[0], 1, MPI_INT, right, 6, MPI_COMM_WORLD, &r[1]);
    for (flag = 0; !flag;) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    MPI_Irecv(&in[0], 1, MPI_INT, left, 99, MPI_COMM_WORLD, &r[0]);
    MPI_Cancel(&r[0]);
    MPI_Wait(&r[0], &statuses[0]);
    MPI_Test_cancelled(&statuses[0], &flag);
    assert(flag);
}

static void persistent(void)
{
    MPI_Request r[2];
    int out, in;
    MPI_Send_init(&out, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(&in, 1, MPI_INT, left, 8, MPI_COMM_WORLD, &r[1]);
    for (int i = 0; i < 5; i++) {
        out = rank * 10 + i;
        MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        assert(in == left * 10 + i && r[0] != MPI_REQUEST_NULL);
    }
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
}

static void buffered(void)
{
    int out = rank, in, bytes = 10 * (int)sizeof out + 10 * MPI_BSEND_OVERHEAD;
    void *room = malloc((size_t)bytes), *back;
    MPI_Buffer_attach(room, bytes);
    for (int i = 0; i < 5; i++) MPI_Bsend(&out, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
    for (int i = 0; i < 5; i++) MPI_Recv(&in, 1, MPI_INT, left, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    assert(in == left);
    MPI_Buffer_detach(&back, &bytes);
    assert(back == room);
    free(room);
}

static void probes(void)
{
    int out[3] = {1, 2, 3}, in[3], flag, count;
    MPI_Request r;
    MPI_Status status;
    MPI_Message message;
    MPI_Isend(out, 3, MPI_INT, right, 10, MPI_COMM_WORLD, &r);
    MPI_Probe(MPI_ANY_SOURCE, 10, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    assert(count == 3 && status.MPI_SOURCE == left);
    MPI_Iprobe(left, 11, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    assert(!flag);
    MPI_Recv(in, count, MPI_INT, left, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(out, 3, MPI_INT, right, 10, MPI_COMM_WORLD, &r);
    MPI_Mprobe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    memset(in, 0, sizeof in);
    MPI_Mrecv(in, 3, MPI_INT, &message, &status);
    assert(message == MPI_MESSAGE_NULL && in[2] == 3);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Isend(out, 3, MPI_INT, right, 12, MPI_COMM_WORLD, &r);
    for (flag = 0; !flag;) MPI_Improbe(left, 12, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    MPI_Request q;
    MPI_Imrecv(in, 3, MPI_INT, &message, &q);
    MPI_Wait(&q, &status);
    assert(status.MPI_TAG == 12);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void to_oneself(void)
{
    MPI_Request r;
    static int out = 42; /* sent until MPI_Finalize */
    int in = 0;
    MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &r);
    MPI_Recv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    assert(in == 42);
    MPI_Isend(&out, 1, MPI_INT, right, 77, MPI_COMM_WORLD, &r);
    MPI_Request_free(&r);
    MPI_Recv(&in, 1, MPI_INT, left, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int flag;
    char name[MPI_MAX_PROCESSOR_NAME], text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Initialized(&flag);
    assert(!flag);
    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    assert(flag);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(name, &flag);
    MPI_Get_library_version(text, &flag);
    assert(flag > 0 && MPI_Wtime() > 0);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    blocking();
    null_process();
    exchanges();
    requests();
    persistent();
    buffered();
    probes();
    to_oneself();
    MPI_Finalize();
    MPI_Finalized(&flag);
    assert(flag);
    return 0;
}
