/* SPDX-License-Identifier: MIT */
/* later: what MPI 4.0 and 4.1 added; external32; names of null handles; graphs; Fortran's kinds. */
// ranks: 3
#include <assert.h>
#include <float.h>
#include <mpi.h>
#include <string.h>

#undef NDEBUG

static void external(void)
{
    static const unsigned char bytes[] = {0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0};
    struct {
        long number;
        double real;
    } out[2] = {{255, 1}, {-2, 1.5}}, in[2] = {{0, 0}, {0, 0}};
    long double extended[] = {0.0L, -1.0L / 3, LDBL_MAX}, back[3];
    double complex_out[] = {1, -2}, complex_in[2];
    unsigned char packed[64];
    MPI_Aint size, at = 0;
    MPI_Pack_external_size("external32", 2, MPI_LONG, &size);
    assert(size == 8); /* a long has 4 bytes there */
    MPI_Pack_external("external32", &out[0].number, 1, MPI_LONG, packed, sizeof packed, &at);
    MPI_Pack_external("external32", &out[1].number, 1, MPI_LONG, packed, sizeof packed, &at);
    MPI_Pack_external("external32", &out[1].real, 1, MPI_DOUBLE, packed, sizeof packed, &at);
    assert(at == sizeof bytes && memcmp(packed, bytes, sizeof bytes) == 0);
    at = 0;
    MPI_Unpack_external("external32", packed, sizeof bytes, &at, &in[0].number, 1, MPI_LONG);
    MPI_Unpack_external("external32", packed, sizeof bytes, &at, &in[1].number, 1, MPI_LONG);
    MPI_Unpack_external("external32", packed, sizeof bytes, &at, &in[1].real, 1, MPI_DOUBLE);
    assert(in[0].number == 255 && in[1].number == -2 && in[1].real == 1.5);
    at = 0;
    MPI_Pack_external("external32", extended, 3, MPI_LONG_DOUBLE, packed, sizeof packed, &at);
    assert(at == 48 && packed[16] == 0xbf && packed[17] == 0xfd && packed[18] == 0x55);
    at = 0;
    MPI_Unpack_external("external32", packed, sizeof packed, &at, back, 3, MPI_LONG_DOUBLE);
    for (int i = 0; i < 3; i++) assert(extended[i] >= back[i] && extended[i] <= back[i]);
    at = 0;
    MPI_Pack_external("external32", complex_out, 1, MPI_C_DOUBLE_COMPLEX, packed, sizeof packed, &at);
    at = 0;
    MPI_Unpack_external("external32", packed, sizeof packed, &at, complex_in, 1, MPI_C_DOUBLE_COMPLEX);
    assert(complex_in[0] >= 1 && complex_in[0] <= 1 && complex_in[1] >= -2 && complex_in[1] <= -2);
}

static void both_at_once(int rank, int size)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out = rank, in = -1, at, done, some[2];
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Isendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], &statuses[0]);
    assert(in == left && statuses[0].MPI_SOURCE == left);
    MPI_Isendrecv_replace(&in, 1, MPI_INT, right, 2, left, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Isendrecv(NULL, 0, MPI_INT, MPI_PROC_NULL, 2, NULL, 0, MPI_INT, MPI_PROC_NULL, 2, MPI_COMM_WORLD, &requests[1]);
    do MPI_Request_get_status_all(2, requests, &done, statuses);
    while (!done);
    assert(statuses[0].MPI_SOURCE == left && statuses[1].MPI_SOURCE == MPI_PROC_NULL);
    MPI_Request_get_status_any(2, requests, &at, &done, &statuses[0]);
    assert(done && at == 0 && statuses[0].MPI_TAG == 2);
    MPI_Request_get_status_some(2, requests, &at, some, statuses);
    assert(at == 2 && some[0] == 0 && some[1] == 1);
    MPI_Waitall(2, requests, statuses);
    assert(in == (left + size - 1) % size && statuses[0].MPI_SOURCE == left);
    MPI_Request_get_status_some(2, requests, &at, some, MPI_STATUSES_IGNORE);
    assert(at == MPI_UNDEFINED);
}

