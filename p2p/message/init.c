/* SPDX-License-Identifier: MIT */
/* Joining the world, and the one piece of state that does not hang off a communicator. */
#include "p2p/message/internal.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "build_id.h"
#include "p2p/shared/control.h"

/* Per thread only because a line belongs to the call that follows on the same thread. */
static _Thread_local struct {
    const char *file;
    int line;
} here;
static p2p_comm *process_world; /* after finalize only its handle is left */

void p2p__here(const char *file, int line)
{
    here.file = file;
    here.line = line;
}

void p2p__take_line(const char **file, int *line)
{
    *file = here.file;
    *line = here.line;
    here.file = NULL;
    here.line = 0;
}

bool p2p_layer_line_is_noted(void)
{
    return here.file;
}

bool p2p__inside_job(void)
{
    return process_world || getenv(P2P_JOB_VARIABLE);
}

bool p2p__prints_errors(void)
{
    return !process_world || process_world->errors == P2P_ERRORS_FATAL;
}

/* SIGSEGV, SIGBUS: in a call it may be a buffer of the program's that is not there. If not, the process dies as it would have. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    p2p_engine *engine = process_world ? process_world->engine : NULL;
    bool sent = info->si_code <= 0; /* by a process, not by an instruction */
    signal(number, SIG_DFL);
    if (!sent && engine && p2p__is_inside(engine)) p2p__tell_bad_memory(engine, info->si_addr);
    if (sent) raise(number);
}

