/* SPDX-License-Identifier: MIT */
/*
 * The functions whose counts are MPI_Count: those with counts of int, for as long as the counts fit. (MPI 5.0, 19.2; a program
 * that needs larger ones makes a type of many elements.) Lists of counts are copied into lists of int.
 */
#include <limits.h>
#include <stdlib.h>

#include "mpi/internal.h"

static bool fits(MPI_Count count)
{
    return count >= INT_MIN && count <= INT_MAX;
}

static int too_many(const char *name)
{
    mpi__comm *c;
    int code = mpi__begin_local(&c, name);
    return code ? code
                : mpi__end(c, mpi__wrong(c, MPI_ERR_COUNT, P2P_ARGUMENT_COUNT,
                                         "a count is larger than %d" MPI__TRY "a type of many elements", INT_MAX));
}

static MPI_Count ranks_of(MPI_Comm comm)
{
    const mpi__comm *c = mpi__state == MPI__RUNNING ? mpi__comm_of(comm) : NULL;
    return c ? c->size : 0;
}

/* Lists that matter at the root only. */
static MPI_Count ranks_at(MPI_Comm comm, int root)
{
    const mpi__comm *c = mpi__state == MPI__RUNNING ? mpi__comm_of(comm) : NULL;
    return c && c->rank == root ? c->size : 0;
}

/* A list as one of int, to be freed. False: a number does not fit, or there is no memory. NULL stays NULL. */
static bool narrow(const MPI_Count list[], MPI_Count count, int **narrowed)
{
    *narrowed = list && count >= 0 ? malloc(((size_t)count + 1) * sizeof **narrowed) : NULL;
    for (MPI_Count i = 0; *narrowed && i < count; i++) {
        (*narrowed)[i] = (int)list[i];
        if (!fits(list[i])) return false;
    }
    return *narrowed || !list;
}

API(Allgather_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Allgather(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm)
               : too_many("MPI_Allgather_c");
}

API(Allgatherv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_of(comm), &displs_))
        code = PMPI_Allgatherv(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, comm);
    else
        code = too_many("MPI_Allgatherv_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Allreduce_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return fits(count) ? PMPI_Allreduce(sendbuf, recvbuf, (int)count, datatype, op, comm) : too_many("MPI_Allreduce_c");
}

API(Alltoall_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Alltoall(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm)
               : too_many("MPI_Alltoall_c");
}

