/* SPDX-License-Identifier: MIT */
/*
 * What the plain names choose: the table below, by the number of ranks, that of their hosts, and the bytes of the
 * buffer, which are the same on every rank, so that all choose alike.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/internal.h"
#include "ring/internal.h"
#include "ring/ring.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers" /* rows that hold for any number of hosts */

/* Of the rows of an operation the last that applies. Those of all-reduce are measured: first any world, then ranks that
 * share memory, then ranks on several hosts; in each by ranks, then by bytes. */
static const coll_choice choices[] = {
    {"broadcast", false, 1, 0, "tree"}, /* as few messages as naive, and no rank sends them all */
    {"reduce", false, 1, 0, "tree"},    /* the same */
    {"reduce", true, 1, 0, "one-shot", 0, P2P_LAYER_INLINE_MOST}, /* what goes with the agreement needs no message */
    {"reduce", true, 2, 0, "one-shot", 2, P2P_LAYER_INLINE_MOST}, /* the same, on several hosts */
#if __has_include("tuned_choices.inc")
#include "tuned_choices.inc" /* `make tune`, in the folder of the build */
#else
#include "collectives/choices.inc"
#endif
    {"all_reduce", true, 2, 0, "one-shot", 2, P2P_LAYER_INLINE_MOST}, /* as a reduce */
};

enum { CHOICES = sizeof choices / sizeof *choices };

const coll_choice *coll_choices(size_t *rows)
{
    *rows = CHOICES;
    return choices;
}

/* shared: do those of each host share memory? */
static bool applies(const coll_choice *c, int hosts, bool shared, int ranks, size_t bytes)
{
    bool placed = c->hosts ? hosts >= c->hosts && (hosts < ranks || c->shared) : hosts == 1 || !c->shared;
    return placed && (shared || !c->shared) && ranks >= c->ranks && bytes >= c->bytes && (!c->most || bytes <= c->most);
}

static const coll_choice *choose(const char *operation, int hosts, bool shared, int ranks, size_t bytes)
{
    for (int i = CHOICES; i-- > 0;)
        if (strcmp(choices[i].operation, operation) == 0 && applies(&choices[i], hosts, shared, ranks, bytes))
            return &choices[i];
    return NULL;
}

const char *coll_choose_placed(const char *operation, bool shared, int hosts, int ranks, size_t bytes)
{
    const coll_choice *c = choose(operation, hosts, shared, ranks, bytes);
    return c ? c->algorithm : NULL;
}

const char *coll_choose(const char *operation, bool shared, int ranks, size_t bytes)
{
    return coll_choose_placed(operation, shared, 1, ranks, bytes);
}

const char *coll_choose_on_hosts(const char *operation, int hosts, int ranks, size_t bytes)
{
    return coll_choose_placed(operation, false, hosts, ranks, bytes);
}

/* ---- The algorithms by name ---- */

typedef p2p_err (*broadcast)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root);
typedef p2p_err (*reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root);
typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

static const struct {
    const char *name;
    broadcast broadcast;
    reduce reduce;
    all_reduce all_reduce;
    bool (*has_room)(const p2p_comm *comm, size_t element); /* NULL: it has for any */
    p2p_err (*whole)(frame__call *call, void *buf); /* reduce and all-reduce, if it can do without a frame around it */
} algorithms[] = {
    {"one-shot", NULL, NULL, NULL, coll__one_shot_has_room, coll__one_shot},
    {"two-shot", NULL, NULL, NULL, coll__two_shot_has_room, coll__two_shot_all_reduce},
    {"naive", coll_naive_broadcast, coll_naive_reduce, coll_naive_all_reduce, NULL, NULL},
    {"tree", coll_tree_broadcast, coll_tree_reduce, coll_tree_all_reduce, NULL, NULL},
    {"recursive-doubling", NULL, NULL, coll_recursive_doubling_all_reduce, NULL, NULL},
    {"ring", NULL, NULL, ring_all_reduce, NULL, NULL},
    {"leaders", NULL, NULL, coll_leaders_all_reduce, NULL, NULL},
    {"hierarchical", NULL, NULL, NULL, NULL, coll__hierarchical_all_reduce},
};

static size_t row_of(const char *name)
{
    size_t row = 0;
    while (strcmp(algorithms[row].name, name) != 0) row++;
    return row;
}

/* Instead of one that combines in another order than that of the ranks, one that keeps it. */
static const char *keep_order(const frame__call *call, const char *name)
{
    if (!call->has_op || op_commutes(call->op)) return name;
    if (strcmp(name, "ring") == 0 || strcmp(name, "leaders") == 0 || strcmp(name, "hierarchical") == 0) return "tree";
    return strcmp(name, "tree") == 0 && call->has_root && call->root != 0 ? "naive" : name;
}

