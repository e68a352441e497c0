/* SPDX-License-Identifier: MIT */
/* polls: runs operations that its arguments name, one list for each rank: s1 sends to rank 1 without waiting, p1 asks whether a
 * message of rank 1 has come, r1 receives one, and ra one of any rank. What each rank saw is a line of the file that OUT names. */
// ranks: 2
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 32, SEEN = 64 };

int main(int argc, char **argv)
{
    int rank, size, x = 0, flag, count = 0, used = 0;
    MPI_Request sends[MOST];
    MPI_Status status;
    char seen[SEEN] = "", all[8 * SEEN];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (const char *at = argc > 1 + rank ? argv[1 + rank] : ""; at[0] && at[1]; at += 2) {
        int peer = at[1] == 'a' ? MPI_ANY_SOURCE : at[1] - '0';
        if (at[0] == 's') MPI_Isend(&x, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &sends[count++]);
        if (at[0] == 'p') MPI_Iprobe(peer, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (at[0] == 'p') seen[used++] = flag ? 'y' : 'n';
        int got;
        if (at[0] == 'r') MPI_Recv(&got, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &status);
        if (at[0] == 'r') seen[used++] = (char)('0' + status.MPI_SOURCE);
    }
    MPI_Waitall(count, sends, MPI_STATUSES_IGNORE);
    MPI_Gather(seen, SEEN, MPI_CHAR, all, SEEN, MPI_CHAR, 0, MPI_COMM_WORLD);
    FILE *file = rank == 0 && getenv("OUT") ? fopen(getenv("OUT"), "a") : NULL;
    for (int r = 0; file && r < size; r++) fprintf(file, "%s%c", all + (size_t)r * SEEN, r + 1 < size ? ' ' : '\n');
    if (file) fclose(file);
    MPI_Finalize();
    return 0;
}
