/* SPDX-License-Identifier: MIT */
/* Attributes of communicators and types: values under keys of the program's, with functions that copy and delete them. */
#include <limits.h>
#include <stdlib.h>

#include "mpi/internal.h"

enum { FIRST_KEY = 1000, KEYS = 4096 };

static struct {
    bool used, freed, types;
    int values; /* that are set: a key that is freed goes with the last of them */
    uintptr_t copy;
    uintptr_t delete;
    void *extra;
} keys[KEYS];

/* Functions of the program's may set and delete other attributes of the same object, so a list is searched again after each of
 * them; the attribute that one is called for stays. */
struct mpi__attribute {
    struct mpi__attribute *next;
    int key;
    void *value;
    bool ending; /* the function that deletes it has been called */
};

/* ---- Keys ---- */

static int create_key(const char *name, uintptr_t copy, uintptr_t delete, int *keyval, void *extra, bool types)
{
    mpi__comm *c;
    int key = 0, code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, keyval, "keyval");
    if (code) return code;
    while (key < KEYS && keys[key].used) key++;
    if (key == KEYS) return mpi__end(c, mpi__no_memory(c));
    keys[key].used = true;
    keys[key].freed = false;
    keys[key].types = types;
    keys[key].values = 0;
    keys[key].copy = copy;
    keys[key].delete = delete;
    keys[key].extra = extra;
    *keyval = FIRST_KEY + key;
    return mpi__end(c, MPI_SUCCESS);
}

API(Comm_create_keyval)
(MPI_Comm_copy_attr_function *copy, MPI_Comm_delete_attr_function *delete, int *keyval, void *extra_state)
{
    return create_key("MPI_Comm_create_keyval", (uintptr_t)copy, (uintptr_t) delete, keyval, extra_state, false);
}

API(Type_create_keyval)
(MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *delete, int *keyval, void *extra_state)
{
    return create_key("MPI_Type_create_keyval", (uintptr_t)copy, (uintptr_t) delete, keyval, extra_state, true);
}

static mpi__attribute *find(mpi__attribute *list, int key)
{
    while (list && list->key != key) list = list->next;
    return list;
}

/* A key that is freed stays known where a value is set under it (MPI 5.0, 7.7.2): list, or NULL. */
static int check_key(mpi__comm *c, int keyval, bool types, mpi__attribute *list, int *key)
{
    *key = keyval - FIRST_KEY;
    if (*key >= 0 && *key < KEYS && keys[*key].used && keys[*key].types == types &&
        (!keys[*key].freed || find(list, *key)))
        return MPI_SUCCESS;
    return mpi__wrong(c, MPI_ERR_KEYVAL, P2P_ARGUMENT_OTHER, "%d is no key of MPI_%s_create_keyval", keyval,
                      types ? "Type" : "Comm");
}

static int free_key(const char *name, int *keyval, bool types)
{
    mpi__comm *c;
    int key, code = mpi__begin_local(&c, name);
    if (!code) code = mpi__place(c, keyval, "keyval");
    if (code) return code;
    code = check_key(c, *keyval, types, NULL, &key);
    if (code) return mpi__end(c, code);
    keys[key].freed = true;
    if (!keys[key].values) keys[key].used = false;
    *keyval = MPI_KEYVAL_INVALID;
    return mpi__end(c, MPI_SUCCESS);
}

API(Comm_free_keyval)(int *keyval)
{
    return free_key("MPI_Comm_free_keyval", keyval, false);
}

API(Type_free_keyval)(int *keyval)
{
    return free_key("MPI_Type_free_keyval", keyval, true);
}

/* ---- Values ---- */

static int call_delete(mpi__attribute *a, uintptr_t handle, bool types)
{
    uintptr_t delete = keys[a->key].delete;
    if (!delete) return MPI_SUCCESS;
    a->ending = true;
    int code = types ? ((MPI_Type_delete_attr_function *)delete)((MPI_Datatype)handle, FIRST_KEY + a->key, a->value,
                                                                 keys[a->key].extra)
                     : ((MPI_Comm_delete_attr_function *)delete)((MPI_Comm)handle, FIRST_KEY + a->key, a->value,
                                                                 keys[a->key].extra);
    a->ending = false;
    return code;
}