/* Not where somebody else does, as sanitizers do. */
static void watch_faults(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS};
    struct sigaction own = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK}, before;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (sigaction(faults[i], NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
            sigaction(faults[i], &own, NULL);
}

p2p_err p2p__become_rank(int rank, int control, int memory_fd, scoreboard *b, p2p_comm **world, char *why,
                         size_t why_bytes)
{
    bool shares_memory = p2p__world_find(b->config.world)->link_memory;
    if (!shares_memory && memory_fd >= 0) close(memory_fd);
    if (!shares_memory) memory_fd = -1;
    p2p_engine *engine;
    p2p_comm *comm = NULL;
    if (p2p__engine_create(rank, control, memory_fd, b, &engine) == P2P_OK) {
        comm = p2p__world_new(engine);
        if (!comm) p2p__engine_destroy(engine);
    }
    if (!comm) {
        snprintf(why, why_bytes, "no memory for a world of %d ranks", b->size);
        return P2P_ERR_NOMEM;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    process_world = *world = comm;
    watch_faults();
    return P2P_OK;
}

static p2p_err init_error(p2p_err err, const char *why)
{
    fprintf(stderr, "pairwise: p2p_init: %s\n", why);
    return err;
}

/* There is no world on which errors could be made to return: as by default, one ends the process. */
_Noreturn static void end_without_world(void)
{
    fflush(stdout);
    fflush(stderr);
    _exit(1);
}

/* With a scoreboard of one's own, which goes when the rank finalizes, or at once if it cannot become one. */
static p2p_err become_owner(int rank, int control, int memory_fd, scoreboard *b, p2p_comm **world)
{
    char why[400];
    p2p_err err = P2P_OK;
    if (rank < 0 || rank >= b->size)
        err = init_error(P2P_ERR_STATE, P2P_JOB_VARIABLE " names no rank of this job");
    else if (atomic_load(&b->rows[rank].pid))
        err = init_error(P2P_ERR_STATE, "another process is this rank already");
    else if ((err = p2p__become_rank(rank, control, memory_fd, b, world, why, sizeof why)) != P2P_OK)
        init_error(err, why);
    if (err)
        p2p__scoreboard_close(b, true);
    else
        (*world)->engine->owns_scoreboard = true;
    return err;
}

/* Nothing to supervise: one rank, which talks to itself. */
static p2p_err start_alone(p2p_comm **world)
{
    p2p_config config;
    char why[400];
    p2p_err err = p2p__config_read(&config, why, sizeof why);
    if (err) return init_error(err, why);
    config.trace_room = 0; /* there is no launcher to write the file */
    int fd;
    scoreboard *b = p2p__scoreboard_create(1, &config, false, &fd);
    if (!b) return init_error(P2P_ERR_SYS, "no shared memory");
    close(fd);
    err = become_owner(0, -1, -1, b, world);
    if (err) return err;
    fprintf(stderr, "pairwise: note: no launcher, so this is a world of one rank; for more: launch -n 4 PROGRAM\n");
    if (getenv("PAIRWISE_TRACE"))
        fprintf(stderr, "pairwise: note: a trace is written by the launcher, so there is none\n");
    return P2P_OK;
}

/* What the launcher that started this program has told it. */
static bool read_job(int *rank, int *control, int *scoreboard_fd)
{
    const char *job = getenv(P2P_JOB_VARIABLE);
    return job && sscanf(job, "%d,%d,%d", rank, control, scoreboard_fd) == 3;
}

int p2p__launched_rank(void)
{
    int rank, control, scoreboard_fd;
    return read_job(&rank, &control, &scoreboard_fd) ? rank : -1;
}

static p2p_err start_launched(p2p_comm **world)
{
    int rank, control, scoreboard_fd;
    char why[400];
    if (!read_job(&rank, &control, &scoreboard_fd) || fcntl(control, F_SETFD, FD_CLOEXEC) != 0)
        return init_error(P2P_ERR_STATE,
                          P2P_JOB_VARIABLE " is set, but its launcher cannot be reached from this process");
    scoreboard *b = p2p__scoreboard_attach(scoreboard_fd, why, sizeof why);
    if (!b) {
        size_t used = strlen(why);
        snprintf(why + used, sizeof why - used,
                 " (rank %d)\n  try: make, for several hosts make hosts as well, and link the program again", rank);
        return init_error(P2P_ERR_STATE, why);
    }
    fcntl(scoreboard_fd, F_SETFD, FD_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return become_owner(rank, control, scoreboard_fd, b, world);
}

p2p_err p2p_init(p2p_comm **world)
{
    if (!world) return P2P_ERR_ARG;
    if (process_world)
        return init_error(P2P_ERR_STATE, process_world->engine ? "called twice" : "called after p2p_finalize");
    p2p_err err = getenv(P2P_JOB_VARIABLE) ? start_launched(world) : start_alone(world);
    if (err) end_without_world();
    return P2P_OK;
}

int p2p_launched(void)
{
    int rank, control, scoreboard_fd;
    char why[400];
    if (!read_job(&rank, &control, &scoreboard_fd) || scoreboard_fd < 0) return 0;
    if (process_world) return process_world->launched ? process_world->size : 0;
    scoreboard *b = p2p__scoreboard_attach(scoreboard_fd, why, sizeof why);
    int size = b ? b->generation.members : 0;
    if (b) p2p__scoreboard_close(b, true);
    return size;
}

static void leave_launched(void)
{
    p2p_finalize(process_world);
}

p2p_err p2p__launched_world(p2p_comm **world)
{
    *world = process_world;
    if (process_world) return P2P_OK;
    p2p_err err = p2p_init(world);
    if (err) return err;
    process_world->launched = true;
    return atexit(leave_launched) ? P2P_ERR_SYS : P2P_OK;
}

void p2p__tell_early(const scoreboard_call *call, const char *text)
{
    p2p_blame blame = {.what = {.class = CLASS_CALL_ORDER}};
    if (process_world) {
        blame.what = (p2p_diagnosis){.class = CLASS_INVALID_ARGUMENT, .argument = P2P_ARGUMENT_COMMUNICATOR};
        if (process_world->row) p2p__publish(process_world->row, process_world->rank, &blame, call, text, 0);
        return;
    }
    int rank, control, scoreboard_fd;
    char why[400];
    if (!read_job(&rank, &control, &scoreboard_fd) || scoreboard_fd < 0) return;
    scoreboard *b = p2p__scoreboard_attach(scoreboard_fd, why, sizeof why);
    if (!b) return;
    scoreboard_row *row = rank >= 0 && rank < b->size ? &b->rows[rank] : NULL; /* of a rank that has not joined */
    p2p__scoreboard_close(b, false);
    if (row) p2p__publish(row, rank, &blame, call, text, 0);
}

/* ---- Finalize ---- */

enum ending { ALL_SENT, ALL_GOODBYES, ALL_RECEIVED };

/* After all ranks' goodbyes no new message can come: what was sent and not received is in the links. And what this rank
 * has sent since, for a collective that was begun, its peer receives, unless it has left. */
static bool has_ended(p2p_engine *engine, void *arg)
{
    enum ending wanted = *(enum ending *)arg;
    if (wanted != ALL_RECEIVED) return wanted == ALL_SENT ? engine->end.queued == 0 : engine->all_done;
    for (int i = 0; i < engine->size; i++) {
        const p2p_peer *peer = &engine->peers[i];
        if (i != engine->rank &&
            peer->link.frames_in != (uint32_t)p2p__scoreboard_sent(engine->scoreboard, i)[engine->rank])
            return false;
        if (peer->link.head && atomic_load(&engine->scoreboard->rows[i].state) != SCOREBOARD_FINISHED) return false;
    }
    return true;
}

/* The others; before the goodbye those only that have not yet read what was sent to them. */
static void describe_others(p2p_engine *engine, void *arg, scoreboard_wait *wait)
{
    for (int i = 0; i < engine->size; i++)
        if (i != engine->rank && (*(enum ending *)arg != ALL_SENT || engine->peers[i].link.head))
            p2p__set_add(&wait->need, i);
}

static p2p_err say_goodbye(p2p_comm *world)
{
    p2p_engine *engine = world->engine;
    enum ending wanted = ALL_SENT;
    p2p_waiting waiting = {
        .ready = has_ended, .describe = describe_others, .arg = &wanted, .state = SCOREBOARD_BLOCKED};
    p2p_err err = p2p__block(world, &waiting);
    if (err || engine->control < 0) return err;
    p2p__control_tell(engine->control, CONTROL_GOODBYE, engine->rank, engine->returned);
    waiting.state = SCOREBOARD_FINALIZING;
    waiting.patient = !engine->timed_out; /* a rank that did not answer in time may never say goodbye */
    for (wanted = ALL_GOODBYES; !err && wanted <= ALL_RECEIVED; wanted++) err = p2p__block(world, &waiting);
    return err;
}

void p2p__release_layers(p2p_engine *engine)
{
    for (p2p_request at = engine->requests; at; at = at->all_next) {
        if (at->kind != REQUEST_LAYER || !at->layer_state) continue;
        if (at->layer->release) at->layer->release(at->layer_state);
        at->layer_state = NULL;
    }
}

static void bury_all(p2p_engine *engine, p2p_err err)
{
    scoreboard *own = engine->owns_scoreboard ? engine->scoreboard : NULL;
    bool supervised = engine->control >= 0;
    p2p__release_layers(engine);
    p2p__give_up(engine, err ? err : P2P_ERR_STATE);
    atomic_store(&engine->row->state, SCOREBOARD_FINISHED);
    for (p2p_comm *comm = engine->comms, *next; comm; comm = next) {
        next = comm->next;
        p2p__comm_bury(comm);
    }
    p2p__engine_destroy(engine);
    if (own) p2p__scoreboard_close(own, !supervised); /* a call that comes too late is shown there */
}

p2p_err p2p__finish(p2p_comm *world, bool *repair)
{
    if (world && world == process_world && !world->engine) {
        p2p__here(NULL, 0);
        return P2P_OK;
    }
    p2p_err err = p2p__enter(world, &(p2p_call){"p2p_finalize", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    if (!world) return P2P_ERR_STATE;
    if (err && (!world->engine || !*world->engine->this_process)) return err;
    if (!err && world != process_world) return p2p__leave(world, p2p__fail(world, CAUSE_NOT_THE_WORLD));
    p2p_engine *engine = world->engine;
    bool entered = !err;
    if (!err) err = say_goodbye(world);
    if (!err) err = p2p__report_leaks(world);
    if (!err && engine->explain_end) engine->explain_end(engine);
    if (err == P2P_ERR_PEER_DEAD && p2p__must_repair(engine)) { /* nothing is released: p2p_repair goes on with it */
        p2p_errors mode = world->errors;
        if (repair) world->errors = P2P_ERRORS_RETURN;
        if (repair) *repair = true;
        if (entered) err = p2p__leave(world, err);
        world->errors = mode;
        return err;
    }
    if (err && world->errors == P2P_ERRORS_FATAL) atomic_store(&engine->row->state, SCOREBOARD_FINISHED);
    engine->depth = 1; /* it may have been called by a library (p2p_layer_call_begin), whose call ends here too */
    if (entered) err = p2p__leave(world, err);
    bury_all(engine, err);
    return err;
}

p2p_err p2p_finalize(p2p_comm *world)
{
    return p2p__finish(world, NULL);
}

void p2p_abort(p2p_comm *comm, int status)
{
    p2p_err err = p2p__enter(comm, &(p2p_call){"p2p_abort", SHAPE_PLAIN, 0, 0, 0, 0, 0, 0, 0});
    int code = status & 0xff ? status & 0xff : 1;
    fflush(stdout);
    if (!err && comm->engine->control >= 0)
        p2p__control_tell(comm->engine->control, CONTROL_ABORT, comm->engine->rank, code);
    _exit(code);
}
