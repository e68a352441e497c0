/* SPDX-License-Identifier: MIT */
/* Info objects: keys and values, in the order in which they were set. No hint is known: they are kept, no more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/internal.h"

typedef struct {
    char *key, *value;
} pair;

typedef struct {
    mpi__object object;
    pair *pairs;
    int count;
} info;

static info environment = {.object = {.magic = MPI__LIVE | MPI__INFO, .references = 1}};

static int begin(const char *name, MPI_Info handle, mpi__comm **c, info **i)
{
    bool freed = false;
    int code = mpi__begin_ever(c, name);
    if (code) return code;
    *i = handle == MPI_INFO_ENV ? &environment : mpi__object_of(MPI__INFO, handle, &freed);
    if (*i) return MPI_SUCCESS;
    return mpi__end(*c, mpi__wrong(*c, MPI_ERR_INFO, P2P_ARGUMENT_OTHER, "%s",
                                   freed ? "the info has been freed" : "this is no info"));
}

static pair *find(const info *i, const char *key)
{
    for (int k = 0; k < i->count; k++)
        if (strcmp(i->pairs[k].key, key) == 0) return &i->pairs[k];
    return NULL;
}

static bool put(info *i, const char *key, const char *value)
{
    pair *at = find(i, key);
    char *copy = strdup(value);
    if (at && copy) {
        free(at->value);
        at->value = copy;
        return true;
    }
    pair *more = copy ? realloc(i->pairs, ((size_t)i->count + 1) * sizeof *more) : NULL;
    if (more) i->pairs = more;
    char *name = more ? strdup(key) : NULL;
    if (!name) {
        free(copy);
        return false;
    }
    i->pairs[i->count++] = (pair){name, copy};
    return true;
}

API(Info_create)(MPI_Info *handle)
{
    mpi__comm *c;
    int code = mpi__begin_ever(&c, "MPI_Info_create");
    if (!code) code = mpi__place(c, handle, "info");
    if (code) return code;
    info *i = mpi__object_new(MPI__INFO, sizeof *i);
    if (!i) return mpi__end(c, mpi__no_memory(c));
    *handle = (MPI_Info)(void *)i;
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_set)(MPI_Info handle, const char *key, const char *value)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_set", handle, &c, &i);
    if (code) return code;
    if (strlen(key) >= MPI_MAX_INFO_KEY || !*key)
        code = mpi__wrong(c, MPI_ERR_INFO_KEY, P2P_ARGUMENT_OTHER, "a key has 1 to %d letters", MPI_MAX_INFO_KEY - 1);
    else if (strlen(value) >= MPI_MAX_INFO_VAL)
        code = mpi__wrong(c, MPI_ERR_INFO_VALUE, P2P_ARGUMENT_OTHER, "a value has at most %d letters",
                          MPI_MAX_INFO_VAL - 1);
    else if (!put(i, key, value))
        code = mpi__no_memory(c);
    return mpi__end(c, code);
}

API(Info_get)(MPI_Info handle, const char *key, int valuelen, char *value, int *flag)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_get", handle, &c, &i);
    if (!code) code = mpi__place(c, value, "value");
    if (!code) code = mpi__place(c, flag, "flag");
    if (code) return code;
    const pair *at = find(i, key);
    *flag = at != NULL;
    if (at) snprintf(value, (size_t)valuelen + 1, "%s", at->value);
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_get_string)(MPI_Info handle, const char *key, int *buflen, char *value, int *flag)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_get_string", handle, &c, &i);
    if (!code) code = mpi__place(c, buflen, "buflen");
    if (!code) code = mpi__place(c, flag, "flag");
    if (code) return code;
    const pair *at = find(i, key);
    *flag = at != NULL;
    if (at && *buflen > 0) snprintf(value, (size_t)*buflen, "%s", at->value);
    if (at) *buflen = (int)strlen(at->value) + 1;
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_get_valuelen)(MPI_Info handle, const char *key, int *valuelen, int *flag)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_get_valuelen", handle, &c, &i);
    if (!code) code = mpi__place(c, valuelen, "valuelen");
    if (!code) code = mpi__place(c, flag, "flag");
    if (code) return code;
    const pair *at = find(i, key);
    *flag = at != NULL;
    if (at) *valuelen = (int)strlen(at->value);
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_delete)(MPI_Info handle, const char *key)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_delete", handle, &c, &i);
    if (code) return code;
    pair *at = find(i, key);
    if (!at)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_INFO_NOKEY, P2P_ARGUMENT_OTHER, "there is no key \"%.100s\"", key));
    free(at->key);
    free(at->value);
    memmove(at, at + 1, (size_t)(i->pairs + --i->count - at) * sizeof *at);
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_get_nkeys)(MPI_Info handle, int *nkeys)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_get_nkeys", handle, &c, &i);
    if (!code) code = mpi__place(c, nkeys, "nkeys");
    if (code) return code;
    *nkeys = i->count;
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_get_nthkey)(MPI_Info handle, int n, char *key)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_get_nthkey", handle, &c, &i);
    if (!code) code = mpi__place(c, key, "key");
    if (code) return code;
    if (n < 0 || n >= i->count)
        return mpi__end(c, mpi__wrong(c, MPI_ERR_ARG, P2P_ARGUMENT_OTHER, "key %d is not in [0,%d)", n, i->count));
    snprintf(key, MPI_MAX_INFO_KEY, "%s", i->pairs[n].key);
    return mpi__end(c, MPI_SUCCESS);
}

API(Info_dup)(MPI_Info handle, MPI_Info *newinfo)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_dup", handle, &c, &i);
    if (!code) code = mpi__place(c, newinfo, "newinfo");
    if (code) return code;
    info *copy = mpi__object_new(MPI__INFO, sizeof *copy);
    for (int k = 0; copy && k < i->count; k++) put(copy, i->pairs[k].key, i->pairs[k].value);
    if (!copy || copy->count != i->count) return mpi__end(c, mpi__no_memory(c));
    *newinfo = (MPI_Info)(void *)copy;
    return mpi__end(c, MPI_SUCCESS);
}

static void clear(info *i)
{
    for (int k = 0; k < i->count; k++) {
        free(i->pairs[k].key);
        free(i->pairs[k].value);
    }
    free(i->pairs);
}

bool mpi__info_keep(MPI_Info *kept, MPI_Info from)
{
    bool freed;
    const info *given = mpi__object_of(MPI__INFO, from, &freed);
    info *to = mpi__object_of(MPI__INFO, *kept, &freed);
    if (!to && given) to = mpi__object_new(MPI__INFO, sizeof *to);
    if (!given || !to) return !given;
    *kept = (MPI_Info)(void *)to;
    bool done = true;
    for (int k = 0; k < given->count && done; k++) done = put(to, given->pairs[k].key, given->pairs[k].value);
    return done;
}

void mpi__info_drop(MPI_Info *kept)
{
    bool freed;
    info *i = mpi__object_of(MPI__INFO, *kept, &freed);
    *kept = MPI_INFO_NULL;
    if (!i) return;
    clear(i);
    mpi__object_free(i);
}

API(Info_free)(MPI_Info *handle)
{
    mpi__comm *c;
    info *i;
    int code = begin("MPI_Info_free", handle ? *handle : MPI_INFO_NULL, &c, &i);
    if (code || !handle) return code;
    clear(i);
    if (i != &environment) mpi__object_free(i);
    *handle = MPI_INFO_NULL;
    return mpi__end(c, MPI_SUCCESS);
}

/* The command is not known to the ranks: an empty one, as MPI_INFO_ENV. */
API(Info_create_env)(int argc, char *argv[], MPI_Info *handle)
{
    (void)argc;
    (void)argv;
    return PMPI_Info_create(handle);
}

API(Get_hw_resource_info)(MPI_Info *handle)
{
    return PMPI_Info_create(handle);
}
