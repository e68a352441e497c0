/* SPDX-License-Identifier: MIT */
/*
 * faultlab: each fault of a message-passing program is one case, one small function.
 *
 *      runner -> case -> supervisor (p2p_launch, or build/launch) -> ranks
 *
 * Every arrow is a fork. The runner and the case are child subreapers, so that a process left behind by a job falls
 * to the case, which fails for it. What ranks saw comes back through `lab_scoreboard`, memory that all of them share;
 * what they printed comes back in `job.text`. Nothing here waits for a fixed time: see lab_wait_flag, lab_wait_inside
 * and lab_wait_gone.
 *
 * In a case (runs in the parent of the supervisor): EXPECT. In a rank: CHECK, NOTE.
 */
#ifndef PAIRWISE_TESTS_FAULTLAB_LAB_H
#define PAIRWISE_TESTS_FAULTLAB_LAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "p2p/p2p.h"
#include "tests/util/complaint.h"
#include "tests/util/process.h"

enum { LAB_RANKS = 64, LAB_FLAGS = 16, LAB_TEXT = 1 << 16 };
/* In seconds, how long a case may take: most take less than four, under the sanitizers and beside others up to sixty. */
enum { LAB_LONG = 600, LAB_QUICK = 300 };

/* In seconds, ten times the bars. */
#define LAB_DEATH_BAR 1.0
#define LAB_DEADLOCK_BAR 10.0
#define LAB_WAIT 10.0 /* for what must come */

/* A case that fails because of this is run again, up to five times in all, after a line that begins with "late":
 * compilers and other suites may run beside, and a process may not run for a second. */
bool lab_in_time(double seconds, double bar);

/* Sets PAIRWISE_TIMEOUT: as short as can be while no rank is that late by itself. Where compilers run beside (all but the
 * sample, QUICK=1) one may not run for a second. */
void lab_short_timeout(void);

/* ---- The cases, grouped as in the table of faults. Each table ends with an empty row. ---- */

typedef struct {
    const char *name;
    const char *what; /* what must happen, in one line */
    void (*run)(void);
    bool slow; /* only with --long */
} lab_case;

extern const lab_case lab_processes[], lab_resources[], lab_misuse[], lab_matching[], lab_collectives[], lab_mismatch[],
    lab_crash[], lab_wire[], lab_shm[], lab_giving_up[], lab_layers[], lab_survive[], lab_garbage[], lab_limits[],
    lab_attack[], lab_begun[], lab_hosts[], lab_hosts_repair[], lab_repair[], lab_repair_worst[];
extern const lab_case lab_trainer[] __attribute__((weak)); /* NULL where there is no OpenCL to build the trainer with */

/* Programs for build/launch: `faultlab --rank NAME`. */
typedef struct {
    const char *name;
    int (*body)(p2p_comm *world);
    void (*before)(void); /* p2p_init; may be NULL */
} lab_program;

extern const lab_program lab_programs[];

void lab_fake_build(void);
void lab_end_early(void); /* rank 1 does, before any rank has joined; then the others join */
int lab_repairs(p2p_comm *world);
int lab_two_die(p2p_comm *world);
int lab_was_run(p2p_comm *world); /* a body: raises flag 0, to show that ranks were started */
int lab_idle(p2p_comm *world); /* also a body: raises flag 0; rank 1 computes, rank 2 pauses, others wait for rank 1 */

/* ---- What ranks and the case share ---- */

typedef struct {
    pid_t pid;
    p2p_err err;        /* last NOTE */
    double at;          /* when it was noted */
    char message[1024]; /* p2p_error_message then, "" on success */
    char kept[1024];    /* free for the case: a message to keep from the next NOTE */
    atomic_int line;    /* line of the last NOTE, set before its call */
    atomic_int inside;  /* 1 while a NOTEd call runs */
    atomic_long count;  /* free for the case */
} lab_slot;

typedef struct {
    atomic_int flag[LAB_FLAGS];
    double died_at; /* set by lab_die */
    complaint complaint;
    atomic_bool late; /* set by lab_in_time */
    char reason[2048];
    lab_slot rank[LAB_RANKS];
    struct { /* left by the supervisor */
        p2p_err err;
        int exit_status, statuses[LAB_RANKS], descriptors_before, descriptors_after, children;
    } result;
} lab_scoreboard;

extern lab_scoreboard *lab;

/* ---- A job: one launch ---- */

typedef struct {
    int size;
    int (*body)(p2p_comm *world);
    void (*setup)(void);   /* run in the supervisor before the launch: limits, timers */
    bool fatal;            /* leave ranks in the default error mode; otherwise P2P_ERRORS_RETURN */
    char *argv[24];        /* if not empty: run this program instead of p2p_launch */
    const char *out, *err; /* send stdout, stderr there instead of to text; "" closes */
    p2p_options options;

    process process; /* the supervisor's */
    bool runs;
    p2p_err result; /* what p2p_launch returned */
    int status;     /* exit status of the job: 128 + signal if the supervisor itself was killed */
    int statuses[LAB_RANKS];
    double seconds;
    char text[LAB_TEXT]; /* stdout and stderr of everything in the job */
} lab_job;

/* Start, and wait. lab_finish asserts what holds for every job: the supervisor ended by itself, no process is left,
 * its descriptors are back to where they were, no rank complained. */
