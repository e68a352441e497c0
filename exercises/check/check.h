/* SPDX-License-Identifier: MIT */
/*
 * check: what the tests of the exercises are written with.
 *
 * A test file, tests/exercises/NN_name.c, is linked twice. With the learner's code it makes the program that runs as the
 * ranks: check_rank.c is its main, and calls `run` for every case. In build/learn it judges: `judge` sees what the
 * ranks reported and what they sent. The two sides share neither a process nor memory, nor anything that can be opened.
 *
 * What is promised, even of code that was written to deceive, and under `learn grade`, whose data no submission can
 * foresee:
 *
 *      kernels   On a device they are compared and timed by learn, in the memory of a process that decides nothing
 *                (learn/check/rated.c).
 *      values    A rank knows its own data only (check_key). A result that depends on other ranks' is not right unless they
 *                came from them. Expected values exist in learn alone.
 *      sent      messages_sent and bytes_sent of check_traffic and check_sent were counted on their way, outside of all ranks
 *                (learn/check/relay.c), and no bytes went over another communicator. Only for a message of a rank
 *                to itself its own word is taken.
 *      verdict   It is made in learn, from what each rank wrote to a socket of its own and from the relay. No rank can open,
 *                read or write what another reports, what the launcher holds, or what learn holds.
 *      the rest  Whatever a rank does, other exercises, other submissions and the machine go on (learn/grade/sandbox.h).
 *
 * What is not, since only the rank itself could tell: what a function returned (check_returned), what check_number reports,
 * virtual seconds, messages_received, leaks, how much memory, errors in it. And not that the bytes which were counted are those the result
 * was made of: the ranks of one submission share a scoreboard and may share files, so code that passes data there, and sends
 * as many bytes as the contract asks for besides, keeps the contract.
 *
 * Both sides make the same list of worlds and cases, by calling `cases`; cases of one world run one after the other in
 * the same processes, each on a communicator of its own, so that p2p_stats counts each case alone.
 *
 *      both sides   check_world, check_world_that_repairs, check_every_order, check_matrix, check_add; check_value,
 *                   check_fraction, check_common
 *      in a rank    check_report, check_number, check_peak, check_room, check_step, check_returned; check_before_send,
 *                   check_on_message, check_on_probe, check_under_way, check_on_collective
 *      in learn     check_values, check_near, check_same_bits, check_number_of, check_traffic, check_sent,
 *                   check_output, check_fail, check_slow, check_also, check_because
 */
#ifndef PAIRWISE_EXERCISES_CHECK_H
#define PAIRWISE_EXERCISES_CHECK_H

#include "dtype/dtype.h"
#include "p2p/p2p.h"

/* A test file names what either side has. What the other side has is never called, and need not be linked: CHECK_IN_A_RANK is
 * defined where the ranks' side is compiled. */
#ifdef CHECK_IN_A_RANK
#define CHECK_OF_RANKS
#define CHECK_OF_LEARN __attribute__((weak))
#else
#define CHECK_OF_RANKS __attribute__((weak))
#define CHECK_OF_LEARN
#endif

enum { CHECK_MAX_RANKS = 16, CHECK_FIRST_CALLS = 4 };

/* For check_case.fails: all of them; each that comes after the first CHECK_FIRST_CALLS, one at a time. */
enum { CHECK_EVERY_CALL = -1, CHECK_LATER_CALLS = -2 };

/* What of a case the learner is shown: "4 ranks, count 5, i32, root 2, buffered". */
enum { CHECK_SHOW_COUNT = 1, CHECK_SHOW_DTYPE = 2, CHECK_SHOW_OP = 4, CHECK_SHOW_ROOT = 8 };

/* A rank that the test kills: in this step (check_step), before the learner's call number `call` into Pairwise (0: before the
 * step itself); step -1: calls before the first step, or since a repair; CHECK_NEXT_STEP: the first one since then. Where there is no such call, before the next one.
 * late: not before the others have come as far as they can. */
enum { CHECK_NEXT_STEP = -2 };

typedef struct {
    int rank, step, call;
    bool late;
} check_death;

/* One call of the learner's function on every rank of a world. */
typedef struct {
    int ranks;           /* of the world: filled in by check_add, as are strict to world */
    bool strict;         /* every send waits for its receive */
    const char *network; /* a virtual network, or NULL */
    int number;          /* in its world, from 0 */
    uint64_t seed;       /* of the case: ranks know it */
    uint64_t secret;     /* in learn, when grading: the data follow from it as well */
    int world;           /* its number */
    size_t count;
    enum dtype dtype;
    enum op op;
    int root;
    int variant; /* for the test's own use */
    int fails;   /* if not 0, no Pairwise call of the learner's function does anything, and this one of them fails:
                       * it is judged by what it returns and leaves behind. `run` makes no calls of its own then, for it runs
                       * as often as there are calls to fail, and that differs by rank */
    int deaths;  /* in a world that repairs itself: one after the other, each after the last one was repaired */
    check_death death[2];
    const char *call; /* what ran, if it is not the exercise's call; else NULL */
    const char *what; /* NULL, or words to show as well: "all ranks late but rank 2" */
    unsigned shows;   /* CHECK_SHOW_... */
} check_case;

