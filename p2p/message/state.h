/* SPDX-License-Identifier: MIT */
/* state: what a rank has: its engine, with a peer for each other rank, and communicators, which are views of it;
 * operations. */
#ifndef PAIRWISE_P2P_STATE_H
#define PAIRWISE_P2P_STATE_H

#define P2P_NO_LINES 1
#define P2P_NO_LAYER_LINES 1

#include "p2p/message/causes.h"
#include "p2p/message/cores.h"
#include "p2p/p2p_layer.h"
#include "p2p/shared/clock.h"
#include "p2p/shared/memory.h"
#include "p2p/trace/notes.h"
#include "p2p/world/world.h"

typedef struct p2p_engine p2p_engine;
typedef struct p2p_peer p2p_peer;
typedef struct p2p_trace p2p_trace;
typedef struct p2p_explained p2p_explained;
typedef struct p2p_notes p2p_notes;
typedef struct p2p_choices p2p_choices;

enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_LAYER };

/* One operation. Blocking calls keep theirs on the stack; the others are allocated. */
struct p2p_operation {
    struct p2p_operation *next; /* in a list of its engine's or its peer's */
    bool posted;                /* a receive that no message has met yet */
    enum request_kind kind;
    p2p_comm *comm;
    struct p2p_operation *all_next, **all_link; /* allocated ones: all of the engine */
    bool done, counted;
    p2p_err err;
    p2p_status status;

    void *buf;
    size_t bytes;
    uint32_t context;
    int peer; /* world rank; negative: any */
    int tag;
    bool synchronous;      /* a send that waits for its receive whatever its size */
    uint64_t id;           /* on the wire; for receives also the order of posting */
    uint64_t began, ends;  /* virtual: when the message began; when a send's port is free again */
    bool guarded, changed; /* its buffer is watched over; was changed by the program meanwhile */
    uint32_t sum;          /* checksum of an isend's buffer, with PAIRWISE_DEBUG or guarded; of a guarded receive's */
    struct p2p_operation *fresh_next, **fresh_link; /* guarded, and without a sum until the call ends */
    const char *name;                               /* what was called (NULL: on the stack), and where */
    const char *file;
    int line;

    uint64_t message;                 /* of a receive: the sender's id for what came */
    uint16_t kind_expected, kind_got; /* and what its sender said of it */
    bool has_part;                    /* for traces */
    p2p_part part;
    uint32_t order;
    int vain;        /* with launch --explore: polls that have not seen that it has ended */
    uint32_t choice; /* its number, with launch --explore; 0: the standard leaves nothing open */

    const p2p_layer_ops *layer; /* REQUEST_LAYER */
    void *layer_state;
    uint64_t layer_number;
    bool lacks_agreement; /* its last step asked in vain whether all are there */
    bool lost;            /* it is of an earlier generation */
    p2p_clock clock;
    void *explained; /* with --explain: of the collective that it is; NULL: nothing */

    p2p_packet packet; /* EAGER, REQUEST and PAYLOAD of a send; CLEAR of a receive. Not set before it is used. */
};

/* A message, or the announcement of one, that no receive has asked for yet. */
typedef struct p2p_unexpected {
    struct p2p_unexpected *next;
    uint64_t order; /* of arrival, over all peers */
    wire_header header;
    bool complete;
    int generation;
    int vain;                      /* with launch --explore: polls that have not seen it */
    struct p2p_operation *claimed; /* a receive took it while it was still arriving */
    struct p2p_operation *sender;  /* a send of this rank to itself that waits to be matched */
    char data[];
} p2p_unexpected;

typedef struct {
    p2p_request head, tail;
} p2p_request_list;

struct p2p_peer {
    p2p_link link; /* what the world sees of it */
    p2p_request_list posted, awaits_clear, awaits_payload;
    p2p_unexpected *unexpected, **unexpected_tail;
    uint64_t credit; /* bytes that may still be sent eagerly */
    uint64_t owed;   /* bytes consumed here that the peer does not know of */
    p2p_packet credit_packet;
    bool credit_busy;

    /* The message that is arriving. */
    p2p_request in_request;
    p2p_unexpected *in_unexpected;

    bool unreachable;        /* no link can be had: */
    int lacking_rank, limit; /* this rank's limit on descriptors is reached, */
    int no_memory;           /* or there is no memory for it: errno, 0 if not */
    uint32_t moved;          /* for traces: how often something moved between the two without a message */
    bool received_dirty;
    p2p_peer *next_dirty;
};

#define KNOWN_NAMES 16
#define KNOWN_CALLS 16

/* The name of a function that this rank has called before, as its row shows it. */
typedef struct {
    const char *name;
    char shown[sizeof((scoreboard_call *)NULL)->name];
} p2p_known_name;

