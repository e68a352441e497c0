/* SPDX-License-Identifier: MIT */
/* types: derived types between the same and other types with the same signature; packing; extents. */
// ranks: 2
#include <assert.h>
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#undef NDEBUG
typedef struct {
    char c;
    double d;
    int i[2];
} record;

static int rank;

/* From rank 0 to rank 1. */
static void pass(const void *out, int out_count, MPI_Datatype sent, void *in, int in_count, MPI_Datatype received)
{
    MPI_Status status;
    if (rank == 0) MPI_Send(out, out_count, sent, 1, 5, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(in, in_count, received, 0, 5, MPI_COMM_WORLD, &status);
}

static void vectors(void)
{
    int matrix[4][5], column[4] = {0};
    MPI_Datatype vector, pairs, indexed, sub;
    for (int i = 0; i < 20; i++) ((int *)matrix)[i] = i;
    MPI_Type_vector(4, 1, 5, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    pass(&matrix[0][2], 1, vector, column, 4, MPI_INT);
    for (int i = 0; i < 4 && rank == 1; i++) assert(column[i] == i * 5 + 2);
    MPI_Type_contiguous(2, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    pass(matrix, 4, MPI_INT, column, 2, pairs);
    const int lengths[] = {2, 1}, places[] = {3, 0};
    MPI_Type_indexed(2, lengths, places, MPI_INT, &indexed);
    MPI_Type_commit(&indexed);
    memset(column, 0, sizeof column);
    pass(matrix, 1, indexed, column, 3, MPI_INT);
    if (rank == 1) assert(column[0] == 3 && column[1] == 4 && column[2] == 0);
    const int sizes[] = {4, 5}, parts[] = {2, 2}, starts[] = {1, 3};
    MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &sub);
    MPI_Type_commit(&sub);
    pass(matrix, 1, sub, column, 4, MPI_INT);
    if (rank == 1) assert(column[0] == 8 && column[1] == 9 && column[2] == 13 && column[3] == 14);
    MPI_Type_free(&vector);
    MPI_Type_free(&pairs);
    MPI_Type_free(&indexed);
    MPI_Type_free(&sub);
    assert(sub == MPI_DATATYPE_NULL);
}

static void records(void)
{
    record out[3], in[3];
    MPI_Datatype type, sized;
    MPI_Aint places[] = {offsetof(record, c), offsetof(record, d), offsetof(record, i)}, lb, extent;
    const int lengths[] = {1, 1, 2};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    int size, count, n_ints, n_addresses, n_types, combiner;
    char packed[100];
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_create_resized(type, 0, sizeof(record), &sized);
    MPI_Type_commit(&sized);
    MPI_Type_get_extent(type, &lb, &extent);
    assert(lb == 0 && extent == sizeof(record));
    MPI_Type_size(sized, &size);
    assert(size == 1 + 8 + 8);
    MPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner);
    assert(n_ints == 4 && n_addresses == 3 && n_types == 3 && combiner == MPI_COMBINER_STRUCT);
    for (int i = 0; i < 3; i++) out[i] = (record){(char)('a' + i), i * 1.5, {i, -i}};
    memset(in, 0, sizeof in);
    pass(out, 3, sized, in, 3, sized);
    for (int i = 0; i < 3 && rank == 1; i++) assert(in[i].c == 'a' + i && in[i].d == i * 1.5 && in[i].i[1] == -i);
    int at = 0, first = 0;
    MPI_Pack(out, 2, sized, packed, sizeof packed, &at, MPI_COMM_WORLD);
    MPI_Pack(&size, 1, MPI_INT, packed, sizeof packed, &at, MPI_COMM_WORLD);
    pass(packed, at, MPI_PACKED, packed, sizeof packed, MPI_PACKED);
    at = 0;
    MPI_Unpack(packed, sizeof packed, &at, in, 2, sized, MPI_COMM_WORLD);
    MPI_Unpack(packed, sizeof packed, &at, &first, 1, MPI_INT, MPI_COMM_WORLD);
    assert(first == size && in[1].d == 1.5);
    if (rank == 0) { /* a part of what could come: whole elements, and the beginning of one */
        MPI_Send(out, 1, sized, 1, 6, MPI_COMM_WORLD);
        MPI_Send(&out[0].c, 1, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    } else {
        MPI_Status status;
        MPI_Recv(in, 3, sized, 0, 6, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, sized, &count);
        assert(count == 4);
        MPI_Recv(in, 3, sized, 0, 7, MPI_COMM_WORLD, &status);
        MPI_Get_elements(&status, sized, &count);
        assert(count == 1);
        MPI_Get_count(&status, sized, &count);
        assert(count == MPI_UNDEFINED);
    }
    MPI_Bcast(out, 3, sized, 0, MPI_COMM_WORLD);
    MPI_Type_free(&type);
    MPI_Type_free(&sized);
}

/* A vector of very many blocks takes no memory for each of them, nor time. */
static void many_blocks(void)
{
    MPI_Datatype column, spread;
    MPI_Aint lb, extent;
    MPI_Count size;
    MPI_Type_vector(2000000000, 1, 2, MPI_CHAR, &column);
    MPI_Type_create_hvector(2000000000, 3, 16, MPI_INT, &spread);
    MPI_Type_commit(&column);
    MPI_Type_get_extent(column, &lb, &extent);
    MPI_Type_size_x(column, &size);
    assert(lb == 0 && extent == 3999999999 && size == 2000000000);
    MPI_Type_get_extent(spread, &lb, &extent);
    MPI_Type_size_x(spread, &size);
    assert(extent == 31999999996 && size == 24000000000);
    MPI_Type_free(&column);
    MPI_Type_free(&spread);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    vectors();
    records();
    many_blocks();
    MPI_Finalize();
    return 0;
}
