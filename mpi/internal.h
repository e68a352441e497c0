/* SPDX-License-Identifier: MIT */
/*
 * internal: the objects behind MPI's handles, and how every MPI call begins and ends.
 *
 *      int MPI_X(...)
 *      {
 *          mpi__comm *c;
 *          int code = mpi__begin(&c, handle, &(p2p_layer_call){"MPI_X", ...});       a usable communicator, or an error
 *          if (code) return code;
 *          if (something is wrong) return mpi__end(c, mpi__wrong(c, MPI_ERR_..., P2P_ARGUMENT_..., "..."));
 *          return mpi__end(c, mpi__p2p(c, p2p_...(c->p2p, ...)));
 *      }
 *
 * A code is an MPI error class; it goes with a cause that p2p keeps until the call ends. By default that ends the job
 * there; what returns is for MPI_ERRORS_RETURN and handlers of the program's.
 *
 * A handle is a small number for what the standard predefines, else the address of its object. Each object says what it is,
 * and those that are freed stay recognisable for a long while: their memory is given out again only to their kind, the
 * oldest first.
 */
#ifndef PAIRWISE_MPI_INTERNAL_H
#define PAIRWISE_MPI_INTERNAL_H

#define PAIRWISE_MPI_NO_LINES 1
#define P2P_NO_LINES 1
#define P2P_NO_LAYER_LINES 1

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collectives/collectives.h"
#include "mpi/mpi.h"
#include "p2p/p2p_layer.h"

