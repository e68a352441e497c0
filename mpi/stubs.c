/* SPDX-License-Identifier: MIT */
/*
 * In libmpi_abi.so only: programs that another MPI's compiler has made for the standard ABI bind all of its symbols, also
 * of what Pairwise does not have (left_out.h). Whoever calls one of those is told so.
 */
#include "mpi/internal.h"

/* Whatever its arguments are, they are not looked at. */
#define STUB(name)                                                   \
    MPI__PRAGMA(weak MPI_##name = PMPI_##name)                       \
    int PMPI_##name(void);                                           \
    int PMPI_##name(void)                                            \
    {                                                                \
        return mpi__left_out("MPI_" #name, "function of this name"); \
    }

#include "mpi_stubs.inc" /* made from left_out.h */