static void buffers(int rank, int size)
{
    static char room[2000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, bytes;
    long long out = rank;
    long in = -1; /* as long as a long long: the two match */
    void *at;
    MPI_Comm twin;
    MPI_Request request;
    MPI_Comm_dup(MPI_COMM_WORLD, &twin);
    MPI_Comm_attach_buffer(twin, room, sizeof room);
    MPI_Bsend(&out, 1, MPI_LONG_LONG, right, 0, twin);
    MPI_Recv(&in, 1, MPI_LONG, left, 0, twin, MPI_STATUS_IGNORE);
    assert(in == left);
    MPI_Bsend(&out, sizeof out, MPI_UNSIGNED_CHAR, right, 0, twin);
    MPI_Recv(&in, sizeof in, MPI_BYTE, left, 0, twin, MPI_STATUS_IGNORE); /* as bytes are unsigned characters */
    MPI_Comm_flush_buffer(twin);
    MPI_Comm_iflush_buffer(twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_detach_buffer(twin, &at, &bytes);
    assert(at == room && bytes == sizeof room);
    MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0);
    MPI_Bsend(&out, 1, MPI_LONG_LONG, right, 0, twin);
    MPI_Recv(&in, 1, MPI_LONG, left, 0, twin, MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&at, &bytes);
    assert(at == MPI_BUFFER_AUTOMATIC);
    MPI_Comm_free(&twin);
}

static void the_rest(void)
{
    int own, code, length, *last, flag;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm near;
    MPI_Info info;
    MPI_Datatype pair;
    MPI_Comm_get_name(MPI_COMM_NULL, name, &length);
    assert(strcmp(name, "MPI_COMM_NULL") == 0);
    MPI_Type_get_name(MPI_DATATYPE_NULL, name, &length);
    assert(strcmp(name, "MPI_DATATYPE_NULL") == 0);
    assert(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_SELF)) == MPI_COMM_SELF);
    assert(MPI_Type_f2c((MPI_Fint)MPI_Type_c2f(MPI_INT)) == MPI_INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair);
    assert(pair == MPI_DOUBLE_INT);
    MPI_Type_get_value_index(MPI_DOUBLE, MPI_FLOAT, &pair);
    assert(pair == MPI_DATATYPE_NULL);
    MPI_Add_error_class(&own);
    MPI_Add_error_code(own, &code);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag);
    assert(flag && *last == code);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    assert(MPI_Remove_error_class(own) != MPI_SUCCESS); /* it has a code */
    assert(MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_code(code) != MPI_SUCCESS);
    assert(MPI_Remove_error_class(own) == MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, MPI_INFO_NULL, &near);
    assert(near == MPI_COMM_NULL);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_hw_resource_type", "mpi_shared_memory");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &near);
    assert(near != MPI_COMM_NULL);
    MPI_Comm_free(&near);
    MPI_Info_free(&info);
}

static void sessions(int size)
{
    char name[32], text[8];
    int count, length = sizeof name, ranks, found = sizeof text, flag;
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Info info;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count);
    assert(count == 2);
    MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, &length, name);
    assert(strcmp(name, "mpi://WORLD") == 0 && length == sizeof "mpi://WORLD");
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get_string(info, "mpi_size", &found, text, &flag);
    assert(flag && text[0] == '0' + size);
    MPI_Info_free(&info);
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Comm_create_from_group(group, "a tag", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Comm_size(comm, &ranks);
    assert(ranks == size);
    MPI_Group_free(&group);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    assert(session == MPI_SESSION_NULL);
}

/* A ring with one edge from each rank to the next: told for all, told by both ends, told by the next one. */
static void graphs(int rank, int size)
{
    int index[8], edges[8], next[8], nodes, count, kind, in, out, weighted, weight = 7, one = 1, sw, dw;
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Comm graph, twin;
    for (int i = 0; i < size; i++) {
        index[i] = i + 1;
        edges[i] = (i + 1) % size;
    }
    MPI_Graph_create(MPI_COMM_WORLD, size, index, edges, 0, &graph);
    MPI_Comm_dup(graph, &twin);
    MPI_Comm_free(&graph);
    MPI_Topo_test(twin, &kind);
    MPI_Graphdims_get(twin, &nodes, &count);
    assert(kind == MPI_GRAPH && nodes == size && count == size);
    MPI_Graph_neighbors_count(twin, rank, &count);
    MPI_Graph_neighbors(twin, rank, 8, next);
    assert(count == 1 && next[0] == right);
    MPI_Comm_free(&twin);
    MPI_Graph_create(MPI_COMM_WORLD, 1, &one, (const int[]){0}, 0, &graph);
    assert((graph == MPI_COMM_NULL) == (rank != 0));
    if (rank == 0) MPI_Comm_free(&graph);

    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &left, MPI_UNWEIGHTED, 1, &right, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    assert(in == 1 && out == 1 && !weighted);
    MPI_Dist_graph_neighbors(graph, 1, next, MPI_UNWEIGHTED, 1, next + 1, MPI_UNWEIGHTED);
    assert(next[0] == left && next[1] == right);
    MPI_Comm_free(&graph);
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &left, &one, &rank, &weight, MPI_INFO_NULL, 0, &graph);
    MPI_Dist_graph_neighbors_count(graph, &in, &out, &weighted);
    assert(in == 1 && out == 1 && weighted);
    MPI_Dist_graph_neighbors(graph, 1, next, &sw, 1, next + 1, &dw);
    assert(next[0] == left && next[1] == right && sw == 7 && dw == 7);
    MPI_Topo_test(graph, &kind);
    assert(kind == MPI_DIST_GRAPH);
    MPI_Comm_free(&graph);
}

static void fortran(void)
{
    MPI_Datatype real, again;
    int bytes, ints, addresses, types, combiner, given[2];
    MPI_Type_create_f90_real(15, 300, &real);
    MPI_Type_create_f90_real(15, 300, &again);
    assert(real == again);
    MPI_Type_size(real, &bytes);
    MPI_Type_get_envelope(real, &ints, &addresses, &types, &combiner);
    assert(bytes == 8 && ints == 2 && types == 0 && combiner == MPI_COMBINER_F90_REAL);
    MPI_Type_get_contents(real, 2, 0, 0, given, NULL, NULL);
    assert(given[0] == 15 && given[1] == 300);
    MPI_Type_create_f90_integer(9, &real);
    MPI_Type_size(real, &bytes);
    assert(bytes == 4);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    external();
    both_at_once(rank, size);
    buffers(rank, size);
    the_rest();
    sessions(size);
    graphs(rank, size);
    fortran();
    MPI_Finalize();
    return 0;
}
