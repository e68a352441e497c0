/* SPDX-License-Identifier: MIT */
/*
 * hosts: a job on several hosts, one launcher on each. Launchers tell each other what ranks of other hosts must see, in
 * records, in order for each pair of hosts (carrier.h):
 *
 *      hosts_find.c     is this one of several launchers?
 *      hosts_join.c     who is there; hosts_settings.c: with the same settings?
 *      hosts.c          records that leave and arrive; the end
 *      hosts_check.c    which of those that arrive can be obeyed
 *      hosts_links.c    bytes between a rank here and a rank elsewhere; hosts_shm.c: in shared memory
 *      hosts_rows.c     what ranks show each other: lines of collectives, states, counters; deadlocks confirmed
 *      hosts_notes.c    what ranks note and trace; hosts_clock.c: by one clock
 *      hosts_events.c   deaths, errors, the end of a job that has failed
 *      hosts_generation.c  repair: all hosts go on to the next generation
 *
 * Each launcher has a scoreboard with rows for all ranks, and p2p_rank_process entries for all; those elsewhere it keeps
 * true. The launcher of host 0 judges: it alone finds deadlocks, reports, and decides that the job has failed, and why.
 */
#ifndef PAIRWISE_P2P_HOSTS_H
#define PAIRWISE_P2P_HOSTS_H

#include <sched.h>

#include "p2p/job/carrier.h"
#include "p2p/job/launch.h"
#include "p2p/shared/memory.h"
#include "p2p/shared/words.h"
#include "p2p/world/world_shm.h"

enum record_type {
    /* to the host of b */
    RECORD_BYTES = 1, /* of the link from rank a to rank b; number: frames that a has sent to b so far */
    RECORD_MEMORY,    /* of a message from rank a to rank b; number: where they go in its memory */
    RECORD_FOLLOWS,   /* the same, so many (uint64_t): they are all that comes next from that host */
    RECORD_CALL,   /* of rank a, that has sent to rank b: scoreboard_call; number: its place in scoreboard_row.sent */
    RECORD_WINDOW, /* as many bytes from rank b to rank a as `number` says have been passed on */
    RECORD_FREED, /* a rank has freed the communicator of index a, which that host has given out; number: collectives */
    RECORD_NOLINK, /* rank b can have no link to rank a: a control_message for it */
    /* to all */
    RECORD_LINE,    /* of rank a, in collectives of context b: record_line */
    RECORD_PAYLOAD, /* of rank a, before the line that it goes with: record_payload; number: where in the scratch memory */
    RECORD_JOINED,    /* rank a has called p2p_init */
    RECORD_GAVE_UP,   /* rank a takes no more part, after error b: scoreboard_row.gave_up */
    RECORD_GOODBYE,   /* rank a is in p2p_finalize; what it has sent: record_count, for each rank that got anything */
    RECORD_ENDED,     /* rank a has ended: record_end; then what it has sent */
    RECORD_STOPPED,   /* the process of rank a is in state b, as in /proc */
    RECORD_FLUSH,     /* after the job has failed: what ranks here had sent before has been passed on */
    RECORD_INTERRUPT, /* signal a */
    RECORD_DONE,      /* all ranks here have ended, and all that they sent has been passed on */
    RECORD_ALIVE,     /* nothing else to say */
    RECORD_REPAIR, /* rank a is in p2p_repair or p2p_shrink (b: enum control_repair) of generation `number`: its scoreboard_call */
    RECORD_GENERATION, /* all that follows is of this one: record_generation */
    /* from host 0, to all */
    RECORD_FAILED,  /* the job has: record_failure */
    RECORD_BROKEN,  /* this generation has, and is repaired: record_failure */
    RECORD_KILL,    /* ranks are killed after `number` ns */
    RECORD_LOOK,    /* what is each rank here doing? a RECORD_ROW of each, then RECORD_LOOKED */
    RECORD_CONFIRM, /* number: of the question; do ranks here still stand as they did? record_still for each */
    /* to host 0 */
    RECORD_MOVED,      /* rank a does not stand as its row said */
    RECORD_ROW,        /* of rank a: record_row; then its counters: record_count, a pair for each rank */
    RECORD_DIFFERENCE, /* two ranks mean something else by a collective of context b: record_difference */
    RECORD_EVENT,      /* rank a said this (control_message); record_event */
    RECORD_CONFIRMED,  /* number: of the question; a: 1 if so */
    RECORD_LOOKED,     /* all rows have been sent */
    RECORD_FINDING,    /* what a launcher has found wrong, for the report and for people: record_finding */
    RECORD_SAY,        /* a text for people */
    RECORD_NOTES,      /* a part of what rank a has noted, of area b (hosts_notes.c), at `number` */
    RECORD_TIME,       /* what time it is there; number: when it was asked. From host 0: the question */
    RECORD_PRINT,      /* what ranks printed, to be shown rank by rank when all have ended */
};

