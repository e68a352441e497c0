/* SPDX-License-Identifier: MIT */
/* keys_in_use: a key that is freed goes with the last value that is set under it; until then it names them. */
// ranks: 2
#include <mpi.h>
#include <stdlib.h>

static int deleted;

static int count(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

static void check(int holds)
{
    if (!holds) abort();
}

int main(int argc, char **argv)
{
    int key, copy, found = 0, value = 7, *got = NULL;
    MPI_Comm one, two;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_set_attr(one, key, &value);
    copy = key;
    MPI_Comm_free_keyval(&key);
    check(key == MPI_KEYVAL_INVALID);
    MPI_Comm_dup(one, &two);
    MPI_Comm_get_attr(two, copy, &got, &found);
    check(found && got == &value);
    MPI_Comm_delete_attr(one, copy);
    check(deleted == 1);
    MPI_Comm_free(&one);
    MPI_Comm_free(&two);
    check(deleted == 2);
    MPI_Finalize();
    return 0;
}
