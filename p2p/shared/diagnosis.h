/* SPDX-License-Identifier: MIT */
/*
 * diagnosis: what was found wrong, as data. Everything that is decided is decided here; words.c puts it into sentences for
 * people, report.c writes it for programs (launch --report). Names are public: programs outside read them.
 *
 * Ranks are ranks of the world. A place is a call, or something else with a line of its own, that takes part in it. Both are
 * plain memory, so that a rank can show its own on the scoreboard; the supervisor believes only checked copies.
 */
#ifndef PAIRWISE_P2P_DIAGNOSIS_H
#define PAIRWISE_P2P_DIAGNOSIS_H

#include "p2p/p2p_layer.h"
#include "p2p/shared/rank_set.h"

/* ---- What a rank is doing, as it shows it on the scoreboard, and as a diagnosis keeps it ---- */

enum scoreboard_state {
    SCOREBOARD_ABSENT,     /* has not called p2p_init */
    SCOREBOARD_RUNNING,    /* in the user's code, or in a call that is not waiting */
    SCOREBOARD_BLOCKED,    /* in a call, waiting for what `wait` says */
    SCOREBOARD_POLLING,    /* running, but its last call was a test or iprobe that found nothing */
    SCOREBOARD_FINALIZING, /* said goodbye in p2p_finalize, waits for the others */
    SCOREBOARD_FINISHED,   /* left p2p_finalize */
};

/* What is read where any rank may have written: RUNNING, if it is no state. */
static inline int p2p__state_of(int shown)
{
    return shown >= SCOREBOARD_ABSENT && shown <= SCOREBOARD_FINISHED ? shown : SCOREBOARD_RUNNING;
}

/* How a call's arguments are printed. */
enum scoreboard_shape { SHAPE_PLAIN, SHAPE_SEND, SHAPE_RECV, SHAPE_SENDRECV, SHAPE_WAIT, SHAPE_COLLECTIVE };

/* What a collective is, beside its name. "" and -1 (count: UINT64_MAX) where something does not apply. */
typedef struct {
    char algorithm[24], dtype[28], op[16];
    uint64_t count;
    int root;
} scoreboard_what;

typedef struct {
    char name[40];  /* as the user wrote it: p2p_recv, coll_all_reduce */
    char file[120]; /* "" if not known */
    int line;
    int shape;
    int synchronous;      /* of an operation that is pending: a send that waits for its receive whatever its size */
    uint32_t context;     /* of the communicator */
    int peer, world_peer; /* rank in the communicator, and in the world; negative: any */
    int tag;
    int from, world_from, from_tag; /* SHAPE_SENDRECV: of its receive */
    uint64_t bytes;
    uint64_t number;   /* SHAPE_COLLECTIVE: its number on the communicator, from 1, */
    uint64_t in_lines; /* as its lines have it (context_base; only in a row's words), and what it is */
    scoreboard_what what;
} scoreboard_call;

/* ---- What is wrong ---- */

#define P2P_HOST_NAME 64 /* with its end; of a longer one the end is lost */

#define P2P_CLASS_LIST(X)                                                                                     \
    X(CLASS_NONE, "none")                                                                                     \
    X(CLASS_DEADLOCK, "deadlock")                                                                             \
    X(CLASS_BUFFERING, "buffering") /* a send that only buffering lets end */                                 \
    X(CLASS_COLLECTIVE_MISMATCH, "collective_mismatch")                                                       \
    X(CLASS_COMMUNICATOR_MISMATCH, "communicator_mismatch")                                                   \
    X(CLASS_ROOT_MISMATCH, "root_mismatch")                                                                   \
    X(CLASS_OPERATOR_MISMATCH, "operator_mismatch")                                                           \
    X(CLASS_TYPE_MISMATCH, "type_mismatch")                                                                   \
    X(CLASS_COUNT_MISMATCH, "count_mismatch")                                                                 \
    X(CLASS_ALGORITHM_MISMATCH, "algorithm_mismatch")                                                         \
    X(CLASS_TRUNCATION, "truncation")                                                                         \
    X(CLASS_LOST_MESSAGE, "lost_message")       /* sent, never received */                                    \
    X(CLASS_REQUEST_LEAK, "request_leak")       /* never waited for */                                        \
    X(CLASS_REQUEST_STATE, "request_state")     /* waited for twice, or by another process */                 \
    X(CLASS_RESOURCE_LEAK, "resource_leak")     /* a communicator or memory */                                \
    X(CLASS_BUFFER_CONFLICT, "buffer_conflict") /* touched while an operation has it; two that overlap */     \
    X(CLASS_INVALID_ARGUMENT, "invalid_argument")                                                             \
    X(CLASS_CALL_ORDER, "call_order") /* before init, after finalize, never finalized */                      \
    X(CLASS_MESSAGE_RACE, "message_race")                                                                     \
    X(CLASS_DEATH, "death")                                                                                   \
    X(CLASS_STOPPED, "stopped")                                                                               \
    X(CLASS_TIMEOUT, "timeout")                                                                               \
    X(CLASS_HOST_LOST, "host_lost")                                                                           \
    X(CLASS_CORRUPTION, "corruption") /* bytes on a link, or in shared memory, that no rank can have meant */ \
    X(CLASS_REFUSED, "refused")       /* the machine would not give something */