/* What so many bytes take behind a head: the next one is aligned. */
static inline size_t p2p__record_room(size_t bytes)
{
    return (size_t)p2p__round_up(bytes, 8);
}

typedef struct {
    uint32_t type, bytes; /* bytes: of what follows, without padding to 8 */
    int32_t a, b;
    uint64_t number;
} record;

typedef struct {
    scoreboard_line line;
    scoreboard_call words; /* perhaps */
} record_line;

typedef struct {
    uint32_t ranks, unused;
    unsigned char bytes[P2P_LAYER_INLINE_MOST];
} record_payload;

/* Two ranks mean something else by a collective: the lower one first. */
typedef struct {
    uint64_t number;
    int32_t ranks[2];
    scoreboard_call words[2];
} record_difference;

typedef struct {
    uint64_t sent, received;
    int32_t rank, unused;
} record_count;

typedef struct {
    p2p_end end;
    int32_t gave_up, unused;
    scoreboard_call call;
    char said[SAID]; /* the last line of its output, for a job that repairs itself */
} record_end;

typedef struct {
    int32_t number, members;
    p2p_rank_set gone, dead; /* as in p2p_next_generation */
} record_generation;

typedef struct {
    int32_t err, rank, status;
    uint64_t grace_ns;
    char text[sizeof((scoreboard_failure *)0)->text];
} record_failure;

typedef struct {
    uint64_t activity, polls, nudges;
    int32_t state, gave_up;
    scoreboard_call call;
    scoreboard_wait wait;
} record_row;

typedef struct {
    control_message message;
    int32_t found_count, unused;
    scoreboard_call call;
    char error[sizeof((scoreboard_row *)0)->error], advice[sizeof((scoreboard_row *)0)->advice];
} record_event; /* then scoreboard_found, found_count of them */

typedef struct {
    p2p_diagnosis what;
    int32_t count;
    char text[2000], advice[sizeof((p2p_words *)0)->advice];
    p2p_place places[SCOREBOARD_PLACES];
} record_finding;

typedef struct {
    int32_t rank, unused;
    uint64_t activity;
} record_still;

/* What launchers tell each other before the first rank is started. */
typedef struct {
    char build[32], rest[32], name[P2P_HOST_NAME]; /* rest: of what else must be the same (Makefile) */
    char boot[40];      /* of its system: the same, and a process that started then, is a launcher on this machine */
    uint64_t started;   /* in clock ticks, as /proc has it */
    cpu_set_t cores;    /* that it may use */
    int32_t ranks, pid; /* pid: of the launcher */
} host_greeting;

/* A link between a rank here and one elsewhere: this end of it. */
typedef struct {
    int here, there;
    int fd;             /* -1: not open, or closed */
    bool asked, closed; /* for; by the rank, which takes nothing more */
    uint64_t window;    /* bytes that may still be passed on to the other host */
    char *queue;        /* that came from there, and the rank has not taken */
    size_t from, to, room;
    uint64_t owed; /* bytes that the rank has taken, and the other host does not know of */
    void *rings;   /* shm: mapped; NULL: not open, or no queues */
    size_t rings_bytes;
    shm_writer out;
    shm_reader in;
    uint64_t copied;       /* bytes of the message in memory whose PAYLOAD is the next record */
    bool unwritten;        /* some of the message whose PAYLOAD comes next were not written to the rank here */
    size_t polled;         /* its place among the polled */
    scoreboard_call *told; /* of the rank here, if reports are wanted: scoreboard_row.sent as the other host knows it */
} far_link;

/* What the clock of a host showed, and host 0's at the same time; off by `within` ns at most. */
typedef struct {
    uint64_t there, here, within; /* within 0: not known */
} clock_sample;