typedef struct check_plan check_plan;

/* Which part of the library a learner's program is linked with; what is left out would give the answer away. */
enum check_library {
    CHECK_LIBRARY_P2P,         /* p2p and dtype: no collectives but p2p_split */
    CHECK_LIBRARY_COLLECTIVES, /* and collectives/ (naive, tree, doubling), no ring */
    CHECK_LIBRARY_ALL
};

typedef struct {
    const char *name;         /* "08_broadcast" */
    const char *idea;         /* a line for the board: "one rank's data on every rank" */
    const char *call;         /* what is shown as having run: "my_broadcast" */
    const char *const *files; /* what the learner edits, NULL at the end: {"broadcast.c", NULL} */
    const char *const *uses;  /* exercises whose solutions are linked in too, NULL at the end; may be NULL */
    enum check_library library;
    bool hands_on_errors; /* tried once more, in the last world, with Pairwise calls that fail */
    bool waits_on_errors; /* requests under way are waited for when another call fails, too: its page says so */
    bool counts_memory; /* check_peak is judged: what it does not see, large static variables and arrays, is refused */
    bool empty_is_null; /* malloc(0) returns NULL, as it may */
    bool any_source;    /* P2P_ANY_SOURCE belongs to it: elsewhere a failure is told where it was used */
    bool opencl;        /* kernels: its file is OpenCL C, and runs on the device of check_opencl.h */
    bool broken_stub;   /* the stub has a mistake in it: it is run even if the learner has not touched it */
    void (*cases)(check_plan *plan);
    /* In each rank. NULL: the learner's file has a main of its own, run once per world, and judge reads check_output. */
    void (*run)(p2p_comm *comm, const check_case *c);
    /* In learn, for each case that every rank has been through; not called when a case ended in a crash, an error or a
     * deadlock, which learn explains by itself. Stop at the first check that returns false. */
    void (*judge)(const check_case *c);
    /* In learn, when a case has ended in a crash, an error or a deadlock, and this has been explained: what the ranks reported
     * before may say why (check_because). May be NULL. */
    void (*judge_ended)(const check_case *c);
    /* In learn, before judge, and also if an error was returned. May be NULL. */
    void (*judge_first)(const check_case *c);
    /* In learn, instead of judge, for a case with `fails` after which an error was returned and nothing was left. May be NULL. */
    void (*judge_failing)(const check_case *c);
} check_exercise;

/* ---- Both sides ---- */

/* The cases that follow run in a new world. network: NULL, or as for --network: "latency=10us,bandwidth=1G". */
void check_world(check_plan *plan, int ranks, bool strict, const char *network);

/* The same, in a job that repairs itself (launch --repair): `run` is given the world itself, in a new process of a rank once more.
 * Nothing is counted there: check_traffic has zeros. */
void check_world_that_repairs(check_plan *plan, int ranks, bool strict);

/* The cases of the world begun last are run in every order that their messages may come in (launch --explore), and judged in the
 * first one that comes out differently. */
void check_every_order(check_plan *plan);

/* Call add(plan, ranks) in a world of 1, 2, 3, 4, 5 and 8 ranks, buffered and then strict. */
void check_matrix(check_plan *plan, void (*add)(check_plan *plan, int ranks));

/* One more case in the world that was begun last. */
void check_add(check_plan *plan, check_case c);

/* What a rank's data follow from beside the seed of the case. When grading, a rank knows its own only: other ranks' data can
 * be had from them, by messages, or not at all. */
uint64_t check_key(const check_case *c, int rank);

/* Test data: a whole number from -99 to 99 that depends on seed, case, rank and index, so that sums in f32 are exact;
 * and an awkward fraction (rounding depends on the order of adding), for bit-identity. Both are exact in f32. */
double check_value(const check_case *c, int rank, size_t index);
double check_fraction(const check_case *c, int rank, size_t index);

/* The same, known to every rank even when grading: what a rank and the others have in common to begin with. */
double check_common(const check_case *c, size_t index);

/* Write element `index` of a buffer of that type, and read it. */
void check_put(void *buf, size_t index, enum dtype dtype, double value);
double check_get(const void *buf, size_t index, enum dtype dtype);

/* ---- In a rank ---- */

/* A buffer of count elements filled with check_value (or zero if rank < 0). Lives until the case ends; allocated so
 * that an access beyond it is caught at once. */
CHECK_OF_RANKS void *check_buffer(const check_case *c, int rank, size_t count, enum dtype dtype);

/* Has this rank read all that the sender has sent it? It says so when it goes to sleep. */
CHECK_OF_RANKS bool check_has_read(const p2p_comm *comm, int reader, int sender);

/* Called before each p2p_send of the learner's function, so that a test can have a message come late; NULL: not. */
CHECK_OF_RANKS extern void (*check_before_send)(int dest);

/* Called before each message that the learner's function sends or begins to send, receives or begins to receive; NULL: not. */
CHECK_OF_RANKS extern void (*check_on_message)(bool sends, const void *buf, size_t bytes, int peer);

