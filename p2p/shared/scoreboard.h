/* SPDX-License-Identifier: MIT */
/*
 * scoreboard: shared memory in which every rank shows what it is doing, and the supervisor reads it.
 *
 * A rank writes only its own row. It changes `activity` before and after every change of what matters for deadlock
 * detection (state, wait, counters); a reader that sees the same even `activity` before and after has a true picture.
 * `sent` is published before the bytes can leave; `received` only once the rank has looked whether what it received
 * releases it. So "blocked, and everything sent to it has been received" is never a moment in passing.
 */
#ifndef PAIRWISE_P2P_SCOREBOARD_H
#define PAIRWISE_P2P_SCOREBOARD_H

#include <stdatomic.h>

#include "p2p/shared/config.h"
#include "p2p/shared/diagnosis.h"

#define SCOREBOARD_MAGIC UINT32_C(0x50574231) /* "PWB1" */
#define SCOREBOARD_ITEMS 4
#define SCOREBOARD_ANY_SETS 4

/* What a blocked rank needs: every rank of `need`, and of each `any` set at least one. While it is blocked, its
 * non-blocking collectives may still send, if one of `layers` does. */
typedef struct {
    p2p_rank_set need, any[SCOREBOARD_ANY_SETS], layers;
    p2p_rank_set draining; /* peers for whom something had not left yet */
    bool drains;
    uint32_t agree_context; /* with agree_number != 0: of `need`, those who have come so far are not needed any more */
    uint64_t agree_number, agree_steps;
    int any_count;
    int layer_count;
    int pending_count, waiting_count;          /* in all; the first few are below */
    scoreboard_call pending[SCOREBOARD_ITEMS]; /* operations it waits for; those of the call itself have no name */
    scoreboard_call waiting[SCOREBOARD_ITEMS]; /* messages here without a receive */
} scoreboard_wait;

#define SCOREBOARD_WORDS 64 /* of the last collectives, by context and number */
#define SCOREBOARD_SENT 32  /* calls that have sent, by communicator, receiver and tag; only if a report is wanted */

/* What a rank asks for a message to another host of a virtual network, and is given (network.h); picoseconds. */
typedef struct {
    _Atomic uint64_t asked, granted; /* how often: by the rank, by the launcher */
    uint64_t now, cost;              /* of the rank */
    int to;                          /* the world rank that the message is for */
    uint64_t began, ends;            /* the receiver's port has it from, the sender's host's is free again */
} scoreboard_port;

#define SCOREBOARD_NAME 64 /* of kept memory, with its end */
#define SCOREBOARD_KEPT 64 /* most that a rank keeps */

/* Kept memory that a rank asks for: so many bytes; with P2P_ERR_ARG as the answer: as many as it has. */
typedef struct {
    char name[SCOREBOARD_NAME];
    uint64_t bytes;
} scoreboard_keep;
/* With launch --explore: what the standard leaves open, for the launcher to decide (p2p/message/choice.c). Of each a rank shows
 * which options there are now: bit i of a receive or a probe is the first message of rank i that matches, of a wait or a test
 * its request i; of a send that waits for its receive, that it is buffered. */
enum choice_kind { CHOICE_RECEIVE, CHOICE_PROBE, CHOICE_WAIT, CHOICE_POLL, CHOICE_SEND, CHOICE_KINDS };
enum { CHOICE_OPTIONS = 64, CHOICE_NOTHING = CHOICE_OPTIONS - 1, SCOREBOARD_CHOICES = 16 };

typedef struct {
    int kind;
    uint32_t number; /* of this rank's, in the order of its program */
    int blocks;      /* nothing behind it in the program is done before it is decided */
    uint64_t options;
    uint64_t
        held; /* ranks whose first message is kept for a receive posted before, and matches; of a wait: 1, if no message tells
                      when one of its requests ends */
    scoreboard_call call;
} scoreboard_choice;

