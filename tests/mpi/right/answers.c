/* SPDX-License-Identifier: MIT */
/* answers: where NULL is the place for an answer, a call returns an error under MPI_ERRORS_RETURN, and does nothing else. */
// ranks: 1
#include <assert.h>
#include <mpi.h>
#include <stddef.h>

#undef NDEBUG
#define REFUSED(call) assert((call) != MPI_SUCCESS)

static void groups(MPI_Group all)
{
    int n = 0, range[1][3] = {{0, 0, 1}};
    MPI_Group g;
    REFUSED(MPI_Comm_group(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Group_size(all, NULL));
    REFUSED(MPI_Group_rank(all, NULL));
    REFUSED(MPI_Group_translate_ranks(all, 1, &n, all, NULL));
    REFUSED(MPI_Group_translate_ranks(all, 1, NULL, all, &n));
    REFUSED(MPI_Group_compare(all, all, NULL));
    REFUSED(MPI_Group_union(all, all, NULL));
    REFUSED(MPI_Group_intersection(all, all, NULL));
    REFUSED(MPI_Group_difference(all, all, NULL));
    REFUSED(MPI_Group_incl(all, 1, &n, NULL));
    REFUSED(MPI_Group_incl(all, 1, NULL, &g));
    REFUSED(MPI_Group_incl(all, -1, &n, &g));
    REFUSED(MPI_Group_excl(all, 1, &n, NULL));
    REFUSED(MPI_Group_range_incl(all, 1, range, NULL));
    REFUSED(MPI_Group_range_incl(all, 1, NULL, &g));
    REFUSED(MPI_Group_range_excl(all, 1, range, NULL));
    REFUSED(MPI_Group_free(NULL));
}

static void types(void)
{
    int n, one = 1;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Aint place;
    MPI_Count count;
    REFUSED(MPI_Type_size(MPI_INT, NULL));
    REFUSED(MPI_Type_size_x(MPI_INT, NULL));
    REFUSED(MPI_Type_get_extent(MPI_INT, NULL, &place));
    REFUSED(MPI_Type_get_extent(MPI_INT, &place, NULL));
    REFUSED(MPI_Type_get_extent_x(MPI_INT, &count, NULL));
    REFUSED(MPI_Type_get_true_extent(MPI_INT, NULL, &place));
    REFUSED(MPI_Type_get_true_extent_x(MPI_INT, NULL, &count));
    REFUSED(MPI_Type_extent(MPI_INT, NULL));
    REFUSED(MPI_Type_lb(MPI_INT, NULL));
    REFUSED(MPI_Type_ub(MPI_INT, NULL));
    REFUSED(MPI_Type_get_envelope(MPI_INT, &n, &n, &n, NULL));
    REFUSED(MPI_Type_get_name(MPI_INT, NULL, &n));
    REFUSED(MPI_Type_get_name(MPI_INT, name, NULL));
    REFUSED(MPI_Type_set_name(MPI_INT, NULL));
    REFUSED(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, NULL));
    REFUSED(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL));
    REFUSED(MPI_Type_create_f90_integer(9, NULL));
    REFUSED(MPI_Pack(&n, 1, MPI_INT, name, 4, NULL, MPI_COMM_WORLD));
    REFUSED(MPI_Unpack(name, 4, NULL, &n, 1, MPI_INT, MPI_COMM_WORLD));
    REFUSED(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Pack_external_size("external32", 1, MPI_INT, NULL));
    REFUSED(MPI_Get_address(&n, NULL));
    MPI_Datatype type;
    REFUSED(MPI_Type_indexed(1, NULL, &n, MPI_INT, &type));
    REFUSED(MPI_Type_create_hindexed(1, &one, NULL, MPI_INT, &type));
    REFUSED(MPI_Op_commutative(MPI_SUM, NULL));
}

static void communicators(void)
{
    int n, one = 1;
    char name[MPI_MAX_OBJECT_NAME];
    void *at;
    REFUSED(MPI_Comm_rank(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, NULL));
    REFUSED(MPI_Comm_test_inter(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Comm_get_parent(NULL));
    REFUSED(MPI_Comm_get_info(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Comm_get_name(MPI_COMM_WORLD, name, NULL));
    REFUSED(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, NULL, &n));
    REFUSED(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &at, NULL));
    REFUSED(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL));
    REFUSED(MPI_Comm_free_keyval(NULL));
    REFUSED(MPI_Comm_create_errhandler(NULL, NULL));
    REFUSED(MPI_Comm_get_errhandler(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Errhandler_free(NULL));
    REFUSED(MPI_Topo_test(MPI_COMM_WORLD, NULL));
    REFUSED(MPI_Dims_create(1, 1, NULL));
    REFUSED(MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &one, 0, NULL));
    REFUSED(MPI_Cart_map(MPI_COMM_WORLD, 1, &one, &one, NULL));
    REFUSED(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, NULL));
    REFUSED(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED,
                                           MPI_INFO_NULL, 0, NULL));
}

static void grids(void)
{
    int n, one = 1;
    MPI_Comm grid;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &one, &one, 0, &grid);
    MPI_Comm_set_errhandler(grid, MPI_ERRORS_RETURN);
    REFUSED(MPI_Cart_coords(grid, 0, 1, NULL));
    REFUSED(MPI_Cart_rank(grid, &n, NULL));
    REFUSED(MPI_Cart_shift(grid, 0, 1, NULL, &n));
    REFUSED(MPI_Cart_shift(grid, 0, 1, &n, NULL));
    REFUSED(MPI_Cart_get(grid, 1, &n, &n, NULL));
    REFUSED(MPI_Cart_sub(grid, &one, NULL));
    REFUSED(MPI_Cartdim_get(grid, NULL));
    MPI_Comm_free(&grid);
}

static void the_rest(void)
{
    int n, flag;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Status status;
    MPI_Info info;
    MPI_Info_create(&info);
    REFUSED(MPI_Info_create(NULL));
    REFUSED(MPI_Info_dup(info, NULL));
    REFUSED(MPI_Info_get_nkeys(info, NULL));
    REFUSED(MPI_Info_get(info, "key", 1, text, NULL));
    REFUSED(MPI_Info_get_string(info, "key", NULL, text, &flag));
    REFUSED(MPI_Info_get_valuelen(info, "key", &n, NULL));
    REFUSED(MPI_Info_get_nthkey(info, 0, NULL));
    MPI_Info_free(&info);
    MPI_Recv(&n, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    REFUSED(MPI_Get_count(&status, MPI_INT, NULL));
    REFUSED(MPI_Get_elements(NULL, MPI_INT, &n));
    REFUSED(MPI_Status_get_source(&status, NULL));
    REFUSED(MPI_Status_get_tag(NULL, &n));
    REFUSED(MPI_Test_cancelled(&status, NULL));
    REFUSED(MPI_Test_cancelled(NULL, &flag));
    REFUSED(MPI_Error_class(0, NULL));
    REFUSED(MPI_Error_string(0, text, NULL));
    REFUSED(MPI_Add_error_class(NULL));
    REFUSED(MPI_Initialized(NULL));
    REFUSED(MPI_Query_thread(NULL));
    REFUSED(MPI_Get_version(&n, NULL));
    REFUSED(MPI_Get_processor_name(text, NULL));
    REFUSED(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL));
    REFUSED(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL));
}

int main(int argc, char **argv)
{
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    groups(all);
    types();
    communicators();
    grids();
    the_rest();
    MPI_Group_free(&all);
    MPI_Finalize();
    return 0;
}
