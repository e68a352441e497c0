/* SPDX-License-Identifier: MIT */
/* timed_out: a request whose wait has timed out goes on, keeps what it uses, and can be waited for again. */
// ranks: 2
// environment: PAIRWISE_TIMEOUT=0.1
#include <assert.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef NDEBUG
enum { N = 4 };

static int rank;

static void use_memory(void)
{
    void *all[64];
    for (int i = 0; i < 64; i++) memset(all[i] = malloc(16 + 8 * i), 0x41, 16 + 8 * i);
    for (int i = 0; i < 64; i++) free(all[i]);
}

/* However long the other rank takes. */
static void insist(MPI_Request request)
{
    while (MPI_Wait(&request, MPI_STATUS_IGNORE)) assert(request != MPI_REQUEST_NULL);
}

static void send(const void *buf, int count, MPI_Datatype type, int dest, int tag)
{
    MPI_Request request;
    MPI_Isend(buf, count, type, dest, tag, MPI_COMM_WORLD, &request);
    insist(request);
}

static int wait_for(int how, MPI_Request r[], MPI_Status s[], int *left)
{
    int at[2], count = 0,
               code = how == 0   ? MPI_Wait(r, s)
                      : how == 1 ? MPI_Waitall(2, r, s)
                      : how == 2 ? MPI_Waitany(2, r, at, s)
                                 : MPI_Waitsome(2, r, &count, at, s);
    *left -= code ? 0 : how == 1 ? 2 : how == 3 ? count : 1;
    return code;
}

/* Rank 0 receives into elements with gaps, so that what comes goes through a buffer of Pairwise's own. Rank 1 sends nothing
 * until rank 0's wait has timed out. */
static void times_out(int how)
{
    int x[2][2 * N], pid = getpid(), signal, left = how ? 2 : 1;
    MPI_Datatype spread;
    MPI_Request r[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status s[2];
    sigset_t set;
    MPI_Type_vector(N, 1, 2, MPI_INT, &spread);
    MPI_Type_commit(&spread);
    memset(x, 0, sizeof x);
    if (rank == 1) {
        sigemptyset(&set);
        sigaddset(&set, SIGUSR1);
        send(&pid, 1, MPI_INT, 0, 9);
        sigwait(&set, &signal);
        for (int i = 0; i < 2 * N; i++) x[0][i] = i;
        for (int i = 0; i < left; i++) send(x[0], 1, spread, 0, i);
    } else {
        MPI_Irecv(&pid, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &r[0]);
        insist(r[0]);
        for (int i = 0; i < left; i++) MPI_Irecv(x[i], 1, spread, 1, i, MPI_COMM_WORLD, &r[i]);
        int code = wait_for(how, r, s, &left);
        assert(code == MPI_ERR_OTHER && left);
        assert(r[0] != MPI_REQUEST_NULL && (how != 1 || s[1].MPI_ERROR == MPI_ERR_PENDING));
        use_memory();
        kill(pid, SIGUSR1);
        while (left) wait_for(how, r, s, &left);
        assert(r[0] == MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
        for (int k = 0; k < (how ? 2 : 1); k++)
            for (int i = 0; i < 2 * N; i++) assert(x[k][i] == (i % 2 ? 0 : i));
    }
    MPI_Type_free(&spread);
}

int main(int argc, char **argv)
{
    sigset_t set;
    MPI_Request end;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int how = 0; how < 4; how++) times_out(how);
    MPI_Ibarrier(MPI_COMM_WORLD, &end);
    insist(end);
    MPI_Finalize();
    return 0;
}
