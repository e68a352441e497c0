/* SPDX-License-Identifier: MIT */
/*
 * Statuses: besides source, tag and error the number of bytes in [0] and [1], and in [2] whether it was cancelled. The field
 * MPI_ERROR is the program's, but where a call that has several statuses returns MPI_ERR_IN_STATUS (MPI 5.0, 3.2.5).
 */
#include <string.h>

#include "mpi/internal.h"

void mpi__set_status(MPI_Status *status, const p2p_status *from)
{
    if (status == MPI_STATUS_IGNORE) return;
    uint64_t bytes = from->bytes;
    bool cancelled = from->source == P2P_CANCELLED;
    status->MPI_SOURCE = from->source == P2P_ANY_SOURCE || cancelled ? MPI_ANY_SOURCE : from->source;
    status->MPI_TAG = from->tag == P2P_ANY_TAG || cancelled ? MPI_ANY_TAG : from->tag;
    memcpy(status->MPI_internal, &bytes, sizeof bytes);
    status->MPI_internal[2] = cancelled;
}

void mpi__empty_status(MPI_Status *status, int source)
{
    if (status == MPI_STATUS_IGNORE) return;
    mpi__set_status(status, &(p2p_status){.source = P2P_ANY_SOURCE, .tag = P2P_ANY_TAG});
    status->MPI_SOURCE = source;
}

void mpi__copy_status(MPI_Status *status, const MPI_Status *from)
{
    if (status == MPI_STATUS_IGNORE) return;
    const int error = status->MPI_ERROR;
    *status = *from;
    status->MPI_ERROR = error;
}

static uint64_t bytes_of(const MPI_Status *status)
{
    uint64_t bytes;
    memcpy(&bytes, status->MPI_internal, sizeof bytes);
    return bytes;
}

static int get_count(const char *name, const MPI_Status *status, MPI_Datatype datatype, const void *place,
                     MPI_Count *count)
{
    mpi__comm *c;
    mpi__type *type;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, place, "count");
    if (code) return code;
    code = mpi__check_pointer(c, status, "status");
    if (!code) code = mpi__check_type(c, datatype, &type);
    if (code) return mpi__end(c, code);
    uint64_t bytes = bytes_of(status);
    if (!type->size)
        *count = bytes ? MPI_UNDEFINED : 0;
    else
        *count = bytes % type->size ? MPI_UNDEFINED : (MPI_Count)(bytes / type->size);
    return mpi__end(c, MPI_SUCCESS);
}

API(Get_count)(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count found = 0;
    int code = get_count("MPI_Get_count", status, datatype, count, &found);
    if (!code) *count = found > INT32_MAX ? MPI_UNDEFINED : (int)found;
    return code;
}

API(Get_count_c)(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_count("MPI_Get_count_c", status, datatype, count, count);
}

static int get_elements(const char *name, const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    mpi__comm *c;
    mpi__type *type;
    int code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, count, "count");
    if (code) return code;
    code = mpi__check_pointer(c, status, "status");
    if (!code) code = mpi__check_type(c, datatype, &type);
    if (code) return mpi__end(c, code);
    const mpi__signature *s = type->signature;
    uint64_t bytes = bytes_of(status);
    *count = s->bytes ? (MPI_Count)(bytes / s->bytes * s->length) : 0;
    for (size_t i = 0; s->bytes && i < s->length && bytes % s->bytes; i++) {
        size_t size = mpi__basic_size(s->codes[i]);
        if (bytes % s->bytes < size) break;
        bytes -= size;
        ++*count;
    }
    if (bytes && (!s->bytes || bytes % s->bytes)) *count = MPI_UNDEFINED;
    return mpi__end(c, MPI_SUCCESS);
}

API(Get_elements)(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    MPI_Count elements = 0;
    int code = get_elements("MPI_Get_elements", status, datatype, &elements);
    if (!code) *count = elements > INT32_MAX ? MPI_UNDEFINED : (int)elements;
    return code;
}

API(Get_elements_x)(const MPI_Status *status, MPI_Datatype datatype, MPI_Count *count)
{
    return get_elements("MPI_Get_elements_x", status, datatype, count);
}

static int set_elements(const char *name, MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    mpi__comm *c;
    mpi__type *type;
    int code = mpi__begin_local(&c, name);
    if (code) return code;
    code = mpi__check_pointer(c, status, "status");
    if (!code) code = mpi__check_type(c, datatype, &type);
    if (code) return mpi__end(c, code);
    const mpi__signature *s = type->signature;
    uint64_t bytes = s->length ? (uint64_t)count / s->length * s->bytes : 0;
    for (size_t i = 0; s->length && i < (uint64_t)count % s->length; i++) bytes += mpi__basic_size(s->codes[i]);
    memcpy(status->MPI_internal, &bytes, sizeof bytes);
    return mpi__end(c, MPI_SUCCESS);
}

API(Status_set_elements)(MPI_Status *status, MPI_Datatype datatype, int count)
{
    return set_elements("MPI_Status_set_elements", status, datatype, count);
}

API(Status_set_elements_x)(MPI_Status *status, MPI_Datatype datatype, MPI_Count count)
{
    return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}

API(Status_get_source)(const MPI_Status *status, int *source)
{
    int code = mpi__place_ever("MPI_Status_get_source", status, "status");
    if (!code) code = mpi__place_ever("MPI_Status_get_source", source, "source");
    if (code) return code;
    *source = status->MPI_SOURCE;
    return MPI_SUCCESS;
}

API(Status_get_tag)(const MPI_Status *status, int *tag)
{
    int code = mpi__place_ever("MPI_Status_get_tag", status, "status");
    if (!code) code = mpi__place_ever("MPI_Status_get_tag", tag, "tag");
    if (code) return code;
    *tag = status->MPI_TAG;
    return MPI_SUCCESS;
}

API(Status_get_error)(const MPI_Status *status, int *error)
{
    int code = mpi__place_ever("MPI_Status_get_error", status, "status");
    if (!code) code = mpi__place_ever("MPI_Status_get_error", error, "error");
    if (code) return code;
    *error = status->MPI_ERROR;
    return MPI_SUCCESS;
}

API(Status_set_source)(MPI_Status *status, int source)
{
    int code = mpi__place_ever("MPI_Status_set_source", status, "status");
    if (code) return code;
    status->MPI_SOURCE = source;
    return MPI_SUCCESS;
}

API(Status_set_tag)(MPI_Status *status, int tag)
{
    int code = mpi__place_ever("MPI_Status_set_tag", status, "status");
    if (code) return code;
    status->MPI_TAG = tag;
    return MPI_SUCCESS;
}

API(Status_set_error)(MPI_Status *status, int error)
{
    int code = mpi__place_ever("MPI_Status_set_error", status, "status");
    if (code) return code;
    status->MPI_ERROR = error;
    return MPI_SUCCESS;
}

API(Status_set_cancelled)(MPI_Status *status, int flag)
{
    int code = mpi__place_ever("MPI_Status_set_cancelled", status, "status");
    if (code) return code;
    status->MPI_internal[2] = flag != 0;
    return MPI_SUCCESS;
}

API(Test_cancelled)(const MPI_Status *status, int *flag)
{
    int code = mpi__place_ever("MPI_Test_cancelled", status, "status");
    if (!code) code = mpi__place_ever("MPI_Test_cancelled", flag, "flag");
    if (code) return code;
    *flag = status->MPI_internal[2];
    return MPI_SUCCESS;
}
