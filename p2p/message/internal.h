/* SPDX-License-Identifier: MIT */
/* internal: what the files of this room share: errors, operations from their start to the end of the wait for them, the
 * engine, memory. */
#ifndef PAIRWISE_P2P_INTERNAL_H
#define PAIRWISE_P2P_INTERNAL_H

#include "p2p/message/state.h"

/* ---- error.c ---- */

/* Every public call begins with enter and ends with leave. enter remembers what is called and from where (only at depth
 * 0), and refuses a communicator that is not usable. `call` needs name, shape (SHAPE_...), peer, tag and bytes. */
typedef p2p_layer_call p2p_call;

p2p_err p2p__enter(p2p_comm *comm, const p2p_call *call);
p2p_err p2p__leave(p2p_comm *comm, p2p_err err);
/* An error of a call that a function of the program's has made inside of another call, which has no way to return it: where
 * errors are fatal the process ends here. */
void p2p__leave_inner(p2p_comm *comm, p2p_err err);

/* Remember the cause of an error; see causes.h. Returns err. And the same again as when this rank was poisoned. */
p2p_err p2p__fail(p2p_comm *comm, p2p_err err, int class, int argument, const char *advice, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
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

/* Refuse a rank, a tag or a buffer that cannot be meant; a receive may leave rank and tag open. A send is refused in a
 * failed job, too. */
p2p_err p2p__check_message(p2p_comm *comm, bool receives, const void *buf, size_t bytes, int peer, int tag);

/* ---- init.c ---- */

/* How a program that build/launch started finds its place: "rank,control descriptor,scoreboard descriptor". */
#define P2P_JOB_VARIABLE "PAIRWISE_JOB"

/* The line noted by p2p__here since the last call; *file is NULL if none. Forgets it. */
void p2p__take_line(const char **file, int *line);

/* In a program that a launcher has started: its world, which is finalized when the process ends. */
p2p_err p2p__launched_world(p2p_comm **world);
/* Which of its ranks this process is, whether it has joined or not; -1: none. */
int p2p__launched_rank(void);

/* Is this process a rank already (or was it), or started by a launcher? */
bool p2p__inside_job(void);

/* Become rank `rank`: the world communicator, ready to use. On failure says why. */
p2p_err p2p__become_rank(int rank, int control, int memory_fd, scoreboard *b, p2p_comm **world, char *why,
                         size_t why_bytes);

/* p2p_finalize. *repair: p2p_repair must be called, and no error is raised; NULL: that is an error like others. */
p2p_err p2p__finish(p2p_comm *world, bool *repair);

/* The world of an engine: its ranks, without those that p2p_shrink has gone on without. NULL when out of memory. */
p2p_comm *p2p__world_new(p2p_engine *engine);

/* Collectives under way will not go on: their states are released. The requests stay, so that waiting for them is an error. */
void p2p__release_layers(p2p_engine *engine);

/* For calls that return without p2p__enter: may what is wrong be printed? As the world's error mode says. They forget the
 * line with p2p__here(NULL, 0). */
bool p2p__prints_errors(void);
/* The supervisor is to know of a call without a communicator: most often it came before p2p_init. */
void p2p__tell_early(const scoreboard_call *call, const char *text);

/* ---- repair.c ---- */

/* A rank has died, and p2p_repair is what comes next. */
static inline bool p2p__must_repair(const p2p_engine *engine)
{
    const scoreboard *b = engine->scoreboard;
    return b->generation.repairs && atomic_load(&b->shared->failed) == FAILED_GENERATION;
}

/* ---- keep.c ---- */

void p2p__kept_free(p2p_engine *engine);

/* ---- gone.c ---- */

/* Is this thread, of the rank's own process, in a call? */
bool p2p__is_inside(const p2p_engine *engine);
/* There is no memory at `fault`. If that is the buffer of an operation, or of the open call, it is told, and the process ends. */
void p2p__tell_bad_memory(p2p_engine *engine, const void *fault);

/* ---- findings.c ---- */

/* After p2p__fail, what else there is to report: the message that a rank (of the communicator) has sent to this one, from
 * the line that p2p__note_send has noted there; or an operation posted before. */
void p2p__note_send(const p2p_comm *comm, int dest, int tag, size_t bytes);
void p2p__blame_message(p2p_comm *comm, const p2p_status *message);
void p2p__blame_request(p2p_comm *comm, const struct p2p_operation *request);

/* A request, or a message that no receive has asked for, as a diagnosis shows it. */
scoreboard_call p2p__call_of(const struct p2p_operation *request);
scoreboard_call p2p__call_of_message(const wire_header *header);

/* Findings of their own, instead of one that says what the error is. At most SCOREBOARD_FOUND. Frees the finding. */
void p2p__draft(p2p_engine *engine, p2p_finding *finding);

/* The supervisor is to know of an error of that call, and its text; with drafts: of so many findings. */
void p2p__publish(scoreboard_row *row, int rank, const p2p_blame *blame, const scoreboard_call *call, const char *text,
                  int drafts);

/* What the last p2p__fail says, and its drafts, as a note: no error, of which the supervisor tells once for all ranks. */
void p2p__note(p2p_comm *comm);

/* P2P_ERR_LEAK, naming what is left, or P2P_OK. */
p2p_err p2p__report_leaks(p2p_comm *world);

/* P2P_ERR_TIMEOUT, naming the ranks that the call waits for, and what they are doing. */
p2p_err p2p__timeout_error(p2p_comm *comm, const scoreboard_wait *wait);

/* P2P_ERR_PEER_DEAD: the sender of this message had given up. */
p2p_err p2p__given_up_error(p2p_comm *comm, p2p_request request);

/* ---- match.c ---- */

void p2p__list_add(p2p_request_list *list, p2p_request request);
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

/* ---- choice.c: launch --explore, engine->choices is not NULL ---- */

bool p2p__choices_create(p2p_engine *engine);
void p2p__choices_free(p2p_engine *engine);

/* The next number of a choice, in the order of the program. */
uint32_t p2p__choice_number(p2p_engine *engine);

/* Of a send: whether it waits for its receive, if its call does not say that it does. */
void p2p__choice_of_send(p2p_request send, bool wait_for_match);

/* A message has come (or this rank has sent one to itself): no receive has it before this rank waits. */
void p2p__choice_arrived(p2p_engine *engine, const wire_header *header);

/* The first message of a rank that matches and is for no receive posted before; NULL if there is none. */
p2p_unexpected *p2p__choice_message(p2p_engine *engine, int source, uint32_t context, int tag);
/* The ranks that have such a message, by bits. */
uint64_t p2p__choice_sources(p2p_engine *engine, const struct p2p_operation *like, uint64_t *held);

/* Receives from one source take what is theirs. */
p2p_err p2p__choice_settle(p2p_engine *engine);

/* On this rank's row: what is open. */
void p2p__choices_show(p2p_engine *engine);

/* What the launcher has decided is done. */
p2p_err p2p__choices_obey(p2p_engine *engine);

/* What this call asks: its kind, the options there are when the job is quiet, and for whom it waits if there are none (NULL:
 * for nobody). Of a poll: how often each thing that it could see has been overlooked, from *at = 0 on; NULL: that was all. */
typedef struct {
    int kind;
    uint64_t (*options)(p2p_engine *engine, void *arg, uint64_t *held);
    void (*describe)(p2p_engine *engine, void *arg, scoreboard_wait *wait);
    int *(*there)(p2p_engine *engine, void *arg, size_t *at);
    uint64_t question; /* of a poll: the same for one that asks for the same */
    void (*decided)(p2p_engine *engine, void *arg, uint32_t number); /* notes what would have been another option */
    void *arg;
} p2p_asked;

/* A choice has been decided: a message like this that comes later, from another rank than these, could have been for it. */
void p2p__choice_note(p2p_engine *engine, uint32_t number, const struct p2p_operation *like, uint64_t known);

/* This rank has done what others may act upon, or has waited; no matter while it asks. */
void p2p__choice_acts(p2p_engine *engine);

/* polls.c: may this poll see nothing? Does it, since it goes on overlooking what there is? It does. And all that is overlooked
 * so is seen from now on. */
bool p2p__poll_may_overlook(p2p_engine *engine, const p2p_asked *asked);
bool p2p__poll_goes_on(p2p_engine *engine, const p2p_asked *asked);
void p2p__poll_overlook(p2p_engine *engine, const p2p_asked *asked);
void p2p__polls_hurry(p2p_engine *engine);
/* A probe has seen it: no later one overlooks it. */
void p2p__poll_saw(p2p_unexpected *message);

/* Wait until it is decided. CHOICE_NOTHING: a poll sees nothing. */
p2p_err p2p__choice_ask(p2p_comm *comm, const p2p_asked *asked, int *option);

/* ---- send.c, recv.c: starting operations, and what frames do to them ---- */

void p2p__request_init(p2p_request request, enum request_kind kind, p2p_comm *comm, uint32_t context, void *buf,
                       size_t bytes);
void p2p__complete(p2p_request request, p2p_err err);
p2p_err p2p__start_send(p2p_request request, int dest, int tag, bool wait_for_match);
p2p_err p2p__start_recv(p2p_request receive, int source, int tag);
/* A receive has met a message that is off its list. */
p2p_err p2p__receive_found(p2p_request receive, p2p_unexpected *message);

/* A CLEAR has arrived for this send. */
p2p_err p2p__got_clear(p2p_engine *engine, p2p_peer *peer, p2p_request request, const wire_header *header);

/* A receive has met a REQUEST: answer it, with CLEAR, or with "forget it" if the buffer is too small. */
p2p_err p2p__answer(p2p_engine *engine, p2p_request receive, const wire_header *header);

/* A message that launchers have copied is in the receive's buffer. */
p2p_err p2p__got_memory(p2p_engine *engine, p2p_peer *peer, p2p_request receive, const wire_header *header);

/* Are messages of so many bytes read straight from their sender's memory, where the system allows it? */
static inline bool p2p__reads_memory(const p2p_engine *engine, size_t bytes)
{
    return engine->world->read && engine->config.direct && bytes >= engine->config.direct;
}

/* The same between hosts, by their launchers. With a limit of time a rank may have its buffer back while one is at work. */
static inline bool p2p__launchers_copy(const p2p_engine *engine, int peer, size_t bytes)
{
    return !p2p__is_local(engine->scoreboard, peer) && p2p__reads_memory(engine, bytes) && !engine->config.timeout_ns &&
           !engine->config.network.on;
}

/* What a message that is sent before its receiver asks for it takes of its sender's credit. */
static inline uint64_t p2p__eager_cost(size_t bytes)
{
    return bytes + sizeof(p2p_unexpected);
}

/* The one rule for what may be sent before its receiver asks for it, which then keeps it: nothing in strict mode; else
 * what is within the eager limit and the sender's credit (its own, for a message to itself). Programs may count on
 * that. Collectives need not: what would fill a link by turns the receiver reads out of the sender's memory, if it
 * can. */
static inline bool p2p__may_be_buffered(const p2p_engine *engine, const p2p_peer *peer, size_t bytes, bool collective)
{
    if (engine->config.strict || bytes > engine->config.eager || p2p__eager_cost(bytes) > peer->credit) return false;
    return !collective || bytes <= engine->end.link_room / 2 || !p2p__reads_memory(engine, bytes) ||
           !engine->scoreboard->may_read || !p2p__is_local(engine->scoreboard, peer->link.rank);
}

static inline void p2p__count_bytes(_Atomic uint64_t *to, size_t bytes)
{
    atomic_store_explicit(to, atomic_load_explicit(to, memory_order_relaxed) + bytes, memory_order_relaxed);
}

/* The one place that counts for p2p_stats, and for metrics; peer: in comm. */
static inline void p2p__count_sent(p2p_comm *comm, int peer, size_t bytes)
{
    notes_operation *operation = comm->engine->operation;
    if (__builtin_expect(operation != NULL, 0)) p2p__count_bytes(&operation->bytes_sent, bytes);
    comm->traffic[peer].messages_sent++;
    comm->traffic[peer].bytes_sent += bytes;
}

static inline void p2p__count_received(p2p_comm *comm, int peer, size_t bytes)
{
    notes_operation *operation = comm->engine->operation;
    if (__builtin_expect(operation != NULL, 0)) p2p__count_bytes(&operation->bytes_received, bytes);
    comm->traffic[peer].messages_received++;
    comm->traffic[peer].bytes_received += bytes;
}

/* A receive and a send of the same rank have met. */
void p2p__match_self(p2p_engine *engine, p2p_request receive, p2p_request send);

/* A receive has met a message: note its sender; false, and the error noted, if it does not fit. */
bool p2p__accept(p2p_request receive, const wire_header *header);

/* A short message has left the room its sender's credit stands for: tell the sender now and then. */
p2p_err p2p__consumed(p2p_engine *engine, p2p_peer *peer, size_t bytes);

/* No link to this peer can be had. */
p2p_err p2p__unreachable_error(p2p_comm *comm, const p2p_peer *peer);

/* ---- request.c ---- */

p2p_err p2p__request_new(p2p_comm *comm, enum request_kind kind, uint32_t context, void *buf, size_t bytes,
                         p2p_request *request);
void p2p__request_free(p2p_request request);
/* Of a call that watches over buffers: P2P_ERR_ARG if a request under way writes there, or this one does and one reads. */
p2p_err p2p__check_buffer(p2p_comm *comm, const void *buf, size_t bytes, bool writes);
/* A request has been made: from now on its buffer is watched over, if the call does that, or with PAIRWISE_DEBUG that of a
 * send. */
void p2p__guard(p2p_request request, bool guards);
/* When a call ends in which guarded requests have begun, or have got their message. */
void p2p__sum_fresh(p2p_engine *engine);

/* It complains of bytes that were never set. */
bool p2p__under_valgrind(void);
/* By it or by a sanitizer: none of them sees what other processes write to the memory of this one. A buffer that is too
 * small would go unseen, and what is in it count as never set. */
bool p2p__memory_is_watched(void);
/* The message of a guarded receive is about to be written to its buffer; or it is on its way, and nothing of it is there
 * yet: the program may still write there first. */
void p2p__before_receive(p2p_request receive);
void p2p__matched(p2p_request receive);
/* Take back a receive that has not begun (or anything that is done): false if it is too late for that. */
bool p2p__take_back(p2p_request request);
/* A request that is done: its error explained, or its status, counted. */
p2p_err p2p__result(p2p_request request, p2p_status *status);

/* ---- wait.c ---- */

/* Wait for requests that live on the caller's stack, and end them in any case. status: of the last one. */
p2p_err p2p__finish_stacked(p2p_comm *comm, p2p_request requests[], size_t count, p2p_status *status);

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
/* Moves what can move, once, unless it is ready, without waiting; for test and iprobe. After a failure of the job it
 * receives first what has been sent. */
p2p_err p2p__poll(p2p_comm *comm, const p2p_waiting *waiting, bool *ready);
/* Show on the scoreboard that this rank is not waiting. */
void p2p__show_running(p2p_engine *engine);
/* Has the supervisor declared the job failed? Receives first what has been sent already. */
bool p2p__job_failed(p2p_engine *engine);
p2p_err p2p__job_error(p2p_comm *comm);
/* What these requests wait for, as the scoreboard shows it. */
void p2p__describe_requests(p2p_engine *engine, const p2p_request *requests, size_t count, bool all,
                            scoreboard_wait *wait);

/* ---- comm.c ---- */

/* A communicator over `size` world ranks (NULL: the first so many), taking ownership of nothing; NULL when out of memory. */
p2p_comm *p2p__comm_new(p2p_engine *engine, uint32_t context, int rank, int size, const int *world_rank);

/* Forget its engine and its tables; the handle itself stays, and answers that it is gone. */
void p2p__comm_bury(p2p_comm *comm);
/* Wait until the launcher has passed on all lines that this rank has shown other hosts, but so many. False: the job has failed. */
bool p2p__await_passed(p2p_engine *engine, uint32_t most);

/* ---- port.c ---- */

/* Wait for the port to a rank on another host of the virtual network, for a message that takes `cost`: it has begun for its
 * receiver at *began, and the port is free again at *ends. */
p2p_err p2p__ask_port(p2p_comm *comm, int to, uint64_t cost, uint64_t *began, uint64_t *ends);

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

/* ---- alloc.c ---- */

/* Where in the job's memory file these bytes lie; 0 if there are none, or not all of them lie in one buffer of
 * p2p_alloc. And the bytes at such a place of another rank's, for as long as the job lasts; NULL if this rank cannot
 * map them. */
uint64_t p2p__shared_place(const p2p_engine *engine, const void *buf, size_t bytes);
const void *p2p__shared_bytes(p2p_engine *engine, uint64_t place, size_t bytes);
void p2p__blocks_free(p2p_engine *engine);

/* The buffers of one engine become those of another, whose memory file they move to. They stay where they are. */
void p2p__blocks_move(p2p_engine *from, p2p_engine *to);

#endif
