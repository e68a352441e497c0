/* SPDX-License-Identifier: MIT */
/* What is said when a function is called that Pairwise does not have (left_out.h). */
#include "mpi/internal.h"
#include "mpi/lines.h"

int mpi__left_out(const char *name, const char *what)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, name);
    /* Whatever its handler, for what follows could not be told rightly. In Python an exception is raised, with the text. */
    if (!code && !mpi__is_python()) p2p_set_errors(c->p2p, P2P_ERRORS_FATAL);
    return code ? code
                : mpi__end(c, mpi__mistake(c, MPI_ERR_UNSUPPORTED_OPERATION, "refused",
                                           "Pairwise's MPI has no %s (docs/mpi.md)", what));
}

#define LEFT_OUT(function, what)          \
    int mpi__##function(const char *name) \
    {                                     \
        return mpi__left_out(name, what); \
    }
MPI_LEFT_OUT_LIST_(LEFT_OUT)