typedef struct {
    int count;
    scoreboard_choice open[SCOREBOARD_CHOICES];
    uint64_t sent;            /* a hash of all that it has sent, in order */
    _Atomic uint64_t answers; /* how often the launcher has decided; and what, the last time */
    uint32_t number;
    int option;
    bool hurry;  /* with that: ranks only look in vain, so polls have to see what there is */
    int bounded; /* polls could have looked in vain more often, or less */
} scoreboard_choices;

/* Lines that a rank has written for ranks of other hosts, which its launcher passes on: the last ones, in order. */
enum { SCOREBOARD_CAME = 64 };

typedef struct {
    uint32_t context;
    uint16_t ranks, bytes; /* of the communicator; of what goes with the line, and lies in its scratch memory, */
    uint64_t offset;       /* from there on */
    uint64_t number;       /* of the collective */
} scoreboard_passed;

typedef struct {
    _Alignas(64) _Atomic uint32_t count; /* of all that it has written */
    scoreboard_passed lines[SCOREBOARD_CAME];
    _Alignas(64) _Atomic uint32_t passed; /* so many the launcher has passed on */
} scoreboard_came;

#define SCOREBOARD_FOUND 8
#define SCOREBOARD_PLACES 12

/* A finding of a rank's own. */
typedef struct {
    p2p_diagnosis what;
    int count;
    p2p_place places[SCOREBOARD_PLACES];
} scoreboard_found;

enum { P2P_GRACE_MOST = 3600 };

typedef struct {
    _Alignas(64) _Atomic uint64_t activity; /* odd while changing */
    _Atomic int state;                      /* enum scoreboard_state */
    _Atomic int pid;
    _Atomic uint64_t polls;               /* tests and iprobes that found nothing */
    _Atomic uint64_t nudges;              /* sent to this rank, counted by their senders */
    _Atomic uint64_t nudges_seen;         /* by this rank, published as `received` is */
    _Alignas(64) _Atomic uint32_t asleep; /* shm: the rank that writes for this one wakes it, and takes this back */
    _Atomic uint32_t told;                /* messages of the supervisor to this rank */
    _Atomic int gave_up; /* the error (enum p2p_err) after which it takes no more part: its buffers are its own again */
    _Alignas(64) _Atomic int core; /* that this rank ran on when it last waited, and 1 (cores.h); 0: not yet */
    _Atomic int letter;       /* of a rank on another host: the state of its process as in /proc; 0: it has ended */
    _Atomic int grace;        /* seconds it asks for after SIGINT or SIGTERM to its launcher (p2p_layer_grace) */
    char host[P2P_HOST_NAME]; /* the name of the rank's host, in a job of several */
    scoreboard_came came;
    _Alignas(64) /* the lines above are read by others all the time: they must not change with what is below */
        scoreboard_call call; /* the current or last outermost call */
    scoreboard_wait wait;
    char error[1024];        /* the message of a fatal error, "" if none, */
    char advice[256];        /* and what to try, "" if nothing */
    _Atomic int found_count; /* what it has found wrong, in these words */
    scoreboard_found found[SCOREBOARD_FOUND];
    scoreboard_call words[SCOREBOARD_WORDS]; /* what it thinks collectives are: for those that think otherwise */
    scoreboard_port port;
    scoreboard_keep keep;
    scoreboard_choices choices;
    scoreboard_call sent[SCOREBOARD_SENT];
} scoreboard_row;

/*
 * Where one rank is in one collective of one communicator, for the others to see: a cache line that only that rank writes.
 * `at` is its place: the number of the collective (from 1), and the steps it has come to in it (from 1 as soon as it has
 * said what it thinks the collective is; 0 while it is saying that). A rank writes what the line of a later collective
 * says only when all ranks have left the one before.
 */
enum { SCOREBOARD_INLINE = 48 };

typedef struct {
    _Alignas(64) _Atomic uint64_t at;
    _Atomic uint64_t what;                    /* a hash of what it thinks the collective is */
    unsigned char payload[SCOREBOARD_INLINE]; /* of the caller's */
} scoreboard_line;

static inline uint64_t p2p__round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