/* A collective call as this rank has made it before: its hash, and as the scoreboard shows it. */
typedef struct {
    p2p_fingerprint what;
    const char *file;
    uint64_t hash;
    scoreboard_call shown; /* but for its numbers */
} p2p_known;

/* A buffer of this rank's from p2p_alloc. */
typedef struct p2p_block {
    struct p2p_block *next;
    uint64_t place; /* 0: ordinary memory */
    size_t bytes;
    char *at;
    size_t asked; /* bytes that were asked for, and where */
    const char *file;
    int line;
} p2p_block;

/* Memory of this rank's that outlives its process (keep.c). */
typedef struct p2p_kept {
    struct p2p_kept *next;
    char name[SCOREBOARD_NAME];
    size_t bytes;
    void *at;
} p2p_kept;

/* The cause of an error, as a sentence and as data. */
typedef struct {
    char cause[2048];
    const char *advice; /* a literal: what to try; NULL: nothing */
    p2p_diagnosis what;
    p2p_place other; /* what it has to do with: the other side, or an operation posted before; ROLE_CALL: nothing */
} p2p_blame;

struct p2p_engine {
    p2p_endpoint end; /* what the world sees of it */
    int rank, size;
    int control;   /* socket to the supervisor, -1 in a world of one */
    int memory_fd; /* the job's memory file; -1: this world has no use for it */
    scoreboard *scoreboard;
    bool owns_scoreboard; /* it is not its supervisor's, by a fork */
    scoreboard_row *row;
    p2p_config config;
    p2p_trace *trace;            /* NULL: nothing is traced */
    p2p_notes *notes;            /* NULL: neither metrics nor record */
    bool observed, observed_end; /* the begin of a call is for one of these, and its end */
    notes_operation *operation;  /* that counts the call under way; NULL: no metrics */
    const char *counted_late;    /* a send of this name is counted when it ends, by late_operation; NULL: none is */
    notes_operation *late_operation;
    bool late;           /* the call under way is one */
    p2p_clock own_clock; /* virtual, of the rank */
    p2p_clock *clock;    /* that of the rank, or of the non-blocking collective whose step runs */
    p2p_spin spin;
    p2p_spread spread;
    const p2p_world *world;
    bool sealed;         /* headers carry a checksum */
    bool fast_path;      /* a short message may go that way (calls.c) */
    bool shows_receives; /* and a sender may write to where one waits */
    p2p_peer *peers;     /* [size] */
    p2p_request_list posted_any, layers;
    p2p_peer *dirty;
    p2p_block *blocks;
    memory_gap *gaps;     /* in the memory file: what this rank has given back */
    memory_window window; /* on all of it, to read what others have */
    bool has_looked;      /* room for the window was asked for */
    p2p_comm *comms;      /* all that are not freed, the world first */
    uint64_t next_id, next_order;
    p2p_request requests; /* allocated and not yet waited for */
    p2p_request fresh;    /* of them, those whose sums are to be taken when the call ends */
    size_t unexpected_count;
    uint64_t share;           /* bytes of one peer's unexpected messages that this rank keeps */
    p2p_request in_step;      /* the layer whose step runs */
    uint64_t completed;       /* requests, to see whether a step has ended what another one waits for */
    bool all_done, timed_out; /* all ranks have said goodbye; a call of this rank has run into its time limit */
    uint64_t nudges_seen;
    uint64_t lost_since; /* when a link closed for which the supervisor has given no reason yet; 0: none */
    int lost_peer;

    p2p_err failed;   /* the supervisor has said so: the job has failed */
    p2p_err poisoned; /* every later call returns this */
    p2p_blame poison;
    p2p_choices *choices;    /* with launch --explore (choice.c); NULL: what comes first is first */
    bool notes_leaks;        /* what only costs memory is left with a note */
    int drafts;              /* findings on its row that are not published yet */
    p2p_layer_thing *things; /* that a layer has made, and not given back */
    p2p_kept *kept;
    bool returned;  /* rank_main of p2p_launch has, with 0 */
    bool kept_came; /* the supervisor's answer to p2p_keep: */
    int kept_fd, kept_value;
    p2p_request lost; /* requests of earlier generations that the program has not waited for */

    p2p_explained *explained; /* with --explain: collectives so far; NULL: none */
    void (*explain_end)(p2p_engine *engine);
    void (*explain_done)(p2p_request request); /* a non-blocking collective, that has `explained` */