typedef struct {
    clock_sample first, last; /* when ranks were started, and had ended */
    int asked;                /* exchanges that were made for the one of now */
} host_clock;

typedef struct {
    char *bytes; /* records for which there was no slot */
    size_t from, to, room;
    char *slot; /* that is being filled; NULL: none */
    size_t filled;
    uint64_t heard, told; /* ns: when something came, and went, last */
    bool done, flushed, looked;
    bool gone;      /* nothing of it is believed any more */
    int generation; /* what comes is of this one */
    struct {
        const char *at;
        size_t bytes; /* that wait for a slot; 0: none */
    } leaving;        /* from where they lie, and before anything else */
    record follows;   /* RECORD_MEMORY whose bytes are what comes next; of 0 bytes: none is */
    host_clock clock;
    size_t kept, printed; /* bytes that its ranks printed: in the spill; of them those that were taken back */
} far_host;

/* A deadlock that host 0 has found, until all hosts have confirmed that nothing has moved since. */
typedef struct {
    uint64_t number; /* of the question; 0: none */
    int waits_for;   /* hosts */
    bool refuted;
    p2p_rank_set stuck, can_act, still;
    uint64_t activity[P2P_MAX_RANKS]; /* of the ranks that stood still */
} host_question;

struct p2p_cluster {
    const p2p_carrier *carrier;
    int own, count, first, ranks; /* this host's ranks: first, first + 1, ... */
    scoreboard_hosts map;
    cpu_set_t cores; /* of the ranks here */
    host_greeting *greetings;
    far_host *hosts;
    uint16_t *host_of; /* [size] */
    far_link **links;  /* [ranks * size]; NULL: none */
    far_link **open;   /* that have a descriptor */
    size_t open_count, open_room;
    uint64_t *shown;      /* [ranks]: activity of the row that host 0 was told last */
    uint32_t *came;       /* [ranks]: lines that were passed on */
    uint64_t *seen;       /* [ranks]: at the last tick */
    memory_window window; /* shm: what ranks here have from p2p_alloc */
    memory_window *left;  /* of generations before, from which bytes may still leave */
    size_t left_count;
    p2p_spill spill; /* host 0: what ranks of other hosts printed */

    host_question question;
    uint64_t questions, moved_at, flush_until, look_until, done_at;
    uint64_t ticked; /* at the last tick */
    uint64_t ending; /* host 0: when it asked for the time once more; 0: not yet */
    bool done, lost;
    int failing;    /* 0, FAILED_GENERATION or FAILED_JOB: ranks here are told when all has been flushed */
    bool differ;    /* ranks do, in a collective */
    bool receiving; /* a record is being dealt with */
    bool asleep;    /* shm: ranks wake this launcher by a byte */
    record_failure failure;
};

/* ---- hosts_find.c, hosts_join.c ---- */

/* Is this process one launcher of several, but not linked with a carrier? Becomes the one that is, or says why not and
 * returns an exit status; -1: it is the only one. */
int p2p__hosts_find(char **argv);
/* How many launchers were started; 0: that is not known. */
int p2p__hosts_expected(void);

/* A job of plan->config.hosts launchers on this machine. */
int p2p__run_on_hosts(const p2p_plan *plan, p2p_err *err);

/* Join the launchers of the other hosts, with `ranks` here. NULL: says why not. */
p2p_cluster *p2p__hosts_join(const p2p_carrier *carrier, int own, int count, int ranks, char *why, size_t why_bytes);
p2p_cluster *p2p__hosts_open(int ranks, char *why, size_t why_bytes);
/* All are ready to start their ranks? Otherwise this one need not. */
bool p2p__hosts_ready(p2p_cluster *hosts, bool ready);

/* ---- hosts_settings.c ---- */

/* All have the settings of this plan? Otherwise says which two differ, in what. */
bool p2p__hosts_agree(p2p_cluster *hosts, const p2p_plan *plan, char *why, size_t why_bytes);

/* ---- hosts_check.c ---- */

/* May a record with these bytes have been sent by that host? */
bool p2p__record_is_sound(const p2p_job *job, int from, const record *r, const char *bytes);
/* Is it obeyed also where that host is in another generation? */
bool p2p__record_is_of_job(const record *r);

/* ---- hosts.c ---- */

