/* SPDX-License-Identifier: MIT */
/* two_threads: a second thread makes calls while the first one waits in one; MPI_Init_thread has provided less than that. */
// ranks: 2
// expect: another thread of this rank is inside of MPI_
// expect: MPI_THREAD_FUNNELED is the most that is provided
// report: call_order [0]
// report: 0 call MPI_
// report: 0 other MPI_
#include <mpi.h>
#include <pthread.h>

static void *look(void *found)
{
    while (!*(int *)found) MPI_Iprobe(1, 7, MPI_COMM_WORLD, found, MPI_STATUS_IGNORE);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, provided, x = 0, found = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        if (pthread_create(&thread, NULL, look, &found) != 0) return 2;
        MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