static int end_value(mpi__attribute **list, mpi__attribute *a, uintptr_t handle, bool types)
{
    if (!a || a->ending) return MPI_SUCCESS;
    int code = call_delete(a, handle, types);
    if (code) return code;
    while (*list != a) list = &(*list)->next;
    *list = a->next;
    if (--keys[a->key].values == 0 && keys[a->key].freed) keys[a->key].used = false;
    free(a);
    return MPI_SUCCESS;
}

int mpi__attributes_free(mpi__attribute **list, uintptr_t handle, bool types)
{
    int code = MPI_SUCCESS;
    while (*list && !(*list)->ending && !code) code = end_value(list, *list, handle, types);
    return code;
}

int mpi__attribute_failed(mpi__comm *c, int code, const char *does)
{
    return mpi__mistake(c, code, "invalid_argument",
                        "a function of the program's that %s an attribute has returned error %d" MPI__TRY
                        "return MPI_SUCCESS from it",
                        does, code);
}

static int put(mpi__attribute **list, int key, void *value)
{
    mpi__attribute *a = find(*list, key);
    if (!a) {
        a = malloc(sizeof *a);
        if (!a) return MPI_ERR_NO_MEM;
        *a = (mpi__attribute){*list, key, NULL, false};
        *list = a;
        keys[key].values++;
    }
    a->value = value;
    return MPI_SUCCESS;
}

static int copy_value(mpi__attribute **to, const mpi__attribute *from, uintptr_t old_handle, bool types)
{
    const int key = from->key;
    uintptr_t copy = keys[key].copy;
    void *value = from->value, *extra = keys[key].extra;
    int flag = copy == 1, code = MPI_SUCCESS;
    if (copy > 1 && types)
        code = ((MPI_Type_copy_attr_function *)copy)((MPI_Datatype)old_handle, FIRST_KEY + key, extra, from->value,
                                                     &value, &flag);
    else if (copy > 1)
        code = ((MPI_Comm_copy_attr_function *)copy)((MPI_Comm)old_handle, FIRST_KEY + key, extra, from->value, &value,
                                                     &flag);
    return !code && flag ? put(to, key, value) : code;
}

int mpi__attributes_copy(mpi__attribute **to, mpi__attribute *const *from, uintptr_t old_handle, bool types)
{
    size_t count = 0;
    int code = MPI_SUCCESS;
    for (const mpi__attribute *a = *from; a; a = a->next) count++;
    int *present = malloc((count + 1) * sizeof *present);
    if (!present) return MPI_ERR_NO_MEM;
    count = 0;
    for (const mpi__attribute *a = *from; a; a = a->next) present[count++] = a->key;
    for (size_t i = 0; i < count && !code; i++) {
        const mpi__attribute *a = find(*from, present[i]);
        if (a) code = copy_value(to, a, old_handle, types);
    }
    free(present);
    return code;
}

/* An attribute list with what it belongs to, inside a call. */
typedef struct {
    mpi__comm *c;
    mpi__attribute **list;
    uintptr_t handle;
    bool types;
    int key;
} place;

static int open_comm(place *p, const char *name, MPI_Comm comm)
{
    int code = mpi__begin(&p->c, comm, &(p2p_layer_call){.name = name});
    if (code) return code;
    p->list = &p->c->attributes;
    p->handle = (uintptr_t)comm;
    p->types = false;
    return MPI_SUCCESS;
}

static int open_type(place *p, const char *name, MPI_Datatype datatype)
{
    mpi__type *t;
    int code = mpi__begin_local(&p->c, name);
    if (code) return code;
    code = mpi__check_type(p->c, datatype, &t);
    if (code) return mpi__end(p->c, code);
    p->list = &t->attributes;
    p->handle = (uintptr_t)datatype;
    p->types = true;
    return MPI_SUCCESS;
}