bool p2p__hosts_begin(p2p_job *job);
/* Its scoreboard, which is new, says which rank lives where. */
void p2p__hosts_place(p2p_job *job);
void p2p__hosts_end(p2p_cluster *hosts, bool well, int status); /* status: the job's */

/* A record to a host; to all others. */
void p2p__record_put(p2p_job *job, int host, const record *r, const void *bytes);
void p2p__record_put_all(p2p_job *job, const record *r, const void *bytes);
/* Where up to `most` bytes of a RECORD_BYTES can be put; NULL: nowhere now. Then its length. */
char *p2p__record_begin(p2p_job *job, int host, size_t *most);
void p2p__record_end(p2p_job *job, int host, const record *r);
/* So many bytes of a message, with this RECORD_FOLLOWS before them, from where they lie; false: there is no room now. */
bool p2p__record_follows(p2p_job *job, int host, const record *r, const void *at, size_t bytes);
/* None of those that went to this host is read any more. */
bool p2p__record_has_followed(p2p_job *job, int host);

/* Output for host 0 to print when all have ended; there: a part of what came from a host, into the sink. False: no more. */
void p2p__hosts_print(p2p_job *job, const char *bytes, size_t count);
bool p2p__hosts_printed(p2p_job *job, int host);
/* Until not much more waits for host 0; or host 0 has not been heard for too long. */
void p2p__records_wait(p2p_job *job);

/* Everything that can move between hosts moves; only what leaves. */
void p2p__hosts_move(p2p_job *job);
void p2p__hosts_send(p2p_job *job);
void p2p__hosts_tick(p2p_job *job);
/* How long the loop may sleep, at most. */
uint64_t p2p__hosts_pause(const p2p_job *job);
/* Others are not done yet? */
bool p2p__hosts_busy(p2p_job *job);

/* ---- hosts_links.c ---- */

bool p2p__far_open(p2p_job *job, int here, int there, int fd, int place);
bool p2p__far_links_init(p2p_job *job);
/* NULL: there is no memory for it. */
far_link *p2p__far_find(p2p_job *job, int here, int there);
void p2p__far_links_free(p2p_cluster *hosts);
/* There are none, as at the start. */
void p2p__far_links_forget(p2p_cluster *hosts);
nfds_t p2p__far_fill(p2p_job *job, struct pollfd *polled, nfds_t count);
void p2p__far_serve(p2p_job *job);
/* All that a rank has sent before it ended; without waiting. */
void p2p__far_drain(p2p_job *job, int rank);
/* A rank here can have no link to one elsewhere: nothing was, and will be, sent to it from there. */
void p2p__far_forget(p2p_job *job, int here, int there);
/* Nothing more is for this rank, or comes from it. */
void p2p__far_shut(p2p_job *job, far_link *link);
void p2p__far_bytes(p2p_job *job, const record *r, const char *bytes);
void p2p__far_window(p2p_job *job, const record *r);

/* ---- hosts_shm.c ---- */

#define FAR_FOLLOWS_MOST ((size_t)1 << 20) /* of a message at a time, while nothing else goes to that host */

bool p2p__far_map(p2p_job *job, far_link *link, int place);
void p2p__far_unmap(far_link *link);
size_t p2p__far_write_records(p2p_job *job, far_link *link, char *bytes, size_t count);
size_t p2p__far_read_records(p2p_job *job, far_link *link, char *to, size_t most);
/* The bytes of a PAYLOAD that says where it lies go before it: a part of them. False: all have left, and what its rank does to
 * them now does no harm; one that has ended does nothing. */
bool p2p__far_copy(p2p_job *job, far_link *link, bool ended);
void p2p__far_memory(p2p_job *job, const record *r, const char *bytes);
/* So many bytes of the memory that ranks here share. False and errno: they cannot be read. */
bool p2p__far_memory_read(p2p_job *job, uint64_t place, void *to, size_t bytes);
void p2p__far_drop(const p2p_job *job, far_link *link, char *bytes, size_t count);
/* Are these bytes of a RECORD_BYTES whole records of a queue? */
bool p2p__far_records_are_sound(const char *bytes, size_t count);
/* Shows whether this launcher sleeps; is anything to be read after it has shown that? */
void p2p__far_asleep(p2p_job *job, bool asleep);
bool p2p__far_waiting(const p2p_job *job);
/* Links are queues, and there are some? */
bool p2p__far_is_hot(const p2p_job *job);

