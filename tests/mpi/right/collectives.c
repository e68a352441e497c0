/* SPDX-License-Identifier: MIT */
/* collectives: each with every root, in place and not, with types that differ between the sides. */
// ranks: 4
#include <assert.h>
#include <mpi.h>
#include <stdlib.h>

#undef NDEBUG
enum { MOST = 16, N = 3 };

static int rank, size;

static void moving(int root)
{
    int a[MOST * N], b[MOST * N], counts[MOST], places[MOST];
    for (int i = 0; i < N; i++) a[i] = rank == root ? 100 + i : -1;
    MPI_Bcast(a, N, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) assert(a[i] == 100 + i);

    for (int i = 0; i < N; i++) a[i] = rank * 10 + i;
    MPI_Gather(a, N, MPI_INT, b, N, MPI_INT, root, MPI_COMM_WORLD);
    for (int q = 0; q < size && rank == root; q++)
        for (int i = 0; i < N; i++) assert(b[q * N + i] == q * 10 + i);
    if (rank == root) {
        for (int i = 0; i < N; i++) b[rank * N + i] = 7;
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++) assert(b[rank * N + i] == 7);
    } else {
        MPI_Gather(a, N, MPI_INT, NULL, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    }
    for (int i = 0; i < N * size; i++) b[i] = 1000 + i;
    MPI_Scatter(b, N, MPI_INT, a, N, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < N; i++) assert(a[i] == 1000 + rank * N + i);
    if (rank == root)
        MPI_Scatter(b, N, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    else
        MPI_Scatter(NULL, 0, MPI_DATATYPE_NULL, a, N, MPI_INT, root, MPI_COMM_WORLD);

    for (int q = 0; q < size; q++) counts[q] = q, places[q] = (size * (size - 1) - q * (q + 1)) / 2;
    for (int i = 0; i < rank; i++) a[i] = rank * 10 + i;
    MPI_Gatherv(a, rank, MPI_INT, b, counts, places, MPI_INT, root, MPI_COMM_WORLD);
    for (int q = 0; q < size && rank == root; q++)
        for (int i = 0; i < q; i++) assert(b[places[q] + i] == q * 10 + i);
    MPI_Scatterv(b, counts, places, MPI_INT, a, rank, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < rank; i++) assert(a[i] == rank * 10 + i);
    MPI_Allgatherv(a, rank, MPI_INT, b, counts, places, MPI_INT, MPI_COMM_WORLD);
    for (int q = 0; q < size; q++)
        for (int i = 0; i < q; i++) assert(b[places[q] + i] == q * 10 + i);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void all_to_all(void)
{
    int a[MOST], b[MOST], ones[MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    for (int q = 0; q < size; q++) {
        a[q] = rank * 100 + q;
        ones[q] = 1;
        places[q] = q;
        bytes[q] = q * (int)sizeof *a;
        types[q] = MPI_INT;
    }
    MPI_Allgather(&a[0], 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
    for (int q = 0; q < size; q++) assert(b[q] == q * 100);
    b[rank] = -rank;
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, MPI_COMM_WORLD);
    for (int q = 0; q < size; q++) assert(b[q] == -q);
    for (int turn = 0; turn < 4; turn++) {
        for (int q = 0; q < size; q++) b[q] = turn == 3 ? rank * 100 + q : -1;
        if (turn == 0) MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
        if (turn == 1) MPI_Alltoallv(a, ones, places, MPI_INT, b, ones, places, MPI_INT, MPI_COMM_WORLD);
        if (turn == 2) MPI_Alltoallw(a, ones, bytes, types, b, ones, bytes, types, MPI_COMM_WORLD);
        if (turn == 3) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 1, MPI_INT, MPI_COMM_WORLD);
        for (int q = 0; q < size; q++) assert(b[q] == q * 100 + rank);
    }
}

static void first_then_second(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type; /* x -> 10 x + y: associative on runs of digits, and the order matters */
    const long *a = in;
    long *b = inout;
    for (int i = 0; i < *count; i++) {
        long scale = 1;
        while (scale <= b[i]) scale *= 10;
        b[i] += a[i] * scale;
    }
}

static void reductions(int root)
{
    int sum = size * (size - 1) / 2, a[2] = {rank, 1}, b[2] = {-1, -1}, counts[MOST], all[MOST];
    struct {
        double value;
        int index;
    } pair = {rank == 1 ? 9 : 3, rank}, best;
    MPI_Op order;
    long digit = rank + 1, digits = 0, expected = 0;
    MPI_Reduce(a, b, 2, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    assert(rank == root ? b[0] == sum && b[1] == size : b[0] == -1);
    if (rank == root)
        MPI_Reduce(MPI_IN_PLACE, a, 2, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    else
        MPI_Reduce(a, NULL, 2, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    a[0] = rank;
    MPI_Allreduce(a, b, 2, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    assert(b[0] == 0 && b[1] == 1);
    MPI_Allreduce(MPI_IN_PLACE, a, 1, MPI_INT, MPI_BXOR, MPI_COMM_WORLD);
    a[0] = rank;
    unsigned char truth = rank != 0;
    MPI_Allreduce(MPI_IN_PLACE, &truth, 1, MPI_UNSIGNED_CHAR, MPI_LAND, MPI_COMM_WORLD);
    assert(truth == 0);
    MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
    assert(size == 1 || (best.value == 9 && best.index == 1));
    MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
    assert(best.value == 3 && best.index == 0);
    MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(b[0] == rank * (rank + 1) / 2);
    MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(!rank || b[0] == rank * (rank - 1) / 2);
    for (int q = 0; q < size; q++) counts[q] = 1, all[q] = rank + q;
    MPI_Reduce_scatter(all, b, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(b[0] == sum + size * rank);
    MPI_Reduce_scatter_block(all, b, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    assert(b[0] == sum + size * rank);
    for (int q = 0, i = 0; q < size; q++)
        for (counts[q] = 0; counts[q] < q % 2; counts[q]++, i++) all[i] = 10 * q + rank;
    MPI_Request request;
    MPI_Ireduce_scatter(MPI_IN_PLACE, all, counts, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    assert(rank % 2 == 0 || all[0] == 10 * rank + size - 1);
    for (int q = 0; q < size; q++) all[q] = 10 * q + rank;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    assert(all[0] == 10 * rank + size - 1);
    MPI_Op_create(first_then_second, 0, &order);
    for (int q = 0; q < size; q++) expected = expected * 10 + q + 1;
    MPI_Allreduce(&digit, &digits, 1, MPI_LONG, order, MPI_COMM_WORLD);
    assert(digits == expected);
    digits = 0;
    MPI_Reduce(&digit, &digits, 1, MPI_LONG, order, root, MPI_COMM_WORLD);
    assert(rank != root || digits == expected);
    MPI_Op_free(&order);
    assert(order == MPI_OP_NULL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int root = 0; root < size; root++) {
        MPI_Barrier(MPI_COMM_WORLD);
        moving(root);
        reductions(root);
    }
    all_to_all();
    MPI_Finalize();
    return 0;
}