void coll__needs_room(frame__call *call, bool (*has_room)(const p2p_comm *comm, size_t element))
{
    if (has_room(call->comm, dtype_size(call->dtype))) return;
    call->wrong = "an element of this type is longer than the memory that this algorithm works in";
    call->wrong_argument = P2P_ARGUMENT_TYPE;
    call->advice = "coll_all_reduce or coll_reduce, which then take another";
}

static void explain_choice(const frame__call *call, const coll_choice *c, const char *reason)
{
    char why[100];
    snprintf(why, sizeof why, "%s: from %d rank%s and %zu B on%s%s", reason, c->ranks, c->ranks == 1 ? "" : "s",
             c->bytes, c->shared ? ", in shared memory" : "", c->hosts ? ", on several hosts" : "");
    p2p_layer_explain(call->comm, NULL, why);
}

/* What an operation's choice depends on, for an operator that commutes, and the row of the algorithm. */
typedef struct {
    int ranks, hosts; /* 0: none yet */
    bool shared;
    size_t element, bytes, row;
} choice;

static size_t choose_row(const frame__call *call, const char *operation, const choice *now)
{
    const coll_choice *c = choose(operation, now->hosts, now->shared, now->ranks, now->bytes);
    if (!c) return 0;
    const char *name = keep_order(call, c->algorithm), *reason = name == c->algorithm ? "table" : "keeps the order";
    size_t row = row_of(name);
    if (algorithms[row].has_room && !algorithms[row].has_room(call->comm, now->element)) {
        row = row_of(keep_order(call, "tree"));
        reason = "has room for an element";
    }
    if (p2p_layer_is_explained(call->comm)) explain_choice(call, c, reason);
    return row;
}

/* The row of the algorithm for this call. Wrong arguments choose anything: it will refuse them. To read the table takes a
 * twelfth of a short all-reduce, so it is not read again for what was asked `last`. */
static size_t chosen(const frame__call *call, const char *operation, choice *last)
{
    choice now = {.ranks = p2p_size(call->comm),
                  .hosts = p2p_hosts(call->comm),
                  .shared = frame__has_inline(call->comm),
                  .element = dtype_size(call->dtype)};
    dtype_bytes(call->count, call->dtype, &now.bytes);
    if (!op_commutes(call->op) || p2p_layer_is_explained(call->comm)) return choose_row(call, operation, &now);
    if (now.ranks != last->ranks || now.hosts != last->hosts || now.shared != last->shared ||
        now.element != last->element || now.bytes != last->bytes) {
        now.row = choose_row(call, operation, &now);
        *last = now;
    }
    return last->row;
}

/* ---- The plain names: the agreement includes the algorithm; the named call within adds nothing of its own ---- */

p2p_err coll_broadcast(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, int root)
{
    frame__call call = {
        .comm = comm, .operation = "coll_broadcast", .count = count, .dtype = dtype, .has_root = true, .root = root};
    static _Thread_local choice last;
    size_t row = chosen(&call, "broadcast", &last);
    call.algorithm = algorithms[row].name;
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    return frame__end(&call, algorithms[row].broadcast(comm, buf, count, dtype, root), NULL);
}

p2p_err coll_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, int root)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_reduce",
                        .count = count,
                        .dtype = dtype,
                        .has_op = true,
                        .op = op,
                        .has_root = true,
                        .root = root};
    static _Thread_local choice last;
    size_t row = chosen(&call, "reduce", &last);
    call.algorithm = algorithms[row].name;
    if (algorithms[row].whole) return algorithms[row].whole(&call, buf);
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    return frame__end(&call, algorithms[row].reduce(comm, buf, count, dtype, op, root), NULL);
}

p2p_err coll_all_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    frame__call call = {
        .comm = comm, .operation = "coll_all_reduce", .count = count, .dtype = dtype, .has_op = true, .op = op};
    static _Thread_local choice last;
    size_t row = chosen(&call, "all_reduce", &last);
    call.algorithm = algorithms[row].name;
    if (algorithms[row].whole) return algorithms[row].whole(&call, buf);
    p2p_err err = frame__begin(&call, FRAME_NOTHING, (frame__span){buf, count});
    if (err) return err;
    return frame__end(&call, algorithms[row].all_reduce(comm, buf, count, dtype, op), NULL);
}

/* Always the ring: the one all-reduce that there is as a request. */
p2p_err coll_iall_reduce(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op, p2p_request *request)
{
    frame__call call = {.comm = comm,
                        .operation = "coll_iall_reduce",
                        .algorithm = "ring",
                        .count = count,
                        .dtype = dtype,
                        .op = op,
                        .request = request};
    return ring__iall_reduce(&call, buf);
}
