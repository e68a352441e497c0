/* SPDX-License-Identifier: MIT */
/* inside: what only the files behind learn_check share. */
#ifndef PAIRWISE_LEARN_INSIDE_H
#define PAIRWISE_LEARN_INSIDE_H

#include <jansson.h>

#include "exercises/check/check_internal.h"
#include "learn/learn.h"

struct pollfd;

/* ---- spawn.c ---- */

/* Descriptors that are served while a command runs: polled says which (at most LEARN_POLLED) and returns how many; serve is
 * called when something has come on one of them, and when time has passed. */
typedef struct {
    size_t (*polled)(void *arg, struct pollfd *polled);
    void (*serve)(void *arg);
    void *arg;
} learn_beside;

enum { LEARN_POLLED = 1024, LEARN_GIVEN = CHECK_MAX_RANKS + 2 };

typedef struct {
    const char *const *argv; /* NULL at the end */
    const int *given;        /* descriptors that it gets as CHECK_FD, CHECK_FD + 1, ... */
    size_t given_count;
    const learn_beside *beside;   /* may be NULL */
    double seconds;               /* then it is killed */
    const learn_options *options; /* confine is called in it; may be NULL */
    enum learn_step step;         /* what confine is told */
    const char *variable;         /* NAME=VALUE for its environment; NULL: none */
} learn_command_line;

/* What it left. Of each stream at most LEARN_OUTPUT bytes are kept, half from the beginning and half from the end. */
#define LEARN_OUTPUT ((size_t)512 << 10)
#define LEARN_FLOOD ((size_t)64 << 20) /* more than that from both, and it is killed */

typedef struct {
    int status; /* exit code, or 128 + signal; 127: it could not be started */
    bool late, flooded;
    learn_text out, err;
    size_t out_bytes, err_bytes; /* it wrote, kept or not */
    double seconds;
} learn_spawned;

/* Run it, with nothing on its standard input and no PAIRWISE_ variable in its environment but what is given. Whatever it
 * started and left is killed. Free the result with learn_spawned_free. */
void learn_spawn(const learn_command_line *line, learn_spawned *result);
void learn_spawned_free(learn_spawned *result);
#define OWNED_SPAWNED __attribute__((cleanup(learn_spawned_free))) learn_spawned
double learn_now(void); /* seconds, monotonic */

/* Start it, with nowhere to print to, as the first process of a group of that number; -1 with errno. Its end: learn_stop_all
 * kills every child of this process, and what they leave. */
pid_t learn_start(const learn_command_line *line);
void learn_stop_all(void);

/* ---- check.c ---- */

/* Two checks of one exercise in one checkout would build over each other: the second waits; those that use the same program
 * again run side by side. What it returns is to be closed; -1 where nothing can be locked. */
int learn_lock_work(const learn_exercise *e, const learn_options *o);

/* ---- compile.c ---- */

/* Where what is built of it lies; free it. */
char *learn_work_folder(const learn_exercise *e, const learn_options *options);

/* Where confined ranks find guard and program, which nobody but the kernel can read: below the work folder. */
#define LEARN_UNREAD "unread"

/* The compiler's files are no larger than this, whatever was compiled. */
#define LEARN_MADE_BYTES ((size_t)64 << 20)

/* Make the program that runs as the ranks: its path is put in `program` (LEARN_PATH bytes). False if that fails: result
 * then explains why. Warnings go to `warnings`. */
bool learn_compile(const learn_exercise *e, const char *folder, const learn_options *options, char *program,
                   learn_result *result);

/* ---- rate.c ---- */

/* A kernel that has passed, on this machine's OpenCL device: it may fail there; else result says how fast it is. */
void learn_rate(const learn_exercise *e, const char *folder, const learn_options *options, learn_result *result);

/* ---- keys.c ---- */

uint64_t learn_key(uint64_t secret, uint64_t world, uint64_t rank); /* 0 from 0 */

/* ---- relay.c: what ranks send each other ---- */

typedef struct {
    uint64_t messages, bytes;
} learn_sent;

typedef struct learn_relay learn_relay;

/* The launcher gets the other end. NULL with errno if there is no socket to be had. */
learn_relay *learn_relay_new(int ranks, int *launchers_end);
void learn_relay_free(learn_relay *r);
size_t learn_relay_polled(const learn_relay *r, struct pollfd *polled);
void learn_relay_serve(learn_relay *r);

/* What went from one rank to another on a communicator. */
learn_sent learn_relay_sent(const learn_relay *r, uint32_t context, int from, int to);

/* ---- run.c: one world ---- */

/* What a rank wrote into its socket. */
typedef struct {
    int fd;
    learn_text text; /* whole records, once it has been read */
    bool garbled;    /* there is something behind them that is no record */
    bool full, all_done;
} learn_reports;