/* Called when a probe of the learner's function has found a message: which source it was asked for; NULL: not. */
CHECK_OF_RANKS extern void (*check_on_probe)(int source);

/* Does a buffer that begins there belong to a request of the learner's that has not ended? */
CHECK_OF_RANKS bool check_under_way(const void *buf);

/* Called before a collective of the learner's function, of those that move chunks or sums; NULL: not. */
typedef struct {
    const char *name;
    const void *send, *recv; /* the same, where it works in place */
    size_t count;            /* of this rank's part, where each has another one */
    enum dtype dtype;
    enum op op; /* OP_SUM, where there is none */
    /* coll_all_to_allv: numbers for each rank, and where they begin; numbers from each rank, and where they begin; else NULL */
    const size_t *parts[4];
} check_collective;
CHECK_OF_RANKS extern void (*check_on_collective)(const check_collective *call);

/* Send a copy of a buffer to the judge, under a name the learner understands ("buf", "recv"). */
CHECK_OF_RANKS void check_report(const check_case *c, const char *name, const void *data, size_t count,
                                 enum dtype dtype);
CHECK_OF_RANKS void check_number(const check_case *c, const char *name, double value);

/* How many bytes of memory the learner's code had at most at the same time, in this case, and how many it has now. */
CHECK_OF_RANKS size_t check_peak(size_t *now);

/* How many bytes of memory the learner's code has got that begin there; 0: none do. */
CHECK_OF_RANKS size_t check_room(const void *memory);

/* In a world that repairs itself: a step begins. The rank may not come back from this. */
CHECK_OF_RANKS void check_step(const check_case *c, int step);

/* What the learner's function returned: anything but P2P_OK fails the case, and P2P_ERR_TODO says "not written yet". */
CHECK_OF_RANKS void check_returned(const check_case *c, p2p_err err);

/* ---- In learn. Each returns true if all is well; else the failure is noted with its explanation. key names the kind of
 * failure: the hint file may have words for it. ---- */

/* Every rank's report `name` has `count(c, rank)` elements (NULL: c->count) and holds want(c, rank, i). Shows what each
 * rank had before (`before`, the name of an earlier report, or NULL), has and should have. */
typedef double check_want(const check_case *c, int rank, size_t index);
typedef size_t check_count(const check_case *c, int rank);
CHECK_OF_LEARN bool check_values(const check_case *c, const char *key, const char *name, const char *before,
                                 check_count *count, check_want *want);

/* The same to nine digits: for sums of numbers that are no whole ones, in any order. */
CHECK_OF_LEARN bool check_near(const check_case *c, const char *key, const char *name, const char *before,
                               check_count *count, check_want *want);

/* Every rank's report `name` has the same bits as rank 0's. */
CHECK_OF_LEARN bool check_same_bits(const check_case *c, const char *key, const char *name);

/* A number that was reported; NAN if it was not. An element of a report; how many it has; all of it, NULL if it was not
 * reported. */
CHECK_OF_LEARN double check_number_of(const check_case *c, int rank, const char *name);
CHECK_OF_LEARN double check_element(const check_case *c, int rank, const char *name, size_t index);
CHECK_OF_LEARN size_t check_elements(const check_case *c, int rank, const char *name);
CHECK_OF_LEARN const void *check_data(const check_case *c, int rank, const char *name);

/* What a rank sent to and received from peer during `run`, on the case's communicator; to and from all others (not itself). */
CHECK_OF_LEARN p2p_traffic check_traffic(const check_case *c, int rank, int peer);
CHECK_OF_LEARN p2p_traffic check_sent(const check_case *c, int rank);

/* Virtual seconds that `run` took on a rank, in a world with a network; NAN elsewhere. All clocks are equal when it begins. */
CHECK_OF_LEARN double check_seconds(const check_case *c, int rank);

/* What rank printed on standard output in this world (a program with a main of its own, or a function that prints). */
CHECK_OF_LEARN const char *check_output(const check_case *c, int rank);

/* The line of the learner's first file that lies at a place of the ranks' program, as a rank has reported it
 * (check_opencl.h); 0 if it is not known. */
CHECK_OF_LEARN int check_line_of(const check_case *c, double place);

/* Is this an order of messages that comes out differently from the first one (check_every_order)? */
CHECK_OF_LEARN bool check_in_other_order(const check_case *c);

/* Note a failure in words: what is wrong, by how much, what that means. Returns false. Several sentences are fine;
 * lines are wrapped by learn. After a check_values or check_same_bits that returned false the table stays, and this key and
 * these words take the place of theirs. */
CHECK_OF_LEARN bool check_fail(const check_case *c, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Right, and it took `times` as long as the best possible: a failure as check_fail notes it, but if there is no other in
 * any world, this part of the points is given: all to 1.2 times, none from 3 times on. Returns false. */
CHECK_OF_LEARN bool check_slow(const check_case *c, const char *key, double times, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add a sentence to the failure that is noted. */
CHECK_OF_LEARN void check_also(const check_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same, and its key becomes this one: the sentence says where it comes from. */
CHECK_OF_LEARN void check_because(const check_case *c, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