static inline uint64_t p2p__line_at(uint64_t number, uint64_t steps)
{
    return number << 24 | steps;
}

/* For those that wait for others in a collective. */
typedef struct {
    _Alignas(64) _Atomic uint32_t bell, dozing; /* a futex: changes when all are there; and how many wait on it */
    _Atomic uint64_t asleep[RANK_SET_WORDS];    /* world ranks */
    _Atomic uint32_t parts_given, parts_done;   /* of the collective's work (p2p_layer_next_part) */
} scoreboard_gate;

#define SCOREBOARD_SLOTS 8       /* collectives of a communicator that can be under way at a time */
#define SCOREBOARD_CONTEXTS 4096 /* communicators at a time */

/* What `failed` says. A generation that has failed can be repaired (generation.c), or the job fails after it. */
enum { FAILED_GENERATION = 1, FAILED_JOB };

/* Why: written once, by the supervisor, before `failed` is set. */
typedef struct {
    p2p_err err;
    int rank; /* that failed first, -1: not one alone */
    char text[2048];
} scoreboard_failure;

/* Which ranks live where: numbered host by host. Each host has a scoreboard with rows for all ranks; those of ranks
 * elsewhere are written by the launcher (hosts.h). */
typedef struct {
    int count, own;                    /* hosts; the one of this scoreboard */
    int beside;                        /* launchers on this machine: they share its cores */
    uint16_t first[P2P_MAX_RANKS + 1]; /* the first rank of each host; behind the last one: the number of ranks */
} scoreboard_hosts;

/* How often the job has been repaired, and who is left. */
typedef struct {
    int number, members; /* ranks of the world */
    p2p_rank_set gone;   /* that p2p_shrink has gone on without */
    bool repairs;        /* a death is not the end of the job */
} scoreboard_generation;

/* What lies at the beginning of the shared memory. */
typedef struct {
    uint32_t magic;
    char build_id[32];
    int size;
    bool terminal; /* the real stdout is a terminal */
    bool may_read; /* ranks may read each other's memory (cma.h) */
    p2p_config config;
    scoreboard_hosts hosts;
    scoreboard_generation generation;
} scoreboard_settings;

typedef struct {
    scoreboard_settings settings; /* for those who come; never read again by those who are there */
    _Atomic uint32_t failed;
    _Atomic uint32_t any_gave_up;                  /* some rank has */
    _Alignas(64) _Atomic uint32_t launcher_asleep; /* of several hosts: a rank that writes a line wakes it */
    _Alignas(64) scoreboard_failure failure;
    _Atomic uint64_t memory_end; /* of what has been given out of the file behind the scoreboard (memory.h) */
    /* Of communicators, by index; the world has 0: */
    _Atomic uint32_t context_users[SCOREBOARD_CONTEXTS]; /* ranks that have one with this index; 0: free */
    _Atomic uint64_t scratch_place[SCOREBOARD_CONTEXTS]; /* of its scratch memory, and whose (scratch.c); 0: none yet */
    _Atomic uint32_t context_turn[SCOREBOARD_CONTEXTS];  /* how often the index has been given out */
    _Atomic uint64_t
        context_base[SCOREBOARD_CONTEXTS]; /* lines count collectives from here: what stands in them is older */
    _Atomic uint64_t context_used[SCOREBOARD_CONTEXTS]; /* and so many its ranks had begun when they freed it */
    scoreboard_row rows[];                              /* then: sent, received, gates, lines, trace, notes */
} scoreboard_shared;

/*
 * A process's own picture of the scoreboard: where everything is, and settings, read once and checked. Any rank can write
 * anywhere in what is shared, by mistake too: so nothing there decides where memory is read or written.
 */
typedef struct {
    scoreboard_shared *shared;
    scoreboard_row *rows; /* [size] */
    int size;
    bool terminal, may_read;
    p2p_config config;
    scoreboard_hosts hosts;
    scoreboard_generation generation;
    _Atomic uint64_t *sent, *received;
    scoreboard_gate *gates;
    scoreboard_line *lines;
    void *trace; /* where its blocks begin (trace.h) */
    void *notes; /* and those of notes.h */
} scoreboard;

