/* SPDX-License-Identifier: MIT */
/*
 * internal: what the files of p2p share. Everything a rank has hangs off its engine; a communicator is a view of it.
 *
 *      error.c      enter and leave every public call; messages; ending the job
 *      engine.c     making and ending an engine; frames that arrive; control messages
 *      block.c      the one wait loop, and what it shows on the scoreboard
 *      match.c      posted receives and unexpected messages
 *      request.c    making and ending requests; wait.c: waiting for them
 *      send.c recv.c probe.c wait.c comm.c split.c init.c layer.c     the public calls
 */
#ifndef PAIRWISE_P2P_INTERNAL_H
#define PAIRWISE_P2P_INTERNAL_H

#ifndef P2P_NO_LINES
#define P2P_NO_LINES 1
#endif
#ifndef P2P_NO_LAYER_LINES
#define P2P_NO_LAYER_LINES 1
#endif

#include "p2p/message/causes.h"
#include "p2p/message/spin.h"
#include "p2p/p2p.h"
#include "p2p/p2p_layer.h"
#include "p2p/shared/clock.h"
#include "p2p/shared/memory.h"
#include "p2p/shared/scoreboard.h"
#include "p2p/world/world.h"

typedef struct p2p_engine p2p_engine;
typedef struct p2p_peer p2p_peer;
typedef struct p2p_trace p2p_trace;

enum request_kind { REQUEST_SEND, REQUEST_RECV, REQUEST_LAYER };

enum request_list { LIST_NONE, LIST_POSTED, LIST_AWAITS_CLEAR, LIST_AWAITS_PAYLOAD, LIST_LAYER };

/* One operation. Blocking calls keep theirs on the stack; the others are allocated. */
struct p2p_operation {
    struct p2p_operation *next; /* in the list that `where` says */
    enum request_list where;
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
    uint64_t id;          /* on the wire; for receives also the order of posting */
    uint64_t began, ends; /* virtual: when the message began; when a send's port is free again */
    uint32_t debug_crc;   /* of an isend's buffer, with PAIRWISE_DEBUG */
    const char *file;     /* where it was posted */
    int line;

    uint64_t message; /* of a receive: the sender's id for what came */
    bool has_part;    /* for traces */
    p2p_part part;
    uint32_t order;

    const p2p_layer_ops *layer; /* REQUEST_LAYER */
    void *layer_state;
    const char *layer_name;
    uint64_t layer_number;
    bool lacks_agreement; /* its last step asked in vain whether all are there */
    p2p_clock clock;

    p2p_packet packet; /* EAGER, REQUEST and PAYLOAD of a send; CLEAR of a receive. Not set before it is used. */
};

/* A message, or the announcement of one, that no receive has asked for yet. */
typedef struct p2p_unexpected {
    struct p2p_unexpected *next;
    uint64_t order; /* of arrival, over all peers */
    wire_header header;
    bool complete;
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

    bool
        unreachable; /* no link can be had: lacking_rank's limit on descriptors is reached, or no_memory is why (errno) */
    int lacking_rank, limit, no_memory;
    size_t packets_out; /* frames posted that have not left */
    uint32_t moved;     /* for traces: how often something moved between the two without a message */
    bool received_dirty;
    p2p_peer *next_dirty;
};

/* What has been put into words already (fingerprint.c). */
typedef struct {
    p2p_fingerprint what;
    const char *file;
} p2p_said;

#define KNOWN_CALLS 16