void lab_start(lab_job *job);
void lab_finish(lab_job *job);
void lab_run(lab_job *job);

/* Start or run `build/launch ARGS... faultlab --rank PROGRAM`; args is a list ending in NULL. Skips where build/launch
 * is not built. */
void lab_launch_start(lab_job *job, const char *const args[], const char *program);
void lab_launch(lab_job *job, const char *const args[], const char *program);
void lab_run_alone(lab_job *job, const char *program); /* without build/launch: a world of one */
char *lab_build(const char *name);                     /* "launch" -> path of build/launch; NULL -> of faultlab */

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* ---- In a case ---- */

_Noreturn void lab_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));
_Noreturn void lab_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define EXPECT(condition, ...)                                       \
    do {                                                             \
        if (!(condition)) lab_fail(__FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

bool lab_has(const char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
int lab_lines_with(const char *text, const char *what);

/* The job failed with this exit status, and its text has each of these facts. */
void lab_expect_status(const lab_job *job, int status);
void lab_expect_facts(const char *text, const char *const facts[]);

#define FACTS(text, ...) lab_expect_facts((text), (const char *const[]){__VA_ARGS__, NULL})
void lab_expect_fine(const lab_job *job); /* success, and nothing was printed */

/* rank's last NOTEd call ended. One that was killed in it may have been late: a job that has failed kills after a second. */
void lab_expect_back(int rank);

/* rank ended its last NOTEd call with err. */
void lab_expect_err(int rank, p2p_err err);

/* rank's call, or the first after it, said in time that `dead` is dead, and of what. */
void lab_expect_survivor(int rank, int dead, const char *cause);

/* The text names the file:line of rank's last NOTEd call. file is the case's __FILE__. */
void lab_expect_line(const lab_job *job, const char *file, int rank);

/* ---- In a rank ---- */

extern int lab_rank; /* this process's rank; -1 elsewhere */

#define CHECK_ERR(comm, expected, call)                                                                             \
    do {                                                                                                            \
        p2p_err got_ = NOTE(comm, call);                                                                            \
        CHECK(got_ == (expected), "%s gave %d (%s), not %s", #call, (int)got_, p2p_error_message(comm), #expected); \
    } while (0)

#define CHECK_OK(comm, call) CHECK_ERR(comm, P2P_OK, call)

/* Make a call, and leave its line, result, message and time on the scoreboard. */
#define NOTE(comm, call) (lab_enter(__LINE__), lab_leave((comm), (call)))

void lab_enter(int line);
p2p_err lab_leave(p2p_comm *comm, p2p_err err);

/* This rank sends so many frames more, and dies before the next one, or when half of it has left (crash.c). */
void lab_die_at_frame(long frames, bool halfway);

_Noreturn void lab_die(int signal); /* note the time, then die of it */
void lab_raise_flag(int flag);
void lab_pause(void);                    /* 0.1 ms, between two looks: the processor is left to those that compute */
bool lab_wait_flag(int flag, int value); /* until it is at least value; false after 10 s */
bool lab_wait_inside(int rank);          /* until that rank sleeps inside a NOTEd call */
bool lab_wait_started(int rank);
bool lab_wait_pid_gone(pid_t pid); /* until that process is dead and buried */
bool lab_wait_gone(int rank);      /* until that rank's is */
char lab_state(pid_t pid);         /* 'R', 'S', 'T', ...; 0 if there is no such process */

/* A pattern that depends on rank, message and index. */
unsigned char lab_byte(int rank, size_t message, size_t index);
void lab_fill(void *buf, size_t bytes, int rank, size_t message);
bool lab_intact(const void *buf, size_t bytes, int rank, size_t message);
bool lab_all(const void *buf, size_t bytes, unsigned char value);

/* Exchange one byte with every other rank: the communicator still works. 0, or a complaint. */
int lab_works(p2p_comm *world);

/* ---- The shm world: what passes between its files comes through here (traps.c). ---- */

bool lab_in_shm(p2p_comm *world);

/* The writer of the ring into which this process has written last; NULL if it has written into none. */
struct shm_writer *lab_last_writer(void);

/* Called before each record that this process writes, with the place of its content; NULL: not. */
extern void (*lab_before_record)(unsigned char *place);

/* Called instead of copying from another rank's memory; NULL: not. lab_cma_read is the copying. */
extern bool (*lab_instead_of_cma_read)(pid_t pid, void *to, uint64_t from, size_t bytes);
bool lab_cma_read(pid_t pid, void *to, uint64_t from, size_t bytes);

/* The same for copying to another rank's memory. */
extern bool (*lab_instead_of_cma_write)(pid_t pid, void *from, uint64_t to, size_t bytes);
bool lab_cma_write(pid_t pid, void *from, uint64_t to, size_t bytes);

/* Called before two buffers are combined (dtype_combine); NULL: not. */
extern void (*lab_before_combine)(void);

/* ---- Random numbers, the same from the same seed (not 0); below `below` ---- */

extern uint64_t lab_seed;
uint64_t lab_draw(uint64_t below);

/* ---- Allocation: the n-th one from now on fails (n = 1: the next); 0 disarms. ---- */

void lab_alloc_fail_at(long n);
bool lab_alloc_failed(void); /* has it, since it was armed? */

#endif
