/* SPDX-License-Identifier: MIT */
/* large: functions whose counts are MPI_Count. */
// ranks: 3
#include <assert.h>
#include <mpi.h>

#undef NDEBUG
static void add(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    (void)type;
    for (MPI_Count i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank, size, out[8], in[8], sum;
    MPI_Count counts[8], elements, extent, lb;
    MPI_Aint places[8];
    MPI_Datatype every_other;
    MPI_Status status;
    MPI_Request request;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int q = 0; q < size; q++) {
        out[q] = 10 * rank + q;
        counts[q] = 1;
        places[q] = size - 1 - q;
    }
    MPI_Alltoallv_c(out, counts, places, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int q = 0; q < size; q++) assert(in[size - 1 - q] == 10 * q + size - 1 - rank);
    MPI_Gatherv_c(&rank, 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    if (!rank) assert(in[0] == size - 1);
    MPI_Op_create_c(add, 1, &op);
    MPI_Allreduce_c(&rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD);
    assert(sum == size * (size - 1) / 2);
    MPI_Op_free(&op);
    MPI_Type_vector_c(2, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Type_get_extent_c(every_other, &lb, &extent);
    assert(lb == 0 && extent == 3 * (MPI_Count)sizeof(int));
    MPI_Irecv_c(in, 2, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 4; i++) out[i] = 100 * rank + i;
    MPI_Send_c(out, 1, every_other, (rank + 1) % size, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_INT, &elements);
    assert(elements == 2 && in[1] == 100 * ((rank + size - 1) % size) + 2);
    MPI_Type_free(&every_other);
    MPI_Finalize();
    return 0;
}
