/* SPDX-License-Identifier: MIT */
/* Handles as numbers, for other languages: those of predefined objects are numbers already, others get one when asked. */
#include <stdlib.h>

#include "mpi/internal.h"

enum { FIRST = 0x1000 };

static struct {
    const void **list;
    int count, room;
} table;

static int number_of(const void *handle)
{
    if ((uintptr_t)handle < FIRST) return (int)(uintptr_t)handle;
    for (int i = 0; i < table.count; i++)
        if (table.list[i] == handle) return FIRST + i;
    if (table.count == table.room) {
        int room = 2 * table.room + 64;
        const void **more = realloc(table.list, (size_t)room * sizeof *more);
        if (!more) return 0;
        table.list = more;
        table.room = room;
    }
    table.list[table.count] = handle;
    return FIRST + table.count++;
}

static void *handle_of(int number)
{
    if (number >= FIRST && number - FIRST < table.count) return (void *)(uintptr_t)table.list[number - FIRST];
    return (void *)(uintptr_t)(unsigned)number;
}

#define NUMBERS(type, name)                    \
    MPI__API(int, name##_toint)(type handle)   \
    {                                          \
        return number_of(handle);              \
    }                                          \
    MPI__API(type, name##_fromint)(int number) \
    {                                          \
        return (type)handle_of(number);        \
    }

NUMBERS(MPI_Comm, Comm)
NUMBERS(MPI_Errhandler, Errhandler)
NUMBERS(MPI_Group, Group)
NUMBERS(MPI_Info, Info)
NUMBERS(MPI_Message, Message)
NUMBERS(MPI_Op, Op)
NUMBERS(MPI_Request, Request)
NUMBERS(MPI_Datatype, Type)
NUMBERS(MPI_Session, Session)