/* Defines PMPI_NAME, and MPI_NAME as a weak name of the same; their section is how lines.c knows them. */
#define MPI__PRAGMA(text) _Pragma(#text)
#define MPI__API(type, name)                   \
    MPI__PRAGMA(weak MPI_##name = PMPI_##name) \
    __attribute__((section("pairwise_mpi"))) type PMPI_##name
#define API(name) MPI__API(int, name)

/* ---- Objects ---- */

/* In the sentences of mpi__wrong and mpi__mistake: what to try follows. */
#define MPI__TRY "\n  try: "

enum mpi__kind {
    MPI__COMM,
    MPI__TYPE,
    MPI__OP,
    MPI__REQUEST,
    MPI__GROUP,
    MPI__HANDLER,
    MPI__INFO,
    MPI__MESSAGE,
    MPI__SESSION,
    MPI__KINDS
};

typedef struct mpi__object {
    uint32_t magic; /* MPI__LIVE or MPI__FREED, and the kind */
    int references;
    struct mpi__object *next; /* freed ones of the kind */
    p2p_layer_thing thing;
} mpi__object;

#define MPI__LIVE UINT32_C(0x4d504c00)
#define MPI__FREED UINT32_C(0x4d504600)

/* A new object, zeroed but for its head, with one reference; NULL if there is no memory. mpi__release: one reference less;
 * true if it was the last: its owner then gives back what the object has and calls mpi__object_free. */
void *mpi__object_new(enum mpi__kind kind, size_t bytes);
void mpi__object_free(void *object);
bool mpi__release(void *object);

/* What a handle that is no small number stands for; NULL, and *freed says whether it was one once. */
void *mpi__object_of(enum mpi__kind kind, const void *handle, bool *freed);

/* ---- Types ---- */

/* Pieces of so many bytes, `times` of them, `stride` apart. */
typedef struct {
    ptrdiff_t offset;
    size_t bytes, times;
    ptrdiff_t stride;
} mpi__segment;

enum { MPI__SENT_SYNCHRONOUSLY = 0x4000 }; /* in a message's kind: its sender waits until it is received */

/* What elements are made of: a sequence of predefined types, by the low bytes of their handles, repeated. */
typedef struct mpi__signature {
    struct mpi__signature *next; /* of the same place in the table of all */
    uint32_t hash;
    const struct mpi__signature
        *like;        /* the same of types that stand for all that match them (types.c); often itself */
    const char *name; /* a literal, or one that stays for ever: "MPI_INT", "{MPI_INT,MPI_DOUBLE}" */
    uint16_t kind;    /* as messages carry it; 0: anything may be in it; never MPI__SENT_SYNCHRONOUSLY */
    size_t length, bytes;
    unsigned char codes[];
} mpi__signature;

typedef struct mpi__attribute mpi__attribute;

typedef struct mpi__type {
    mpi__object object;
    MPI_Datatype handle;
    MPI_Datatype like; /* the predefined type that it is: itself, or one of fortran.c's; NULL: derived */
    char name[MPI_MAX_OBJECT_NAME];
    size_t size;
    ptrdiff_t lb, extent, true_lb, true_extent;
    const mpi__signature *signature;
    size_t units;           /* times the signature */
    mpi__segment *segments; /* of one element, in order */
    size_t segment_count;
    bool dense;    /* elements lie side by side, without gaps */
    bool overlaps; /* parts of an element do: nothing may be received there */
    bool predefined, committed;
    bool fixed; /* its extent was given, and is not rounded up */
    size_t alignment;
    int handles; /* that the program has; other types and requests may need it when there is none */
    int combiner, int_count, aint_count, type_count; /* how it was made */
    int *ints;
    MPI_Aint *aints;
    struct mpi__type **types;
    mpi__attribute *attributes;
} mpi__type;

void mpi__types_open(void);
mpi__type *mpi__type_of(MPI_Datatype handle); /* NULL: no type */
/* The predefined one that was asked for last: most programs go on with it. */
extern struct mpi__recent {
    MPI_Datatype handle;
    mpi__type *type;
} mpi__recent;
static inline mpi__type *mpi__type_quick(MPI_Datatype handle)
{
    return mpi__recent.type && mpi__recent.handle == handle ? mpi__recent.type : mpi__type_of(handle);
}
void mpi__type_keep(mpi__type *type);
void mpi__type_drop(mpi__type *type);
/* The size of predefined type number `code`; and its name. */
size_t mpi__basic_size(unsigned char code);
const char *mpi__basic_name(unsigned char code);
enum {
    MPI__CODES_MOST =
        1 << 20 /* of a signature that is more than one type again and again; a longer one is not compared */
};
/* The signature of so many codes, of which there is one object each; NULL if there is no memory. *times: how often. */
const mpi__signature *mpi__signature_of(const unsigned char *codes, size_t count, size_t *times);
/* The kind that a message of so many bytes must have that is received as elements of this type; 0: it may have any. */
uint16_t mpi__expected_kind(const mpi__type *type, size_t bytes);
const char *mpi__kind_name(uint16_t kind);
bool mpi__same_kind(uint16_t a, uint16_t b);
/* For a sentence; NULL: they do not. */
const char *mpi__kinds_differ(uint16_t expected, uint16_t came);
static inline bool mpi__is_one_piece(const mpi__type *type, size_t count)
{
    return type->dense || (count == 1 && type->segment_count == 1 && type->segments->times == 1);
}
/* Where the bytes of dense elements begin. */
static inline void *mpi__data(const mpi__type *type, const void *buf)
{
    return (char *)(uintptr_t)buf + (type->segment_count ? type->segments[0].offset : 0);
}
void mpi__pack(const mpi__type *type, const void *buf, size_t count, void *packed);
/* As many elements as `bytes` bytes have, the last perhaps in part. */
void mpi__unpack(const mpi__type *type, void *buf, const void *packed, size_t bytes);

/* ---- Communicators, groups, handlers ---- */

typedef struct mpi__group {
    mpi__object object;
    int size, rank; /* MPI_UNDEFINED: not in it */
    int *world;     /* ranks */
} mpi__group;

typedef struct mpi__handler {
    mpi__object object;
    MPI_Comm_errhandler_function *function;
} mpi__handler;

typedef struct mpi__cart {
    int dimensions;
    int *sizes, *periodic, *coords;
} mpi__cart;

typedef struct mpi__buffer mpi__buffer;
typedef struct mpi__graph mpi__graph;

typedef struct mpi__comm {
    mpi__object object;
    MPI_Comm handle;
    p2p_comm *p2p;
    int rank, size;
    int code; /* of the error that is being dealt with */
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Errhandler handler;
    mpi__attribute *attributes;
    mpi__cart *cart;
    mpi__graph *graph;
    struct mpi__taken *taken; /* [size] by messages' senders; NULL: no receive from any source has ended */
    mpi__buffer *buffer;      /* for buffered sends; NULL: the process's */
    MPI_Info info;
} mpi__comm;

extern mpi__comm *mpi__world, *mpi__self; /* NULL before MPI_Init */

enum mpi__state { MPI__BEFORE, MPI__RUNNING, MPI__AFTER };
extern enum mpi__state mpi__state;
extern pthread_t mpi__thread; /* the one that has called MPI_Init */
extern pid_t mpi__process;    /* its process: memory of one that is forked is its own */
extern int mpi__thread_level;

/* What MPI_Init and the first session do: mpi__state is MPI__RUNNING afterwards, or the process has ended. */
void mpi__open(const char *name);
extern int mpi__open_sessions; /* that are open */
int mpi__last_session_ends(const char *file, int line);

mpi__comm *mpi__comm_of(MPI_Comm handle); /* NULL: none */
mpi__comm *mpi__comm_new(p2p_comm *p2p, const mpi__comm *parent);
/* MPI_Comm_split under any name, outside of calls. */
int mpi__split(mpi__comm *c, const char *name, int colour, int key, MPI_Comm *newcomm);
int mpi__split_alike(mpi__comm *c, const char *name, int colour, int key, int size, const char *differs,
                     MPI_Comm *newcomm);
void mpi__comm_keep(mpi__comm *comm);
void mpi__comm_drop(mpi__comm *comm);
/* Outside of calls: those that nothing refers to any more; and first what has ended without the program, which may have been the
 * last to do so. */
void mpi__comms_bury(void);
void mpi__comms_reclaim(void);
mpi__group *mpi__group_of(MPI_Group handle);
mpi__group *mpi__group_new(int size);
int mpi__group_of_all(mpi__comm *c, const mpi__comm *of, MPI_Group *group); /* of's ranks; inside a call on c */
/* MPI_Comm_create_group under any name, outside of calls. */
int mpi__create_group(const char *name, mpi__comm *c, MPI_Group group, int tag, MPI_Comm *newcomm);
/* The code of the first function of the program's that has failed, or MPI_SUCCESS; attribute_failed says so, in a call. */
int mpi__attributes_copy(mpi__attribute **to, mpi__attribute *const *from, uintptr_t old_handle, bool types);
int mpi__attributes_free(mpi__attribute **list, uintptr_t handle, bool types);
int mpi__attribute_failed(mpi__comm *c, int code, const char *does);
/* Puts what `from` has into *kept, which is made if it is MPI_INFO_NULL; false if there is no memory. At any time. */
bool mpi__info_keep(MPI_Info *kept, MPI_Info from);
void mpi__info_drop(MPI_Info *kept);
int mpi__cart_copy(mpi__comm *to, const mpi__comm *from);
void mpi__cart_free(mpi__comm *comm);
int mpi__graph_copy(mpi__comm *to, const mpi__comm *from);
int mpi__graph_topology(const mpi__comm *comm); /* MPI_UNDEFINED: none */
/* A handler of the program's; at any time. */
int mpi__handler_new(MPI_Comm_errhandler_function *function, MPI_Errhandler *errhandler);
/* One of the predefined handlers, or the program's own: *h. */
bool mpi__is_handler(MPI_Errhandler handler, mpi__handler **h);

/* ---- How a call begins and ends ---- */

/* Is MPI running, and is this a communicator? If not, deals with that error and returns its code. */
int mpi__begin(mpi__comm **comm, MPI_Comm handle, const p2p_layer_call *call);
/* Of a request, whose communicator the program may have freed. */
int mpi__begin_on(mpi__comm *c, const p2p_layer_call *call);
/* For calls without a communicator: the world's. */
int mpi__begin_local(mpi__comm **comm, const char *name);
/* For calls that the standard allows at any time: *comm is NULL before MPI_Init and after MPI_Finalize, where an error ends the
 * process. */
int mpi__begin_ever(mpi__comm **comm, const char *name);
void mpi__close(mpi__comm *comm, int code);
static inline int mpi__end(mpi__comm *comm, int code)
{
    mpi__close(comm, code);
    return code;
}
/* c's call ends with an error of an operation on another communicator: that one's handler deals with it. */
int mpi__end_as(mpi__comm *comm, mpi__comm *own, const char *name, int code);
/* For collectives, which p2p begins and ends: is everything in order so far? And at the end: what an error means. */
int mpi__check_state(const char *name);
int mpi__failed(mpi__comm *comm, p2p_err err);
static inline int mpi__ended(mpi__comm *comm, p2p_err err)
{
    return err ? mpi__failed(comm, err) : MPI_SUCCESS;
}

/* An error of the program's, with its cause, inside begin and end; each is the code. */
void mpi__say_wrong(mpi__comm *comm, p2p_argument argument, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mpi__say_mistake(mpi__comm *comm, const char *class, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void mpi__say_no_memory(mpi__comm *comm);
#define mpi__wrong(comm, code, ...) (mpi__say_wrong(comm, __VA_ARGS__), (code))
#define mpi__mistake(comm, code, ...) (mpi__say_mistake(comm, __VA_ARGS__), (code))
#define mpi__no_memory(comm) (mpi__say_no_memory(comm), MPI_ERR_NO_MEM)
/* What an error of p2p's is in MPI. */
int mpi__p2p(mpi__comm *comm, p2p_err err);
int mpi__code_of(p2p_err err);
/* What MPI_Error_string says of this code from now on: the whole of the last error that a call has returned with it. */
void mpi__keep_text(int code, const char *text);
/* MPI_LASTUSEDCODE: the highest that there is now, with those that the program has added. */
int mpi__last_code(void);

/* A call of what there is not: always an error. */
int mpi__left_out(const char *name, const char *what);

/* Checks, inside begin and end: MPI_SUCCESS, or the error. */
int mpi__check_type(mpi__comm *c, MPI_Datatype handle, mpi__type **type);
int mpi__check_data(mpi__comm *c, const void *buf, MPI_Count count, MPI_Datatype handle, mpi__type **type);
int mpi__check_peer(mpi__comm *c, int peer, int tag, bool receives);
int mpi__check_pointer(mpi__comm *c, const void *pointer, const char *what);
/* Inside begin and end: a place for an answer that is NULL ends the call with an error, which is returned. */
int mpi__place(mpi__comm *c, const void *place, const char *what);
/* The same for a call that may come at any time, outside of begin and end. */
int mpi__place_ever(const char *name, const void *place, const char *what);

/* ---- Messages ---- */

/* The arguments of a call that sends or receives. */
typedef struct {
    const char *name;
    const void *buf;
    MPI_Count count;
    MPI_Datatype datatype;
    int peer, tag;
    MPI_Comm comm;
    bool synchronous;
} mpi__envelope;

/* Begins the call; all arguments are right, or it has ended with the code. */
int mpi__message_begin(const mpi__envelope *m, bool receives, mpi__comm **c, mpi__type **type);

/* What is to be sent, as one piece: where it lies, or a copy of it, which is `owned`. */
typedef struct {
    void *at, *owned;
    size_t bytes;
} mpi__piece;

int mpi__piece_out(mpi__comm *c, const mpi__type *type, const void *buf, size_t count, mpi__piece *piece);
/* Where to receive; both refuse a buffer that an operation has. piece_in_done puts `bytes` bytes of it in place. */
int mpi__piece_in(mpi__comm *c, const mpi__type *type, void *buf, size_t count, mpi__piece *piece);
void mpi__piece_in_done(const mpi__type *type, void *buf, mpi__piece *piece, size_t bytes);

void mpi__set_status(MPI_Status *status, const p2p_status *from);
void mpi__empty_status(MPI_Status *status, int source);
void mpi__copy_status(MPI_Status *status, const MPI_Status *from); /* all but MPI_ERROR; from: no MPI_STATUS_IGNORE */
/* After a receive: is what came what was asked for? */
bool mpi__is_expected(const mpi__type *type, const p2p_status *got, uint16_t kind);
int mpi__check_received(mpi__comm *c, const mpi__type *type, const p2p_status *got, uint16_t kind);
static inline int mpi__source(int source)
{
    return source == MPI_ANY_SOURCE ? P2P_ANY_SOURCE : source;
}
static inline int mpi__tag(int tag)
{
    return tag == MPI_ANY_TAG ? P2P_ANY_TAG : tag;
}

/* t may be NULL. */
static inline p2p_layer_call mpi__call_of(const mpi__envelope *m, bool receives, const mpi__type *t)
{
    return (p2p_layer_call){.name = m->name,
                            .shape = receives ? P2P_CALL_RECV : P2P_CALL_SEND,
                            .peer = receives ? mpi__source(m->peer) : m->peer,
                            .tag = mpi__tag(m->tag),
                            .bytes = t ? t->size * (size_t)m->count : 0,
                            .guards = t && mpi__is_one_piece(t, (size_t)m->count),
                            .kind = (t ? t->signature->kind : 0) | (m->synchronous ? MPI__SENT_SYNCHRONOUSLY : 0)};
}

extern bool mpi__looks; /* some of the program was compiled to be looked at: without that no region is opened */
extern int mpi__collectives_pending; /* open regions of collectives, which are open always */

/* All arguments are right, no collective is under way, and the data lies in one piece: the message can be a call of its own (p2p_layer_send_as). */
static inline bool mpi__is_plain(const mpi__envelope *m, bool receives, mpi__comm **c, mpi__type **type)
{
    if (mpi__state != MPI__RUNNING || mpi__collectives_pending || mpi__looks) return false;
    *c = m->comm == MPI_COMM_WORLD ? mpi__world : mpi__comm_of(m->comm);
    *type = mpi__type_quick(m->datatype);
    return *c && *type && (*type)->committed && m->count >= 0 && mpi__is_one_piece(*type, (size_t)m->count) && m->buf &&
           m->buf != MPI_IN_PLACE && (m->tag >= 0 || (receives && m->tag == MPI_ANY_TAG)) && m->peer < (*c)->size &&
           (m->peer >= 0 || (receives && m->peer == MPI_ANY_SOURCE));
}

/* ---- region.c: buffers that operations have until they end ---- */

struct mpi__request;

/* It is in a list of all, of which accesses.c looks whether the program touches one. */
typedef struct mpi__region {
    struct mpi__region *next, **link; /* NULL: it is not open */
    uintptr_t begin, end;             /* it lies in here */
    bool received;                    /* may not even be read */
    bool collective, is_status;
    const mpi__type *type; /* of `count` elements from buf on; NULL: of blocks */
    const char *buf;
    size_t count;
    const struct mpi__blocks *blocks;
    mpi__comm *comm; /* of the operation */
    const char *name, *file;
    int line;
} mpi__region;

/* All open regions lie between these. */
extern uintptr_t mpi__regions_begin, mpi__regions_end;

/* Its buffer, and received, are set; the rest is the request's. */
void mpi__region_open(mpi__region *region, const struct mpi__request *request);
void mpi__region_close(mpi__region *region);
/* A status, whose source and tag the program may look at, which closes it. */
void mpi__region_of_status(mpi__region *region, const MPI_Status *status);
static inline bool mpi__may_be_pending(const void *at, size_t bytes)
{
    return (uintptr_t)at < mpi__regions_end && (uintptr_t)at + bytes > mpi__regions_begin;
}
/* An instruction at `from` has accessed these bytes, which may be pending: if it may not, that ends the job. anybody: not only the
 * program, but a function of mpi/ may have done so. */
void mpi__touched(uintptr_t at, size_t bytes, bool writes, const void *from, bool anybody);
/* The program frees these bytes, in a function `how` that returns to `from`: the same. */
void mpi__freed(uintptr_t at, size_t bytes, const char *how, const void *from);
/* heap.c, if mpicc has linked it; NULL: nothing is known of the heap. The block that has this byte: false if there is none. */
extern bool (*mpi__block_of)(uintptr_t at, uintptr_t *begin, uintptr_t *end);
/* Does one of these elements have one of the bytes? */
bool mpi__have(const mpi__type *type, const char *buf, size_t count, uintptr_t at, size_t bytes);
/* An open one that has one of these bytes, and may not be accessed so; NULL: there is none. */
mpi__region *mpi__region_at(uintptr_t at, size_t bytes, bool writes);

/* Where the call that has begun is going to put a request; NULL: nowhere. */
extern const MPI_Request *mpi__stores;
/* May a call that begins now have these elements? MPI_SUCCESS, or the error: an operation that is under way has some. */
int mpi__messages_left(void); /* at the end, in a call: is there one that a probe took and nothing has received? */
/* The data of rank q's block begins at `at`, by this displacement from buf on: in the same block of the heap, if buf is in one. */
int mpi__check_displacement(mpi__comm *c, const void *buf, const void *at, int q, int displacement);
int mpi__check_unused(mpi__comm *c, const mpi__type *type, const void *buf, size_t count, bool writes);

/* ---- race.c: receives from any source that only took the right message by luck ---- */

typedef struct {
    mpi__comm *c;
    int source, tag; /* as asked for */
    uint64_t posted; /* in the order in which receives were */
    const char *name, *file;
    int line;
    size_t room; /* bytes */
    mpi__type *type;
} mpi__receive;

typedef struct mpi__taken mpi__taken;

extern uint64_t mpi__receives; /* posted so far */
extern bool mpi__races_open;
/* This rank does something that others may wait for. */
void mpi__races_close(void);
static inline void mpi__acts(void)
{
    if (mpi__races_open) mpi__races_close();
}
/* `got` has come, as this kind; status is the program's. */
void mpi__race_received(mpi__comm *c, const mpi__receive *r, const p2p_status *got, uint16_t kind, MPI_Status *status);
/* The program learns who has sent this. */
void mpi__race_adapts(mpi__comm *c, int source);
void mpi__races_forget(mpi__comm *c); /* it is freed */
int mpi__races_tell(void);            /* at the end: MPI_SUCCESS, or the error */

/* ---- Requests ---- */

enum mpi__mode { MPI__STANDARD, MPI__SYNCHRONOUS, MPI__READY, MPI__BUFFERED, MPI__COPIED /* standard, of a copy */ };

typedef struct mpi__plan mpi__plan; /* persistent.c: of a persistent collective */

typedef struct mpi__request {
    mpi__object object;
    p2p_request p2p; /* NULL: nothing is under way */
    mpi__comm *comm;
    mpi__type *type;
    bool receives, persistent, active, collective, cancelled;
    uint64_t posted; /* of a receive */
    bool started;    /* once, if it is persistent */
    struct {
        const char *file;
        int line;
    } awaited;       /* where it was waited for, or asked about, before that; line 0: nowhere */
    bool orphan;     /* the program has freed it: it has no handle any more */
    uint64_t listed; /* the last call that has it in its list */
    enum mpi__mode mode;
    void *buf;
    size_t count;
    int peer, tag;
    mpi__piece piece;
    mpi__region region;
    /* Of a collective: what is left to do when it has ended. */
    int (*finish)(struct mpi__request *request, bool stores);
    void *state;
    mpi__plan *plan;
    const char *name, *file; /* what began it, and where */
    int line;
    bool has_kept; /* MPI_Request_get_status has ended it, with this status */
    MPI_Status kept;
} mpi__request;

mpi__request *mpi__request_new(mpi__comm *c);
mpi__request *mpi__request_of(MPI_Request handle, bool *freed);
void mpi__request_free(mpi__request *request);
/* Its operation has ended so: the rest of it, and its status. Returns the code. */
int mpi__request_finish(mpi__request *r, p2p_err err, const p2p_status *got, uint16_t kind, MPI_Status *status);
/* What a handle stands for: *r NULL for MPI_REQUEST_NULL; or an error. */
int mpi__request_look(mpi__comm *c, MPI_Request handle, mpi__request **r);
/* The communicator for a call on these: that of the first that is under way; else of the first; else the world. */
mpi__comm *mpi__requests_comm(int count, const MPI_Request requests[]);
/* Of a persistent collective, outside of calls: begin it once more. */
int mpi__plan_start(mpi__request *request);
void mpi__plan_free(mpi__plan *plan);
void mpi__orphans_end(void);
void mpi__orphans_reap(void); /* those that have ended */
int mpi__bsend(mpi__comm *c, mpi__piece *piece, int dest, int tag, uint16_t kind);
bool mpi__bsends_end(void);
void mpi__bsends_reap(void);         /* those that have been received */
void mpi__buffer_drop(mpi__comm *c); /* what MPI_Comm_free does with the communicator's */

/* ---- Operators ---- */

typedef struct mpi__op {
    mpi__object object;
    MPI_Op handle;
    const char *name;
    MPI_User_function *function; /* NULL: predefined */
    MPI_User_function_c *large;  /* the same, if its count is an MPI_Count */
    bool commutes;
} mpi__op;

mpi__op *mpi__op_of(MPI_Op handle);
void mpi__op_keep(mpi__op *op);
void mpi__op_drop(mpi__op *op);
void mpi__ops_open(void);
/* Does this operator go with this type? Else why not. */
const char *mpi__op_problem(const mpi__op *op, const mpi__type *type);
/* As an operator and an element type of dtype/. mpi__combiner_close afterwards; until then its user holds both. */
typedef struct {
    enum dtype dtype;
    enum op op;
    mpi__op *from;
    mpi__type *type;
    struct mpi__made_op *made; /* of all that combine so now, for dtype/ has few; NULL: dtype/ has it itself */
} mpi__combiner;
bool mpi__combiner_open(mpi__combiner *combiner, mpi__op *op, mpi__type *type);
void mpi__combiner_close(mpi__combiner *combiner);

#endif