typedef struct {
    const learn_exercise *e;
    const check_world_plan *plan;
    const check_case *cases; /* [plan->count] */
    const char *program;
    const learn_options *options;
    const char *schedule; /* the order that messages are to come in; NULL: as it happens, and they are counted */
    learn_relay *relay;
    learn_reports reports[CHECK_MAX_RANKS + 1]; /* of each rank, and behind the last one the launcher's */
    json_t *findings; /* of the launcher's report, docs/reports.md; NULL: it was killed before it could write one */
    learn_spawned job;
    learn_text outputs[CHECK_MAX_RANKS]; /* what each printed on standard output */
} learn_world;

/* "my_broadcast on 2 ranks, count 1, f32, root 1, buffered (the same with 1 rank was right)": a case, NULL: none of the
 * world's. Free it. */
char *learn_what_ran(const learn_exercise *e, const check_plan *plan, size_t world, const check_case *c);

/* Run `program` as the world's ranks. False if it could not even be tried: why says what failed. */
bool learn_run_world(learn_world *w, const char *program, const check_plan *plan, size_t number,
                     const learn_options *options, learn_text *why);
double learn_world_seconds(const learn_options *options); /* time limit of one world */

/* Its time was over, and ranks that computed had less of a processor than on an idle machine, though it was waited for. */
bool learn_machine_was_busy(const learn_world *w);

/* The world with this case alone becomes this process, one rank of it in gdb: nothing is counted or reported. Returns only
 * if that fails: errno. */
void learn_debug_world(learn_world *w, const char *program, const learn_place *place, int rank);
void learn_world_free(learn_world *w);

/* The first record of that kind (and name, unless NULL) that a rank made in a case, behind that one (NULL: of all); NULL if
 * there is none. Data lie behind the record. */
const check_record *learn_record(const learn_world *w, int rank, const check_record *behind, int number,
                                 enum check_kind kind, const char *name);

/* Whose line of output it is, "[2] text": text is set behind that. -1, and text as it was: the launcher's own. */
int learn_rank_of_line(const char *line, const char **text);

/* ---- orders.c ---- */

/* schedules[0]: of an order that a case comes out differently in than in the first one, or goes wrong; [1]: of the first
 * one. story: what it was that came first, for people. */
typedef struct {
    char *schedules[2], *story;
} learn_order;

/* Look for one; world w is not run. True: there is one. learn_order_free ends it in any case. */
bool learn_find_order(const learn_world *w, const check_plan *plan, const check_case *c, learn_order *order,
                      learn_result *result);
void learn_order_free(learn_order *order);

/* ---- relay.c, again ---- */

/* Cases that were right were so by what ranks said: does it fit what passed between them? If not, result says so. */
void learn_check_claims(const learn_world *w, learn_result *result);

/* ---- judge.c ---- */

/* The function that is called in this case (NULL: in any): "my_broadcast". */
const char *learn_call_of(const learn_exercise *e, const check_case *c);

/* Let the test judge a case that all ranks have been through: true, or the failure is noted in result (key, shown,
 * broke). */
bool learn_judge(learn_world *w, const check_case *c, learn_result *result);

/* What its test knows of a case that ended, and has been explained (learn_autopsy). */
void learn_judge_ended(learn_world *w, const check_case *c, learn_result *result);

/* Has every rank returned P2P_OK from this case, as far as it has returned? If not, result says so. */
bool learn_all_returned_ok(const learn_world *w, const check_case *c, learn_result *result);

#define LEARN_ANY_SOURCE \
    "a source came out as -1, which is P2P_ANY_SOURCE: it takes whatever comes first, from any rank and any round."

/* Give a result a failure. The first one counts. */
void learn_fail(learn_result *result, const char *key, const char *shown, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* One more sentence about the failure that is noted. */
void learn_add_to_failure(learn_result *result, const char *words);

/* What to try, where the hints have no words for it. */
void learn_set_advice(learn_result *result, const char *advice);

/* For values.c, while a case is judged: note a failure; the type of a report; "ranks 1 and 3", "every rank but 0". */
void learn_judge_fail(const char *key, const char *shown, const char *broke);
enum dtype check_dtype(const check_case *c, int rank, const char *name);
void learn_add_ranks(learn_text *t, const bool in[], int ranks);
void learn_add_numbers(learn_text *t, const bool in[], int count); /* "1, 2 and 3" */

/* ---- autopsy.c ---- */

/* If this is a file of the learner's, note the line in the result; as tools print it: "/home/me/broadcast.c:17" (report.c). */
void learn_note_line(learn_result *result, const learn_exercise *e, const char *path, int line);
void learn_note_tools_line(learn_result *result, const learn_exercise *e, const char *place);

/* Is all memory free that the learner's code took in this case? If not, result says where it was taken. */
bool learn_all_freed(const learn_world *w, const check_case *c, learn_result *result);

/* A world has ended early, in this case (NULL: after all of them): say why in result. */
void learn_autopsy(const learn_world *w, const check_case *c, learn_result *result);

#endif