/* Bytes of a scoreboard for this many ranks; nearly all of it is never touched. */
size_t p2p__scoreboard_bytes(int size, const p2p_config *config);

/* A new scoreboard in a memory file, which other programs can map through *fd, and no process can make shorter. All ranks
 * live on this host. NULL and errno on failure. */
scoreboard *p2p__scoreboard_create(int size, const p2p_config *config, bool may_read, int *fd);

void p2p__scoreboard_place(scoreboard *b, const scoreboard_hosts *hosts);

/* Before any rank sees it. */
void p2p__scoreboard_begin(scoreboard *b, const scoreboard_generation *generation);

static inline bool p2p__is_local(const scoreboard *b, int rank)
{
    return rank >= b->hosts.first[b->hosts.own] && rank < b->hosts.first[b->hosts.own + 1];
}

/* Ranks on this host. */
static inline int p2p__local_count(const scoreboard *b)
{
    return b->hosts.first[b->hosts.own + 1] - b->hosts.first[b->hosts.own];
}

/* A rank's number among those that share its machine's cores; launchers of one machine number them host by host. */
static inline int p2p__number_here(const scoreboard *b, int rank)
{
    return b->hosts.beside > 1 ? rank : rank - b->hosts.first[b->hosts.own];
}

/* Are the settings still what they were? False: a rank has overwritten them, and none may. */
bool p2p__scoreboard_is_whole(const scoreboard *b);

/* Map the scoreboard of another process. On failure says why: not a scoreboard, or another version of Pairwise. */
scoreboard *p2p__scoreboard_attach(int fd, char *why, size_t why_bytes);

/* Without `unmap` what is mapped stays where it is for as long as this process lives. */
void p2p__scoreboard_close(scoreboard *b, bool unmap);

/* Frames sent (received) by `by`, to (from) every rank: one row of counters, written only by `by`. */
_Atomic uint64_t *p2p__scoreboard_sent(scoreboard *b, int by);
_Atomic uint64_t *p2p__scoreboard_received(scoreboard *b, int by);

/* A rank has freed a communicator of this index, and had begun so many collectives. True: it was the last one here, and
 * the index is free when its users are set to 0. */
bool p2p__context_left(scoreboard *b, uint32_t index, uint64_t collectives);

/* The host that has given out an index. */
static inline int p2p__context_host(const scoreboard *b, uint32_t index)
{
    return (int)((index - 1) % (uint32_t)b->hosts.count);
}

/* Collective `number` of a communicator: which gate those that wait have, and the lines of all ranks of the world. */
size_t p2p__scoreboard_slot(uint32_t context, uint64_t number);
scoreboard_line *p2p__scoreboard_lines(scoreboard *b, uint32_t context, uint64_t number);

/* Why the job failed, for a rank that has heard that it did: an error in any case. */
p2p_err p2p__scoreboard_failure(const scoreboard *b, char *text, size_t bytes);

/* The state of a rank's process, as in /proc; 0: it has ended. */
char p2p__process_of(const scoreboard *b, int rank);

/* On which host its rank lives, if there are several; of all places of a finding. */
void p2p__place_host(const scoreboard *b, p2p_place *place);
void p2p__finding_hosts(const scoreboard *b, p2p_finding *finding);

/* A copy of what another process shows, whose texts end. */
scoreboard_call p2p__call_copy(const scoreboard_call *shown);

/* As much of a text as there is room for; of a longer one the end, which says more of a path. from may be NULL. */
void p2p__copy_text(char *to, size_t bytes, const char *from);

/* Bracket a change of a row. */
static inline void p2p__row_open(scoreboard_row *row)
{
    atomic_store_explicit(&row->activity, atomic_load_explicit(&row->activity, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
}

static inline void p2p__row_shut(scoreboard_row *row)
{
    atomic_store_explicit(&row->activity, atomic_load_explicit(&row->activity, memory_order_relaxed) + 1,
                          memory_order_release);
}

#endif