/* ---- hosts_rows.c ---- */

/* Lines that a rank here has written for ranks of other hosts go there; those of all ranks: were there any? */
void p2p__lines_of(p2p_job *job, int rank);
bool p2p__lines_serve(p2p_job *job);
/* Are there some that have not gone yet? */
bool p2p__lines_left(const p2p_job *job, int rank);
void p2p__line_arrived(p2p_job *job, const record *r, const char *bytes);
void p2p__payload_arrived(p2p_job *job, const record *r, const record_payload *payload);
void p2p__difference_arrived(p2p_job *job, const record_difference *difference);
void p2p__rows_tick(p2p_job *job);
void p2p__rank_moved(p2p_job *job, const record *r);
void p2p__rank_gave_up(p2p_job *job, int rank, int err);
void p2p__row_arrived(p2p_job *job, const record *r, const char *bytes);
/* What a rank here has sent, for all others: where to put it, and how many records. */
size_t p2p__counts_of(p2p_job *job, int rank, record_count *counts);
void p2p__counts_arrived(p2p_job *job, int rank, const record_count *counts, size_t count);
/* Host 0 asks what all ranks are doing; true when it has been told, or has waited long enough. */
bool p2p__hosts_look(p2p_job *job);
void p2p__hosts_looked(p2p_cluster *hosts); /* the next time it asks again */
void p2p__hosts_show(p2p_job *job);
/* Host 0 has found a deadlock: true if it needs no confirmation. */
bool p2p__hosts_ask(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act);
void p2p__hosts_asked(p2p_job *job, const record *r, const record_still *still, int host);
void p2p__hosts_answered(p2p_job *job, const record *r);

/* ---- hosts_generation.c ---- */

/* A rank here is in p2p_repair or p2p_shrink, or has left it: the others are told. */
void p2p__far_repair(p2p_job *job, int rank, const control_message *message);
void p2p__repair_arrived(p2p_job *job, const record *r, const char *bytes);
/* This host goes on to the next generation, which has a scoreboard already: the others are told, and of the one before
 * nothing is known any more. */
void p2p__far_generation(p2p_job *job, const p2p_next_generation *next);
void p2p__generation_arrived(p2p_job *job, int from, const record_generation *text);
/* Memory of generations before, from which nothing leaves any more, goes. */
void p2p__far_forget_memory(p2p_job *job);

/* ---- hosts_notes.c ---- */

/* To host 0: the numbers of this host's ranks, or all that they have noted. */
void p2p__notes_send(p2p_job *job, bool all);
void p2p__notes_arrived(p2p_job *job, int from, const record *r, const char *bytes);

/* ---- hosts_clock.c ---- */

/* Host 0 asks all others what time it is, as often as needed; at the end it has been told, or can no longer be? */
void p2p__clocks_ask(p2p_job *job);
bool p2p__clocks_known(p2p_job *job);
void p2p__clock_arrived(p2p_job *job, int from, const record *r, const char *bytes);
/* What has been noted and traced elsewhere, by the clock of host 0. Returns when the job began. */
uint64_t p2p__clocks_apply(p2p_job *job);

/* ---- hosts_events.c ---- */

void p2p__far_event(p2p_job *job, p2p_rank_process *process, const control_message *message);
void p2p__event_arrived(p2p_job *job, const record *r, const char *bytes);
/* A finding of this launcher, which host 0 tells. */
void p2p__far_finding(p2p_job *job, const p2p_finding *finding, const p2p_words *w);
void p2p__finding_arrived(p2p_job *job, const record_finding *finding);
void p2p__far_ended(p2p_job *job, p2p_rank_process *process, const p2p_end *end);
void p2p__end_arrived(p2p_job *job, const record *r, const char *bytes);
void p2p__far_goodbye(p2p_job *job, int rank);
/* The job has failed, or, on a host that does not judge, should: host 0 is told, which decides. */
void p2p__far_failure(p2p_job *job, p2p_err err, int rank, int status, const char *text, uint64_t grace_ns);
void p2p__far_broken(p2p_job *job, int rank, const char *text);
void p2p__failure_arrived(p2p_job *job, const record *r, const record_failure *failure);
void p2p__flush_arrived(p2p_job *job, int host);
void p2p__check_flushed(p2p_job *job);

#endif
