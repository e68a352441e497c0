/* SPDX-License-Identifier: MIT */
/* graphs_differ: ranks of a new graph know other edges. */
// ranks: 3
// expect: not all ranks have given this graph
// report: communicator_mismatch
#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, index[] = {1, 3, 4}, edges[] = {1, 0, 2, 1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 2) edges[0] = 2;
    MPI_Comm graph;
    MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &graph);
    MPI_Comm_free(&graph);
    MPI_Finalize();
    return 0;
}