API(Alltoallv_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Alltoallv(sendbuf, sendcounts_, sdispls_, sendtype, recvbuf, recvcounts_, rdispls_, recvtype, comm);
    else
        code = too_many("MPI_Alltoallv_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Alltoallw_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
 void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Alltoallw(sendbuf, sendcounts_, sdispls_, sendtypes, recvbuf, recvcounts_, rdispls_, recvtypes,
                              comm);
    else
        code = too_many("MPI_Alltoallw_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Bcast_c)(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return fits(count) ? PMPI_Bcast(buffer, (int)count, datatype, root, comm) : too_many("MPI_Bcast_c");
}

API(Allgather_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Allgather_init(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm, info,
                                     request)
               : too_many("MPI_Allgather_init_c");
}

API(Allgatherv_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_of(comm), &displs_))
        code = PMPI_Allgatherv_init(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, comm,
                                    info, request);
    else
        code = too_many("MPI_Allgatherv_init_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Allreduce_init_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Allreduce_init(sendbuf, recvbuf, (int)count, datatype, op, comm, info, request)
                       : too_many("MPI_Allreduce_init_c");
}

API(Alltoall_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Alltoall_init(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm, info,
                                    request)
               : too_many("MPI_Alltoall_init_c");
}

API(Alltoallv_init_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
 MPI_Request *request)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Alltoallv_init(sendbuf, sendcounts_, sdispls_, sendtype, recvbuf, recvcounts_, rdispls_, recvtype,
                                   comm, info, request);
    else
        code = too_many("MPI_Alltoallv_init_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Alltoallw_init_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
 void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Alltoallw_init(sendbuf, sendcounts_, sdispls_, sendtypes, recvbuf, recvcounts_, rdispls_, recvtypes,
                                   comm, info, request);
    else
        code = too_many("MPI_Alltoallw_init_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Bcast_init_c)
(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    return fits(count) ? PMPI_Bcast_init(buffer, (int)count, datatype, root, comm, info, request)
                       : too_many("MPI_Bcast_init_c");
}

API(Exscan_init_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Exscan_init(sendbuf, recvbuf, (int)count, datatype, op, comm, info, request)
                       : too_many("MPI_Exscan_init_c");
}

API(Gather_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Gather_init(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm,
                                  info, request)
               : too_many("MPI_Gather_init_c");
}

API(Gatherv_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_at(comm, root), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Gatherv_init(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, root, comm,
                                 info, request);
    else
        code = too_many("MPI_Gatherv_init_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Reduce_init_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    return fits(count) ? PMPI_Reduce_init(sendbuf, recvbuf, (int)count, datatype, op, root, comm, info, request)
                       : too_many("MPI_Reduce_init_c");
}

API(Reduce_scatter_init_c)
(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    int *recvcounts_ = NULL, code;
    if (narrow(recvcounts, ranks_of(comm), &recvcounts_))
        code = PMPI_Reduce_scatter_init(sendbuf, recvbuf, recvcounts_, datatype, op, comm, info, request);
    else
        code = too_many("MPI_Reduce_scatter_init_c");
    free(recvcounts_);
    return code;
}

API(Reduce_scatter_block_init_c)
(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Info info, MPI_Request *request)
{
    return fits(recvcount)
               ? PMPI_Reduce_scatter_block_init(sendbuf, recvbuf, (int)recvcount, datatype, op, comm, info, request)
               : too_many("MPI_Reduce_scatter_block_init_c");
}

API(Scan_init_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Scan_init(sendbuf, recvbuf, (int)count, datatype, op, comm, info, request)
                       : too_many("MPI_Scan_init_c");
}

API(Scatter_init_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Scatter_init(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm,
                                   info, request)
               : too_many("MPI_Scatter_init_c");
}

API(Scatterv_init_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    int *sendcounts_ = NULL, *displs_ = NULL, code;
    if (fits(recvcount) && narrow(sendcounts, ranks_at(comm, root), &sendcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Scatterv_init(sendbuf, sendcounts_, displs_, sendtype, recvbuf, (int)recvcount, recvtype, root,
                                  comm, info, request);
    else
        code = too_many("MPI_Scatterv_init_c");
    free(sendcounts_);
    free(displs_);
    return code;
}

API(Bsend_c)(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return fits(count) ? PMPI_Bsend(buf, (int)count, datatype, dest, tag, comm) : too_many("MPI_Bsend_c");
}

API(Bsend_init_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Bsend_init(buf, (int)count, datatype, dest, tag, comm, request)
                       : too_many("MPI_Bsend_init_c");
}

API(Exscan_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return fits(count) ? PMPI_Exscan(sendbuf, recvbuf, (int)count, datatype, op, comm) : too_many("MPI_Exscan_c");
}

API(Gather_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Gather(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm)
               : too_many("MPI_Gather_c");
}

API(Gatherv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_at(comm, root), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Gatherv(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, root, comm);
    else
        code = too_many("MPI_Gatherv_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Iallgather_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Iallgather(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm, request)
               : too_many("MPI_Iallgather_c");
}

API(Iallgatherv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_of(comm), &displs_))
        code = PMPI_Iallgatherv(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, comm,
                                request);
    else
        code = too_many("MPI_Iallgatherv_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Iallreduce_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Iallreduce(sendbuf, recvbuf, (int)count, datatype, op, comm, request)
                       : too_many("MPI_Iallreduce_c");
}

API(Ialltoall_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Ialltoall(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, comm, request)
               : too_many("MPI_Ialltoall_c");
}

API(Ialltoallv_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
 const MPI_Count recvcounts[], const MPI_Aint rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Ialltoallv(sendbuf, sendcounts_, sdispls_, sendtype, recvbuf, recvcounts_, rdispls_, recvtype, comm,
                               request);
    else
        code = too_many("MPI_Ialltoallv_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Ialltoallw_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
 void *recvbuf, const MPI_Count recvcounts[], const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
 MPI_Request *request)
{
    int *sendcounts_ = NULL, *sdispls_ = NULL, *recvcounts_ = NULL, *rdispls_ = NULL, code;
    if (narrow(sendcounts, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sendcounts_) &&
        narrow((const MPI_Count *)sdispls, sendbuf == MPI_IN_PLACE ? 0 : ranks_of(comm), &sdispls_) &&
        narrow(recvcounts, ranks_of(comm), &recvcounts_) &&
        narrow((const MPI_Count *)rdispls, ranks_of(comm), &rdispls_))
        code = PMPI_Ialltoallw(sendbuf, sendcounts_, sdispls_, sendtypes, recvbuf, recvcounts_, rdispls_, recvtypes,
                               comm, request);
    else
        code = too_many("MPI_Ialltoallw_c");
    free(sendcounts_);
    free(sdispls_);
    free(recvcounts_);
    free(rdispls_);
    return code;
}

API(Ibcast_c)(void *buffer, MPI_Count count, MPI_Datatype datatype, int root, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Ibcast(buffer, (int)count, datatype, root, comm, request) : too_many("MPI_Ibcast_c");
}

API(Ibsend_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Ibsend(buf, (int)count, datatype, dest, tag, comm, request) : too_many("MPI_Ibsend_c");
}

API(Iexscan_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Iexscan(sendbuf, recvbuf, (int)count, datatype, op, comm, request)
                       : too_many("MPI_Iexscan_c");
}

API(Igather_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Igather(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm, request)
               : too_many("MPI_Igather_c");
}

API(Igatherv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, const MPI_Count recvcounts[],
 const MPI_Aint displs[], MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    int *recvcounts_ = NULL, *displs_ = NULL, code;
    if (fits(sendcount) && narrow(recvcounts, ranks_at(comm, root), &recvcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Igatherv(sendbuf, (int)sendcount, sendtype, recvbuf, recvcounts_, displs_, recvtype, root, comm,
                             request);
    else
        code = too_many("MPI_Igatherv_c");
    free(recvcounts_);
    free(displs_);
    return code;
}

API(Imrecv_c)(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Request *request)
{
    return fits(count) ? PMPI_Imrecv(buf, (int)count, datatype, message, request) : too_many("MPI_Imrecv_c");
}

API(Irecv_c)
(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Irecv(buf, (int)count, datatype, source, tag, comm, request) : too_many("MPI_Irecv_c");
}

API(Ireduce_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Ireduce(sendbuf, recvbuf, (int)count, datatype, op, root, comm, request)
                       : too_many("MPI_Ireduce_c");
}

API(Ireduce_scatter_c)
(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    int *recvcounts_ = NULL, code;
    if (narrow(recvcounts, ranks_of(comm), &recvcounts_))
        code = PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts_, datatype, op, comm, request);
    else
        code = too_many("MPI_Ireduce_scatter_c");
    free(recvcounts_);
    return code;
}

API(Ireduce_scatter_block_c)
(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(recvcount) ? PMPI_Ireduce_scatter_block(sendbuf, recvbuf, (int)recvcount, datatype, op, comm, request)
                           : too_many("MPI_Ireduce_scatter_block_c");
}

API(Irsend_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Irsend(buf, (int)count, datatype, dest, tag, comm, request) : too_many("MPI_Irsend_c");
}

API(Iscan_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(count) ? PMPI_Iscan(sendbuf, recvbuf, (int)count, datatype, op, comm, request)
                       : too_many("MPI_Iscan_c");
}

API(Iscatter_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Iscatter(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm,
                               request)
               : too_many("MPI_Iscatter_c");
}

API(Iscatterv_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    int *sendcounts_ = NULL, *displs_ = NULL, code;
    if (fits(recvcount) && narrow(sendcounts, ranks_at(comm, root), &sendcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Iscatterv(sendbuf, sendcounts_, displs_, sendtype, recvbuf, (int)recvcount, recvtype, root, comm,
                              request);
    else
        code = too_many("MPI_Iscatterv_c");
    free(sendcounts_);
    free(displs_);
    return code;
}

API(Isend_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Isend(buf, (int)count, datatype, dest, tag, comm, request) : too_many("MPI_Isend_c");
}

API(Issend_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Issend(buf, (int)count, datatype, dest, tag, comm, request) : too_many("MPI_Issend_c");
}

API(Mrecv_c)(void *buf, MPI_Count count, MPI_Datatype datatype, MPI_Message *message, MPI_Status *status)
{
    return fits(count) ? PMPI_Mrecv(buf, (int)count, datatype, message, status) : too_many("MPI_Mrecv_c");
}

API(Pack_c)
(const void *inbuf, MPI_Count incount, MPI_Datatype datatype, void *outbuf, MPI_Count outsize, MPI_Count *position,
 MPI_Comm comm)
{
    int position_ = (int)*position;
    if (!fits(incount) || !fits(outsize) || !fits(*position)) return too_many("MPI_Pack_c");
    int code = PMPI_Pack(inbuf, (int)incount, datatype, outbuf, (int)outsize, &position_, comm);
    if (!code) *position = position_;
    return code;
}

API(Isendrecv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Request *request)
{
    return fits(sendcount) && fits(recvcount)
               ? PMPI_Isendrecv(sendbuf, (int)sendcount, sendtype, dest, sendtag, recvbuf, (int)recvcount, recvtype,
                                source, recvtag, comm, request)
               : too_many("MPI_Isendrecv_c");
}

API(Isendrecv_replace_c)
(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
 MPI_Request *request)
{
    return fits(count)
               ? PMPI_Isendrecv_replace(buf, (int)count, datatype, dest, sendtag, source, recvtag, comm, request)
               : too_many("MPI_Isendrecv_replace_c");
}

API(Recv_c)(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return fits(count) ? PMPI_Recv(buf, (int)count, datatype, source, tag, comm, status) : too_many("MPI_Recv_c");
}

API(Recv_init_c)
(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Recv_init(buf, (int)count, datatype, source, tag, comm, request)
                       : too_many("MPI_Recv_init_c");
}

API(Reduce_c)
(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    return fits(count) ? PMPI_Reduce(sendbuf, recvbuf, (int)count, datatype, op, root, comm) : too_many("MPI_Reduce_c");
}

API(Reduce_local_c)(const void *inbuf, void *inoutbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
    return fits(count) ? PMPI_Reduce_local(inbuf, inoutbuf, (int)count, datatype, op) : too_many("MPI_Reduce_local_c");
}

API(Reduce_scatter_c)
(const void *sendbuf, void *recvbuf, const MPI_Count recvcounts[], MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int *recvcounts_ = NULL, code;
    if (narrow(recvcounts, ranks_of(comm), &recvcounts_))
        code = PMPI_Reduce_scatter(sendbuf, recvbuf, recvcounts_, datatype, op, comm);
    else
        code = too_many("MPI_Reduce_scatter_c");
    free(recvcounts_);
    return code;
}

API(Reduce_scatter_block_c)
(const void *sendbuf, void *recvbuf, MPI_Count recvcount, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return fits(recvcount) ? PMPI_Reduce_scatter_block(sendbuf, recvbuf, (int)recvcount, datatype, op, comm)
                           : too_many("MPI_Reduce_scatter_block_c");
}

API(Rsend_c)(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return fits(count) ? PMPI_Rsend(buf, (int)count, datatype, dest, tag, comm) : too_many("MPI_Rsend_c");
}

API(Rsend_init_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Rsend_init(buf, (int)count, datatype, dest, tag, comm, request)
                       : too_many("MPI_Rsend_init_c");
}

API(Scan_c)(const void *sendbuf, void *recvbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return fits(count) ? PMPI_Scan(sendbuf, recvbuf, (int)count, datatype, op, comm) : too_many("MPI_Scan_c");
}

API(Scatter_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, void *recvbuf, MPI_Count recvcount,
 MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Scatter(sendbuf, (int)sendcount, sendtype, recvbuf, (int)recvcount, recvtype, root, comm)
               : too_many("MPI_Scatter_c");
}

API(Scatterv_c)
(const void *sendbuf, const MPI_Count sendcounts[], const MPI_Aint displs[], MPI_Datatype sendtype, void *recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int *sendcounts_ = NULL, *displs_ = NULL, code;
    if (fits(recvcount) && narrow(sendcounts, ranks_at(comm, root), &sendcounts_) &&
        narrow((const MPI_Count *)displs, ranks_at(comm, root), &displs_))
        code = PMPI_Scatterv(sendbuf, sendcounts_, displs_, sendtype, recvbuf, (int)recvcount, recvtype, root, comm);
    else
        code = too_many("MPI_Scatterv_c");
    free(sendcounts_);
    free(displs_);
    return code;
}

API(Send_c)(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return fits(count) ? PMPI_Send(buf, (int)count, datatype, dest, tag, comm) : too_many("MPI_Send_c");
}

API(Send_init_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Send_init(buf, (int)count, datatype, dest, tag, comm, request)
                       : too_many("MPI_Send_init_c");
}

API(Sendrecv_c)
(const void *sendbuf, MPI_Count sendcount, MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf,
 MPI_Count recvcount, MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    bool fit = fits(sendcount) && fits(recvcount);
    return fit ? PMPI_Sendrecv(sendbuf, (int)sendcount, sendtype, dest, sendtag, recvbuf, (int)recvcount, recvtype,
                               source, recvtag, comm, status)
               : too_many("MPI_Sendrecv_c");
}

API(Sendrecv_replace_c)
(void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int sendtag, int source, int recvtag, MPI_Comm comm,
 MPI_Status *status)
{
    return fits(count) ? PMPI_Sendrecv_replace(buf, (int)count, datatype, dest, sendtag, source, recvtag, comm, status)
                       : too_many("MPI_Sendrecv_replace_c");
}

API(Ssend_c)(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return fits(count) ? PMPI_Ssend(buf, (int)count, datatype, dest, tag, comm) : too_many("MPI_Ssend_c");
}

API(Ssend_init_c)
(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    return fits(count) ? PMPI_Ssend_init(buf, (int)count, datatype, dest, tag, comm, request)
                       : too_many("MPI_Ssend_init_c");
}

API(Type_contiguous_c)(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return fits(count) ? PMPI_Type_contiguous((int)count, oldtype, newtype) : too_many("MPI_Type_contiguous_c");
}

API(Type_create_hindexed_c)
(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
 MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int *array_of_blocklengths_ = NULL, code;
    if (fits(count) && narrow(array_of_blocklengths, count, &array_of_blocklengths_))
        code = PMPI_Type_create_hindexed((int)count, array_of_blocklengths_, (const MPI_Aint *)array_of_displacements,
                                         oldtype, newtype);
    else
        code = too_many("MPI_Type_create_hindexed_c");
    free(array_of_blocklengths_);
    return code;
}

API(Type_create_hindexed_block_c)
(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
 MPI_Datatype *newtype)
{
    bool fit = fits(count) && fits(blocklength);
    return fit ? PMPI_Type_create_hindexed_block((int)count, (int)blocklength, (const MPI_Aint *)array_of_displacements,
                                                 oldtype, newtype)
               : too_many("MPI_Type_create_hindexed_block_c");
}

API(Type_create_hvector_c)
(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    bool fit = fits(count) && fits(blocklength);
    return fit ? PMPI_Type_create_hvector((int)count, (int)blocklength, (MPI_Aint)stride, oldtype, newtype)
               : too_many("MPI_Type_create_hvector_c");
}

API(Type_create_indexed_block_c)
(MPI_Count count, MPI_Count blocklength, const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
 MPI_Datatype *newtype)
{
    int *array_of_displacements_ = NULL, code;
    if (fits(count) && fits(blocklength) && narrow(array_of_displacements, count, &array_of_displacements_))
        code = PMPI_Type_create_indexed_block((int)count, (int)blocklength, array_of_displacements_, oldtype, newtype);
    else
        code = too_many("MPI_Type_create_indexed_block_c");
    free(array_of_displacements_);
    return code;
}

API(Type_create_resized_c)(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype *newtype)
{
    return PMPI_Type_create_resized(oldtype, (MPI_Aint)lb, (MPI_Aint)extent, newtype);
}

API(Type_create_struct_c)
(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
 const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    int *array_of_blocklengths_ = NULL, code;
    if (fits(count) && narrow(array_of_blocklengths, count, &array_of_blocklengths_))
        code = PMPI_Type_create_struct((int)count, array_of_blocklengths_, (const MPI_Aint *)array_of_displacements,
                                       array_of_types, newtype);
    else
        code = too_many("MPI_Type_create_struct_c");
    free(array_of_blocklengths_);
    return code;
}

API(Type_create_subarray_c)
(int ndims, const MPI_Count array_of_sizes[], const MPI_Count array_of_subsizes[], const MPI_Count array_of_starts[],
 int order, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int *array_of_sizes_ = NULL, *array_of_subsizes_ = NULL, *array_of_starts_ = NULL, code;
    if (narrow(array_of_sizes, ndims, &array_of_sizes_) && narrow(array_of_subsizes, ndims, &array_of_subsizes_) &&
        narrow(array_of_starts, ndims, &array_of_starts_))
        code = PMPI_Type_create_subarray(ndims, array_of_sizes_, array_of_subsizes_, array_of_starts_, order, oldtype,
                                         newtype);
    else
        code = too_many("MPI_Type_create_subarray_c");
    free(array_of_sizes_);
    free(array_of_subsizes_);
    free(array_of_starts_);
    return code;
}

API(Type_indexed_c)
(MPI_Count count, const MPI_Count array_of_blocklengths[], const MPI_Count array_of_displacements[],
 MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int *array_of_blocklengths_ = NULL, *array_of_displacements_ = NULL, code;
    if (fits(count) && narrow(array_of_blocklengths, count, &array_of_blocklengths_) &&
        narrow(array_of_displacements, count, &array_of_displacements_))
        code = PMPI_Type_indexed((int)count, array_of_blocklengths_, array_of_displacements_, oldtype, newtype);
    else
        code = too_many("MPI_Type_indexed_c");
    free(array_of_blocklengths_);
    free(array_of_displacements_);
    return code;
}

API(Type_vector_c)
(MPI_Count count, MPI_Count blocklength, MPI_Count stride, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    bool fit = fits(count) && fits(blocklength) && fits(stride);
    return fit ? PMPI_Type_vector((int)count, (int)blocklength, (int)stride, oldtype, newtype)
               : too_many("MPI_Type_vector_c");
}

API(Unpack_c)
(const void *inbuf, MPI_Count insize, MPI_Count *position, void *outbuf, MPI_Count outcount, MPI_Datatype datatype,
 MPI_Comm comm)
{
    int position_ = (int)*position;
    if (!fits(insize) || !fits(outcount) || !fits(*position)) return too_many("MPI_Unpack_c");
    int code = PMPI_Unpack(inbuf, (int)insize, &position_, outbuf, (int)outcount, datatype, comm);
    if (!code) *position = position_;
    return code;
}

API(Get_elements_c)(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return PMPI_Get_elements_x(status, datatype, count);
}

API(Status_set_elements_c)(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return PMPI_Status_set_elements_x(status, datatype, count);
}

API(Type_size_c)(MPI_Datatype datatype, MPI_Count *size)
{
    return PMPI_Type_size_x(datatype, size);
}

API(Type_get_extent_c)(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    return PMPI_Type_get_extent_x(datatype, lb, extent);
}

API(Type_get_true_extent_c)(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    return PMPI_Type_get_true_extent_x(datatype, true_lb, true_extent);
}

API(Type_get_envelope_c)
(MPI_Datatype datatype, MPI_Count *num_integers, MPI_Count *num_addresses, MPI_Count *num_large_counts,
 MPI_Count *num_datatypes, int *combiner)
{
    int integers, addresses, datatypes,
        code = PMPI_Type_get_envelope(datatype, &integers, &addresses, &datatypes, combiner);
    if (code) return code;
    *num_integers = integers;
    *num_addresses = addresses;
    *num_large_counts = 0;
    *num_datatypes = datatypes;
    return MPI_SUCCESS;
}

API(Type_get_contents_c)
(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_large_counts,
 MPI_Count max_datatypes, int array_of_integers[], MPI_Aint array_of_addresses[], MPI_Count array_of_large_counts[],
 MPI_Datatype array_of_datatypes[])
{
    (void)max_large_counts, (void)array_of_large_counts; /* there are none */
    bool fit = fits(max_integers) && fits(max_addresses) && fits(max_datatypes);
    return fit ? PMPI_Type_get_contents(datatype, (int)max_integers, (int)max_addresses, (int)max_datatypes,
                                        array_of_integers, array_of_addresses, array_of_datatypes)
               : too_many("MPI_Type_get_contents_c");
}