/* A collective call as this rank has made it before: its hash, and as the scoreboard shows it. */
typedef struct {
    p2p_fingerprint what;
    uint64_t hash;
    scoreboard_what shown;
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

/* What an error is, beside its sentence. */
typedef struct {
    p2p_diagnosis what;
    bool has_other;
    p2p_place other; /* what the call has to do with: the other side, or an operation posted before */
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
    p2p_trace *trace;    /* NULL: nothing is traced */
    p2p_clock own_clock; /* virtual, of the rank */
    p2p_clock *clock;    /* that of the rank, or of the non-blocking collective whose step runs */
    p2p_spin spin;
    unsigned waits, spread_after; /* since this rank looked who shares its core; and when it does again */
    const p2p_world *world;
    bool sealed;     /* headers carry a checksum */
    bool fast_path;  /* nor anything else that it must go the long way for */
    p2p_peer *peers; /* [size] */
    p2p_request_list posted_any, layers;
    p2p_peer *dirty;
    p2p_block *blocks;
    memory_gap *gaps;     /* in the memory file: what this rank has given back */
    memory_window window; /* on all of it, to read what others have */
    bool has_looked;      /* for room for the window */
    p2p_comm *comms;      /* all that are not freed, the world first */
    uint64_t next_id, next_order;
    p2p_request requests; /* allocated and not yet waited for */
    size_t unexpected_count;
    uint64_t share;           /* of the room for messages nobody has asked for: a peer's; bytes */
    p2p_request in_step;      /* the layer whose step runs */
    uint64_t completed;       /* requests, to see whether a step has ended what another one waits for */
    bool all_done, timed_out; /* everyone has said goodbye; a call of this rank has run into its time limit */
    uint64_t nudges_seen;
    uint64_t lost_since; /* a link closed under us and nobody has said why: since when, 0 if not */
    int lost_peer;

    p2p_err failed;   /* the supervisor has told us: the job has failed */
    p2p_err poisoned; /* every later call returns this */
    char poison[1024];
    p2p_blame poison_blame;
    int drafts; /* findings on its row that nobody has been told of yet */

    int depth; /* of public calls */
    const char *call_name, *call_file;
    int call_line;
    const p2p_known *shown;          /* the collective on this rank's row */
    p2p_known known[KNOWN_CALLS];    /* the last ones, each at its place (fingerprint.c) */
    p2p_said said[SCOREBOARD_WORDS]; /* what the row's words say */
    bool polled;                     /* the call that ends now was a look that found nothing */
    bool drained;                    /* after a failure: everything that was sent has been received */
    size_t packets_out;              /* frames posted that have not left */

    const unsigned char *this_process; /* a page that is zero in a forked child */
    _Atomic int owner;                 /* PAIRWISE_DEBUG: the thread inside, 0 if none */
};

#define SCRATCH_KINDS 16

struct p2p_comm {
    p2p_comm *next;
    p2p_engine *engine; /* NULL after finalize or free */
    int rank, size;
    uint32_t context;     /* of users' messages; + 1: of collectives */
    int *world_rank;      /* [size] */
    int *comm_rank;       /* [size of world], -1 for strangers */
    p2p_traffic *traffic; /* [size] */
    p2p_errors errors;
    uint64_t collectives;   /* begun so far: the number of the one that is open */
    uint64_t posted;        /* of them, those that ranks have shown each other: all, unless PAIRWISE_CHECK=0 */
    uint64_t said;          /* this rank's hash of the last of these */
    uint64_t all_passed;    /* of these, the first so many are known to have been agreed on */
    uint64_t layers_end;    /* virtual: when the last non-blocking collective ended */
    bool agreed;            /* the open one, or it need not */
    bool attaches;          /* it reads buffers of others in place */
    bool settled;           /* it has looked at the others after they could be sure to see it (agree.c) */
    p2p_scratch payloads;   /* what has come with it, if it was too much for lines; first: NULL if not */
    unsigned char *scratch; /* scratch.c: mapped; NULL: not asked for yet */
    size_t scratch_usual, scratch_largest, segment_bytes; /* of its pieces; of one rank's part: 0 if not yet known */
    size_t scratch_at[SCRATCH_KINDS];                     /* where the next begins, of each kind of pieces */
    const char *file;                                     /* where p2p_split made it */
    int line;
    char cause[1024], message[1536];
    p2p_blame blame;     /* the cause, as data */
    scoreboard_row *row; /* outlives `engine`; NULL: there is no supervisor to read it */
};

/* ---- error.c ---- */

/* Every public call begins with enter and ends with leave. enter remembers what is called and from where (only at depth
 * 0), and refuses a communicator that is not usable. `call` needs name, shape, peer, tag and bytes. */
typedef struct {
    const char *name;
    int shape, peer, tag;
    size_t bytes;
    int from, from_tag; /* SHAPE_SENDRECV */
} p2p_call;

p2p_err p2p__enter(p2p_comm *comm, const p2p_call *call);
p2p_err p2p__leave(p2p_comm *comm, p2p_err err);

/* Remember the cause of an error; see causes.h. Returns err. And the same again as when this rank was poisoned. */
p2p_err p2p__fail(p2p_comm *comm, p2p_err err, int class, int argument, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
p2p_err p2p__fail_again(p2p_comm *comm, p2p_err err);

/* From now on every call on any communicator of this rank fails with err and comm's cause. */
p2p_err p2p__poison(p2p_comm *comm, p2p_err err);

/* Show the others that this rank takes no more part: before its program can use again what it was sending. */
void p2p__give_up(p2p_engine *engine, p2p_err err);

/* Has that rank done so? Asked after what lies in its memory has been read: if not, it was still what was sent. */
static inline bool p2p__gave_up(const p2p_engine *engine, int rank)
{
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&engine->scoreboard->rows[rank].gave_up, memory_order_relaxed);
}

/* Refuse a rank, a tag or a buffer that cannot be meant; a receive may leave rank and tag open. A send is refused in a failed
 * job, too. */
p2p_err p2p__check_message(p2p_comm *comm, bool receives, const void *buf, size_t bytes, int peer, int tag);

/* ---- engine.c ---- */

p2p_err p2p__engine_create(int rank, int control, int memory_fd, scoreboard *b,
                           p2p_engine **engine); /* memory_fd is its own */
void p2p__engine_destroy(p2p_engine *engine);

/* Give the world a packet; counts the frame on the scoreboard first. */
p2p_err p2p__post(p2p_engine *engine, p2p_peer *peer, p2p_packet *packet);

/* A frame from this peer has been dealt with. */
void p2p__frame_received(p2p_engine *engine, p2p_peer *peer);

/* A message is not what was sent. Never returns P2P_OK. */
p2p_err p2p__damaged(p2p_engine *engine, const p2p_peer *peer, const wire_header *header);

/* ---- match.c ---- */

void p2p__list_add(p2p_request_list *list, p2p_request request, enum request_list where);
void p2p__list_remove(p2p_request_list *list, p2p_request request);
p2p_request p2p__list_find(p2p_request_list *list, uint64_t id);

static inline bool p2p__tag_matches(int wanted, int32_t tag)
{
    return wanted == tag || (wanted == P2P_ANY_TAG && tag >= 0);
}

/* The oldest posted receive that this message matches, taken off its list; NULL if none. */
p2p_request p2p__match_posted(p2p_engine *engine, const wire_header *header);

/* The oldest unexpected message that matches; NULL if none. source: world rank, or negative for any in comm. */
p2p_unexpected *p2p__match_unexpected(p2p_engine *engine, uint32_t context, int source, int tag);
p2p_unexpected *p2p__unexpected_add(p2p_engine *engine, p2p_peer *peer, const wire_header *header, size_t data_bytes);
void p2p__unexpected_remove(p2p_engine *engine, p2p_unexpected *message); /* from its list; not freed */

/* ---- send.c, recv.c: starting operations, and what frames do to them ---- */

void p2p__request_init(p2p_request request, enum request_kind kind, p2p_comm *comm, uint32_t context, void *buf,
                       size_t bytes);
void p2p__complete(p2p_request request, p2p_err err);
p2p_err p2p__start_send(p2p_request request, int dest, int tag, bool wait_for_match);
p2p_err p2p__start_recv(p2p_request request, int source, int tag);

/* A CLEAR has arrived for this send. */
p2p_err p2p__got_clear(p2p_engine *engine, p2p_peer *peer, p2p_request request, const wire_header *header);

/* A receive has met a REQUEST: answer it, with CLEAR, or with "forget it" if the buffer is too small. */
p2p_err p2p__answer(p2p_engine *engine, p2p_request receive, const wire_header *header);

/* Are messages of so many bytes read straight from their sender's memory, where the system allows it? */
static inline bool p2p__reads_memory(const p2p_engine *engine, size_t bytes)
{
    return engine->world->read && engine->config.direct && bytes >= engine->config.direct;
}

/* What a message that is sent before its receiver asks for it takes of its sender's credit. */
static inline uint64_t p2p__eager_cost(size_t bytes)
{
    return bytes + sizeof(p2p_unexpected);
}

/* The one rule for what may be sent before its receiver asks for it, which then keeps it: nothing in strict mode; else what
 * is within the eager limit and the sender's credit (its own, for a message to itself). Programs may count on that.
 * Collectives need not: what would fill a link by turns the receiver reads out of the sender's memory, if it can. */
static inline bool p2p__may_be_buffered(const p2p_engine *engine, const p2p_peer *peer, size_t bytes, bool collective)
{
    if (engine->config.strict || bytes > engine->config.eager || p2p__eager_cost(bytes) > peer->credit) return false;
    return !collective || bytes <= engine->end.link_room / 2 || !p2p__reads_memory(engine, bytes) ||
           !engine->scoreboard->may_read;
}

/* The one place that counts for p2p_stats; peer: in comm. */
static inline void p2p__count_sent(p2p_comm *comm, int peer, size_t bytes)
{
    comm->traffic[peer].messages_sent++;
    comm->traffic[peer].bytes_sent += bytes;
}

static inline void p2p__count_received(p2p_comm *comm, int peer, size_t bytes)
{
    comm->traffic[peer].messages_received++;
    comm->traffic[peer].bytes_received += bytes;
}

/* A receive and a send of the same rank have met. */
void p2p__match_self(p2p_engine *engine, p2p_request receive, p2p_request send);

/* A receive has met a message: note who it is from; false, and the error noted, if it does not fit. */
bool p2p__accept(p2p_request receive, const wire_header *header);

/* A short message has left the room its sender's credit stands for: tell the sender now and then. */
p2p_err p2p__consumed(p2p_engine *engine, p2p_peer *peer, size_t bytes);

/* No link to this peer can be had: every operation with it ends with P2P_ERR_SYS. */
void p2p__unreachable(p2p_engine *engine, p2p_peer *peer, int lacking_rank, int limit);
p2p_err p2p__unreachable_error(p2p_comm *comm, const p2p_peer *peer);

/* ---- fast_path.c: a short message whose way is free. False: nothing has been done, and it must go the long way. The
 *      arguments have been checked. ---- */

bool p2p__fast_send(p2p_comm *comm, const void *buf, size_t bytes, int dest, int tag, uint32_t context);
bool p2p__fast_recv(p2p_comm *comm, void *buf, size_t room, int source, int tag, uint32_t context, p2p_status *status);

/* ---- request.c ---- */

p2p_err p2p__request_new(p2p_comm *comm, enum request_kind kind, uint32_t context, void *buf, size_t bytes,
                         p2p_request *request);
void p2p__request_free(p2p_request request);
/* One under way whose buffer lies in there; NULL if there is none. */
const struct p2p_operation *p2p__request_in(const p2p_engine *engine, const char *from, size_t bytes);
/* Take back a receive that has not begun (or anything that is done): false if it is too late for that. */
bool p2p__take_back(p2p_request request);
/* A request that is done: its error explained, or its status, counted. */
p2p_err p2p__result(p2p_request request, p2p_status *status);

/* ---- wait.c ---- */

/* Wait for requests that live on the caller's stack, and end them in any case. */
p2p_err p2p__finish_stacked(p2p_comm *comm, p2p_request request, p2p_status *status);
p2p_err p2p__finish_both(p2p_comm *comm, p2p_request send, p2p_request receive, p2p_status *status);
/* For calls that return without p2p__enter: forget the line; and may what is wrong be printed? As the world's error mode says. */
void p2p__forget_line(void);
bool p2p__prints_errors(void);
/* The supervisor is to know of a call without a communicator: most often it came before p2p_init. */
void p2p__tell_early(const scoreboard_call *call, const char *text);

/* ---- agree.c ---- */

/* Tell the others that this rank is in the open collective, and what it thinks it is: what its row shows. Some bytes may
 * go with it. */
p2p_err p2p__agree_post(p2p_comm *comm, const p2p_fingerprint *what);

/* The open collective will not wait here: now a rank that does must learn that this one has come. */
p2p_err p2p__agree_settle(p2p_comm *comm);

/* ---- alloc.c ---- */

/* Where in the job's memory file these bytes lie; 0 if there are none, or not all of them lie in one buffer from p2p_alloc. And bytes of
 * another rank's at such a place, for as long as the job lasts; NULL if they are not to be seen from here. */
uint64_t p2p__shared_place(const p2p_engine *engine, const void *buf, size_t bytes);
const void *p2p__shared_bytes(p2p_engine *engine, uint64_t place, size_t bytes);
void p2p__blocks_free(p2p_engine *engine);

/* ---- scratch.c ---- */

/* Bytes of the largest piece that each of so many ranks can have. */
size_t p2p__scratch_largest(int ranks);
void p2p__scratch_unmap(p2p_comm *comm);
void p2p__scratch_give_back(p2p_comm *comm);

/* ---- blame.c: after p2p__fail, what else there is to report ---- */

/* The message that a rank (of the communicator) has sent to this one; an operation posted before; what another rank is in. */
void p2p__blame_message(p2p_comm *comm, const p2p_status *message);
void p2p__blame_request(p2p_comm *comm, const struct p2p_operation *request);
void p2p__blame_rank(p2p_comm *comm, int rank);
p2p_place p2p__place_of(const struct p2p_operation *request, int rank);

/* Findings of their own, instead of one that says what the error is. At most SCOREBOARD_FOUND. Frees the finding. */
void p2p__draft(p2p_engine *engine, p2p_finding *finding);

/* The supervisor is to know of this error of that call: comm->message. */
void p2p__publish(p2p_comm *comm, const scoreboard_call *call, p2p_err err);
void p2p__publish_drafts(p2p_engine *engine);
/* Of a call without a communicator. */
void p2p__publish_early(scoreboard_row *row, int rank, const p2p_diagnosis *what, const scoreboard_call *call,
                        const char *text);

/* ---- leaks.c ---- */

/* P2P_ERR_LEAK, naming what is left, or P2P_OK. */
p2p_err p2p__report_leaks(p2p_comm *world);

/* ---- block.c ---- */

/* Something to wait for. */
typedef struct {
    bool (*ready)(p2p_engine *engine, void *arg);
    void (*describe)(p2p_engine *engine, void *arg, scoreboard_wait *wait);
    void *arg;
    p2p_peer *hot; /* where it will come from, if known; else NULL */
    int state;     /* shown on the scoreboard: SCOREBOARD_BLOCKED or SCOREBOARD_FINALIZING */
    void (*timed_wait)(p2p_engine *engine, void *arg); /* a short sleep that is cheap to end; nothing moves meanwhile */
    void (*before_sleep)(p2p_engine *engine, void *arg); /* ask to be woken; ready is asked once more afterwards */
    bool patient;                                        /* PAIRWISE_TIMEOUT does not apply */
} p2p_waiting;

p2p_err p2p__block(p2p_comm *comm, const p2p_waiting *waiting);
/* One look around, without waiting; for test and iprobe. */
p2p_err p2p__poll(p2p_engine *engine);
/* Show on the scoreboard that this rank is not waiting. */
void p2p__show_running(p2p_engine *engine);
/* Has the supervisor declared the job failed? Receives first what has been sent already. */
bool p2p__job_failed(p2p_engine *engine);
p2p_err p2p__job_error(p2p_comm *comm);
/* ---- timeout.c ---- */

/* P2P_ERR_TIMEOUT, naming whom the call waits for, and what they are doing. */
p2p_err p2p__timeout_error(p2p_comm *comm, const scoreboard_wait *wait);

void p2p__describe_requests(p2p_engine *engine, const p2p_request *requests, size_t count, bool all,
                            scoreboard_wait *wait);

#endif