    int depth; /* of public calls */
    struct {
        const void *at;
        size_t bytes;        /* 0: there is none */
    } buffers[2];            /* of the program's, that the open call accesses: it sends from, and receives into */
    uint16_t kind, kind_got; /* of messages that are sent now; of the one received last (p2p_layer_call) */
    uint16_t kind_expected;  /* of those that are received now */
    const char *(*kinds_differ)(uint16_t expected, uint16_t came);
    const uint16_t *block_kinds; /* of the collective that is open */
    bool guards;                 /* this call watches over buffers */
    uint16_t *kinds;             /* of all that a wait ends */
    p2p_err *errors;             /* theirs, by the index of the request; NULL: nobody asks */
    const char *call_name, *call_file;
    int call_line;
    struct {
        p2p_layer_call call;
        const char *file;
        int line;
    } inner; /* the last call of a library's that a function of the program's has made inside of that one */
    p2p_known_name names[KNOWN_NAMES]; /* the last ones, each at its place (error.c) */
    const p2p_known *shown;            /* the collective on this rank's row */
    p2p_known known[KNOWN_CALLS];      /* the last ones, each at its place (fingerprint.c) */
    bool polled;                       /* the call that ends now was a poll that found nothing */
    bool at_port;                      /* of a virtual network's host, and waits for it */
    bool drained;                      /* after a failure: everything that was sent has been received */

    const unsigned char *this_process; /* a page that is zero in a forked child */
    _Atomic(const void *) owner;       /* the thread inside of the call that is open, by an address of its own */
};

/* A collective that has no line yet: what this rank thinks it is, as a hash and in words. */
typedef struct {
    uint64_t hash;
    scoreboard_call words;
} p2p_unshown;

#define SCRATCH_KINDS 16

struct p2p_comm {
    p2p_comm *next;
    p2p_engine *engine; /* NULL after finalize or free */
    int rank, size;
    uint32_t context;     /* of the program's messages; + 1: of collectives */
    int *world_rank;      /* [size] */
    int *comm_rank;       /* [size of world], -1 for ranks that are no members */
    p2p_traffic *traffic; /* [size] */
    p2p_errors errors;
    uint64_t collectives; /* begun so far: the number of the one that is open */
    uint64_t base;        /* their numbers in the lines begin behind this */
    uint64_t posted;      /* of them, those that ranks show each other: all, unless PAIRWISE_CHECK=0 */
    p2p_unshown *unshown; /* the last of these, which have no line yet (agree.c) */
    size_t unshown_count, unshown_room;
    uint64_t said;           /* this rank's hash of the last of these */
    uint64_t all_passed;     /* of these, the first so many are known to have been agreed on */
    uint64_t layers_end;     /* virtual: when the last non-blocking collective ended */
    bool agreed;             /* the open one, or it need not */
    bool all_refused;        /* all ranks have been told of its error, and have left it: none is behind */
    bool launched;           /* the world of p2p_launch in a program that a launcher has started */
    int hosts;               /* that its ranks live on */
    uint16_t *host;          /* [size]: which of them each rank does; NULL: there is one host */
    bool one_host;           /* all its ranks live on this host, a virtual one or not */
    bool attaches;           /* it reads buffers of others in place */
    p2p_costs costs;         /* for those who explain */
    struct {                 /* group/explain.c; seconds: */
        double block;        /* bytes of this rank's, for the next one; less than 0: it has not said */
        double began, ended; /* this rank's open collective, its last one */
        bool shows;          /* both are on the line of the open one */
        double came, left;   /* the last one that is in the table: its last rank, this one */
        bool waits;          /* to learn when the others left */
        uint64_t number;     /* in the lines */
        size_t kind, sample; /* where it is in the table */
    } explained;
    bool settled;           /* it has read the others' lines after its own was sure to be seen (agree.c) */
    p2p_scratch payloads;   /* what has come with it, if it was too much for lines; first: NULL if not */
    unsigned char *scratch; /* scratch.c: mapped; NULL: not asked for yet */
    uint64_t scratch_place; /* in the memory file */
    size_t scratch_usual, scratch_largest, segment_bytes; /* of its pieces; of one rank's part: 0 if not yet known */
    size_t scratch_at[SCRATCH_KINDS];                     /* where the next begins, of each kind of pieces */
    void (*free_scratch)(p2p_comm *comm, bool last);      /* a hook: of this rank; and if it is the last, of all */
    bool library;     /* a layer has made it for itself, or its program has freed it: no leak */
    const char *file; /* where p2p_split made it */
    int line;
    char message[2560 + 256];
    p2p_blame blame;              /* the last error of a call that is still open */
    const p2p_fingerprint *alias; /* of the next collective that begins */
    const char *advice;           /* of the next error of a layer; a literal, NULL: nothing */
    scoreboard_row *row;          /* outlives `engine`; NULL: there is no supervisor to read it */
};

#endif