static int set(place *p, int keyval, void *value)
{
    int code = check_key(p->c, keyval, p->types, *p->list, &p->key);
    if (code) return mpi__end(p->c, code);
    mpi__attribute *old = find(*p->list, p->key);
    if (old && !old->ending) code = call_delete(old, p->handle, p->types);
    if (code) return mpi__end(p->c, mpi__attribute_failed(p->c, code, "deletes"));
    return mpi__end(p->c, put(p->list, p->key, value) ? mpi__no_memory(p->c) : MPI_SUCCESS);
}

static int get(place *p, int keyval, void *value, int *flag)
{
    int code = check_key(p->c, keyval, p->types, *p->list, &p->key);
    if (code) return mpi__end(p->c, code);
    const mpi__attribute *a = find(*p->list, p->key);
    *flag = a != NULL;
    if (a) *(void **)value = a->value;
    return mpi__end(p->c, MPI_SUCCESS);
}

static int delete_value(place *p, int keyval)
{
    int code = check_key(p->c, keyval, p->types, *p->list, &p->key);
    if (code) return mpi__end(p->c, code);
    code = end_value(p->list, find(*p->list, p->key), p->handle, p->types);
    return mpi__end(p->c, code ? mpi__attribute_failed(p->c, code, "deletes") : MPI_SUCCESS);
}

/* What the standard predefines, of MPI_COMM_WORLD and all others. */
static bool predefined(int keyval, void *value, int *flag)
{
    static int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_PROC_NULL, global = 1, universe, last;
    const struct {
        int key, *at;
    } all[] = {{MPI_TAG_UB, &tag_ub},          {MPI_HOST, &host},        {MPI_IO, &io}, {MPI_WTIME_IS_GLOBAL, &global},
               {MPI_UNIVERSE_SIZE, &universe}, {MPI_LASTUSEDCODE, &last}};
    universe = mpi__world->size;
    last = mpi__last_code();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (all[i].key != keyval) continue;
        *(int **)value = all[i].at;
        *flag = true;
        return true;
    }
    *flag = false;
    return keyval == MPI_APPNUM;
}

API(Comm_set_attr)(MPI_Comm comm, int keyval, void *value)
{
    place p;
    int code = open_comm(&p, "MPI_Comm_set_attr", comm);
    return code ? code : set(&p, keyval, value);
}

API(Comm_get_attr)(MPI_Comm comm, int keyval, void *value, int *flag)
{
    place p;
    int code = open_comm(&p, "MPI_Comm_get_attr", comm);
    if (!code) code = mpi__place(p.c, value, "value");
    if (!code) code = mpi__place(p.c, flag, "flag");
    if (code) return code;
    return predefined(keyval, value, flag) ? mpi__end(p.c, MPI_SUCCESS) : get(&p, keyval, value, flag);
}

API(Comm_delete_attr)(MPI_Comm comm, int keyval)
{
    place p;
    int code = open_comm(&p, "MPI_Comm_delete_attr", comm);
    return code ? code : delete_value(&p, keyval);
}

API(Type_set_attr)(MPI_Datatype datatype, int keyval, void *value)
{
    place p;
    int code = open_type(&p, "MPI_Type_set_attr", datatype);
    return code ? code : set(&p, keyval, value);
}

API(Type_get_attr)(MPI_Datatype datatype, int keyval, void *value, int *flag)
{
    place p;
    int code = open_type(&p, "MPI_Type_get_attr", datatype);
    if (!code) code = mpi__place(p.c, value, "value");
    if (!code) code = mpi__place(p.c, flag, "flag");
    return code ? code : get(&p, keyval, value, flag);
}

API(Type_delete_attr)(MPI_Datatype datatype, int keyval)
{
    place p;
    int code = open_type(&p, "MPI_Type_delete_attr", datatype);
    return code ? code : delete_value(&p, keyval);
}