#define P2P_REASON_LIST(X)                                                                 \
    X(REASON_NONE, "")                                                                     \
    X(REASON_CYCLE, "cycle")             /* each waits for another */                      \
    X(REASON_SELF, "self")               /* a rank waits for itself */                     \
    X(REASON_TAG, "tag")                 /* a message is there, with another tag */        \
    X(REASON_SOURCE, "source")           /* a message is there, from another source */     \
    X(REASON_FINISHED, "finished")       /* the rank that is waited for has finished */    \
    X(REASON_COLLECTIVES, "collectives") /* the ranks are in different ones */             \
    X(REASON_SPLIT, "split")             /* not every rank is in p2p_split */              \
    X(REASON_POLLING, "polling")         /* for a long time ranks have only polled */      \
    X(REASON_SIGNAL, "signal")           /* killed */                                      \
    X(REASON_EXIT, "exit")               /* ended by itself */                             \
    X(REASON_ABORT, "abort")             /* p2p_abort */                                   \
    X(REASON_GAVE_UP, "gave_up")         /* after an error that its program was told of */ \
    X(REASON_NEVER_FINALIZED, "never_finalized")                                           \
    X(REASON_COMMUNICATOR, "communicator")                                                 \
    X(REASON_MEMORY, "memory")                                                             \
    X(REASON_TYPE, "type")                                                                 \
    X(REASON_OPERATOR, "operator")                                                         \
    X(REASON_GROUP, "group")                                                               \
    X(REASON_BUFFER, "buffer")                                                             \
    X(REASON_REQUEST, "request")                                                           \
    X(REASON_PERSISTENT, "persistent")                                                     \
    X(REASON_FIRST, "first") /* of several orders, which were not compared */              \
    X(REASON_JOB, "job")     /* the time limit of the job */                               \
    X(REASON_CALL, "call")   /* that of one call */                                        \
    X(REASON_LINK, "link")

/* What a place has to do with it. */
#define P2P_ROLE_LIST(X)                                                                    \
    X(ROLE_CALL, "call")           /* the call that was wrong, or was told */               \
    X(ROLE_OTHER, "other")         /* the other side of it */                               \
    X(ROLE_WAITS, "waits")         /* waits in vain */                                      \
    X(ROLE_PENDING, "pending")     /* an operation that its rank waits for, or never did */ \
    X(ROLE_MESSAGE, "message")     /* a message that lies at its rank */                    \
    X(ROLE_FINISHED, "finished")   /* is waited for, and does no more */                    \
    X(ROLE_BEHIND, "behind")       /* waits for those that wait in vain */                  \
    X(ROLE_STUCK, "stuck")         /* waits in vain as well, for others */                  \
    X(ROLE_LAST, "last")           /* a rank's last call before it died */                  \
    X(ROLE_MEANWHILE, "meanwhile") /* was waited in when it happened */                     \
    X(ROLE_DOING, "doing")         /* what a rank was doing; see its state */               \
    X(ROLE_MADE, "made")           /* where something was made that is still there */

#define DIAGNOSIS_ENUM(name, text) name,
enum p2p_class { P2P_CLASS_LIST(DIAGNOSIS_ENUM) CLASS_COUNT };
enum p2p_reason { P2P_REASON_LIST(DIAGNOSIS_ENUM) REASON_COUNT };
enum { ARGUMENT_COUNT = P2P_ARGUMENT_OVERLAP + 1 };
enum p2p_role { P2P_ROLE_LIST(DIAGNOSIS_ENUM) ROLE_COUNT };
#undef DIAGNOSIS_ENUM

typedef struct {
    int role, rank;
    int state;            /* enum scoreboard_state, of the rank */
    char process;         /* what the system says of it: R, S, T, ...; 0: gone, or not asked */
    scoreboard_call call; /* ROLE_PENDING, ROLE_MESSAGE: world_peer, tag, bytes of that; a name if it is a collective */
    int pending;          /* operations that the call waits for, if it waits for several */
    int any;              /* one of `awaited` would do; an int, since a rank may write any byte here */
    p2p_rank_set awaited; /* for whom it waits in vain */
    char chose[96];       /* of a choice between messages: what it took, in words */
    int host;             /* in a job of several: the number of the rank's, and 1; else 0 */
    char host_name[P2P_HOST_NAME];
} p2p_place;

typedef struct {
    int class, reason, argument;
    p2p_rank_set ranks; /* whose mistake or fate it is */
    bool is_cycle;      /* of a deadlock: the ranks wait for each other, and for no other stuck rank */
    bool all_receive;   /* all of a cycle */
    int wanted_tag;     /* REASON_TAG */
    int wanted_source;  /* REASON_SOURCE */
    int status;         /* REASON_SIGNAL: the signal; REASON_EXIT, REASON_ABORT: the exit status */
    bool dumped, starved, early;
    int note; /* 1: no error, its rank has gone on, and the job's status is as if there were none. A number, since ranks write it. */
    double seconds;
    uint64_t count; /* of things left */
} p2p_diagnosis;

/* A diagnosis with its places, in the memory of the process that made it. */
typedef struct p2p_finding {
    struct p2p_finding *next; /* of a report */
    p2p_diagnosis what;
    p2p_place *places;
    size_t count, room;
    p2p_place spare; /* where there is no memory for another one */
    char *text;      /* for people; NULL: none */
    char *advice;    /* what to try, which the text ends with; NULL: nothing */
} p2p_finding;

/* As reports name them. */
const char *p2p__class_name(int class);
const char *p2p__reason_name(int reason);

/* One more place; what it is not given is 0, but for `rank` and `role`. call may be NULL. */
p2p_place *p2p__finding_add(p2p_finding *finding, int role, int rank, const scoreboard_call *call);
void p2p__finding_free(p2p_finding *finding);

/* The first place with this role from `*at` on, which moves past it; NULL if there is none. */
const p2p_place *p2p__finding_next(const p2p_finding *finding, int role, size_t *at);

/* The first place with this role; an empty one if there is none. */
const p2p_place *p2p__finding_first(const p2p_finding *finding, int role);

/* What an error is that says no more of itself. */
p2p_diagnosis p2p__diagnosis_of(p2p_err err);

#endif
