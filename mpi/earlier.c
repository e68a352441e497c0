/* SPDX-License-Identifier: MIT */
/* Names of earlier versions of the standard, which programs still use: each is a function of today under another name. */
#include "mpi/internal.h"

API(Attr_put)(MPI_Comm comm, int keyval, void *attribute_val)
{
    return PMPI_Comm_set_attr(comm, keyval, attribute_val);
}

API(Attr_get)(MPI_Comm comm, int keyval, void *attribute_val, int *flag)
{
    return PMPI_Comm_get_attr(comm, keyval, attribute_val, flag);
}

API(Attr_delete)(MPI_Comm comm, int keyval)
{
    return PMPI_Comm_delete_attr(comm, keyval);
}

API(Keyval_create)
(MPI_Copy_function *copy_fn, MPI_Delete_function *delete_fn, int *keyval, void *extra_state)
{
    return PMPI_Comm_create_keyval(copy_fn, delete_fn, keyval, extra_state);
}

API(Keyval_free)(int *keyval)
{
    return PMPI_Comm_free_keyval(keyval);
}

API(Address)(void *location, MPI_Aint *address)
{
    return PMPI_Get_address(location, address);
}

API(Type_struct)
(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype array_of_types[],
 MPI_Datatype *newtype)
{
    return PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types, newtype);
}

API(Type_hvector)(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}

API(Type_hindexed)
(int count, int array_of_blocklengths[], MPI_Aint array_of_displacements[], MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}

API(Type_extent)(MPI_Datatype datatype, MPI_Aint *extent)
{
    MPI_Aint lb;
    return PMPI_Type_get_extent(datatype, &lb, extent);
}

API(Type_lb)(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint extent;
    return PMPI_Type_get_extent(datatype, displacement, &extent);
}

API(Type_ub)(MPI_Datatype datatype, MPI_Aint *displacement)
{
    MPI_Aint lb = 0, extent = 0;
    int code = PMPI_Type_get_extent(datatype, &lb, displacement ? &extent : NULL);
    if (!code && displacement) *displacement = lb + extent;
    return code;
}

API(Errhandler_create)(MPI_Handler_function *handler_fn, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_create_errhandler(handler_fn, errhandler);
}

API(Errhandler_set)(MPI_Comm comm, MPI_Errhandler errhandler)
{
    return PMPI_Comm_set_errhandler(comm, errhandler);
}

API(Errhandler_get)(MPI_Comm comm, MPI_Errhandler *errhandler)
{
    return PMPI_Comm_get_errhandler(comm, errhandler);
}
