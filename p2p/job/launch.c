/* SPDX-License-Identifier: MIT */
/* Launching: pipes, control sockets and the scoreboard are made, ranks are forked, and then supervised (supervisor.c). */
#include "p2p/job/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p2p/job/hosts.h"
#include "p2p/job/orders.h"
#include "p2p/message/internal.h"
#include "p2p/shared/file.h"
#include "p2p/shared/process.h"
#include "p2p/trace/notes.h"
#include "p2p/world/cma.h"

#define DESCRIPTORS_EACH 3
#define DESCRIPTORS_BESIDE 20
#define RANK_LEAST ((uint64_t)256 << 10)
#define RANK_LEAST_PEER UINT64_C(512)

/* The machine would not give what this job needs, before it could begin. */
__attribute__((format(printf, 3, 4))) static bool refused(p2p_job *job, const char *advice, const char *format, ...)
{
    p2p_words w = {.used = 0};
    va_list args;
    va_start(args, format);
    w.used = (size_t)vsnprintf(w.text, sizeof w.text, format, args);
    va_end(args);
    p2p__add_advice(&w, advice);
    p2p__report_refused(&job->report, job->hosts, &w);
    return false;
}

static void close_if(int fd)
{
    if (fd >= 0) close(fd);
}

/* ---- In the rank ---- */

static void restore_descriptors(const p2p_job *job)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == job->old_limit) return;
    limit.rlim_cur = (rlim_t)job->old_limit;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* With its ends of the control socket and of standard input, output and errors. */
_Noreturn static void be_rank(p2p_job *job, int rank, int control, const int standard[3])
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != job->self) _exit(1);
    prctl(PR_SET_DUMPABLE, job->old_dumpable);
    sigaction(SIGCHLD, &job->old_child, NULL);
    sigprocmask(SIG_SETMASK, &job->old_mask, NULL);
    restore_descriptors(job);
    for (int i = job->first; i < job->first + job->count;
         i++) { /* a copy of another rank's socket left open here would hide that rank's death */
        close_if(job->ranks[i].control);
        close_if(job->ranks[i].out.fd);
        close_if(job->ranks[i].err.fd);
    }
    for (size_t i = 0; i < job->link_request_count; i++) close_if(job->link_requests[i].fd_for_b); /* nor of a link */
    if (job->groups) munmap(job->groups, (size_t)job->count * sizeof *job->groups);
    p2p__kept_close(job);
    for (int h = 0; job->hosts && job->hosts->carrier->descriptor && h < job->hosts->count; h++)
        close_if(job->hosts->carrier->descriptor(h));
    const int others[] = {job->signals,     job->status,          job->asker,   job->stdin_pipe,
                          job->plan->relay, job->plan->report_to, job->spill.fd};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) close_if(others[i]);
    if (rank == job->plan->debug_rank) { /* the debugger gets the terminal */
        signal(SIGTTOU, SIG_IGN);
        tcsetpgrp(STDIN_FILENO, getpgrp());
        signal(SIGTTOU, SIG_DFL);
    }
    for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++) {
        if (standard[i] < 0) continue;
        dup2(standard[i], i);
        if (standard[i] > STDERR_FILENO) close(standard[i]);
    }
    if (job->hosts) sched_setaffinity(0, sizeof job->hosts->cores, &job->hosts->cores);
    int status = job->plan->child(job->plan->arg, rank, control, job->scoreboard_fd, job->scoreboard);
    fflush(stdout);
    fflush(stderr);
    _exit(status & 0xff ? status & 0xff : status != 0);
}

/* ---- In the supervisor ---- */

static int open_input(p2p_job *job, int rank)
{
    if (rank == job->plan->debug_rank) return -1;
    if (rank != 0) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    bool foreground = isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) == getpgrp();
    if (!isatty(STDIN_FILENO)) return -1; /* rank 0 reads it itself */
    int ends[2];
    if (!foreground || job->plan->debug_rank >= 0 || pipe2(ends, O_CLOEXEC) != 0)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    job->stdin_pipe = ends[1];
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    return ends[0];
}

/* A socket: a pipe other ranks could open through /proc, and so write lines as this rank. */
static bool make_output(p2p_job *job, p2p_stream *stream, int rank, p2p_sink *sink, p2p_spill *keep, int *rank_end)
{
    int ends[2];
    if (rank == job->plan->debug_rank) return true;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return false;
    shutdown(ends[0], SHUT_WR);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *stream = (p2p_stream){.fd = ends[0],
                           .rank = rank,
                           .sink = sink,
                           .tag = job->plan->options.tag_output,
                           .keep = keep,
                           .kept = stream->kept, /* of a process before this one, as the next two lines */
                           .replayed = stream->replayed,
                           .lost = stream->lost,
                           .line = stream->line,
                           .length = stream->length,
                           .room = stream->room,
                           .said = job->plan->options.repair ? job->ranks[rank].said : NULL,
                           .at_line_start = true};
    *rank_end = ends[1];
    return true;
}

bool p2p__start_rank(p2p_job *job, int rank)
{
    p2p_rank_process *process = &job->ranks[rank];
    p2p_spill *keep = job->plan->options.ordered_output ? &job->spill : NULL;
    int control[] = {-1, -1}, standard[] = {-1, -1, -1};
    bool made = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) == 0;
    if (made) {
        process->control = control[0];
        standard[0] = open_input(job, rank);
        made = make_output(job, &process->out, rank, &job->out, keep, &standard[1]) &&
               make_output(job, &process->err, rank, &job->err, NULL, &standard[2]);
    } else {
        control[1] = -1; /* Linux leaves a number there that is not ours */
    }
    pid_t pid = made ? fork() : -1;
    if (pid == 0) be_rank(job, rank, control[1], standard);
    int saved = errno;
    close_if(control[1]);
    for (int i = 0; i < 3; i++) close_if(standard[i]);
    if (pid < 0) {
        job->watch.ended[process->rank] = true;
        return refused(
            job, made ? "fewer ranks, or a higher limit (ulimit -u)" : "fewer ranks, or a higher limit (ulimit -n)",
            "%s of rank %d failed: %s", made ? "fork" : "making the pipes", rank, strerror(saved));
    }
    setpgid(pid, pid);
    process->pid = pid;
    process->started = p2p__now();
    job->watch.ended[process->rank] = false;
    p2p__guard_rank(job, rank);
    job->alive++;
    return true;
}

/* ---- Descriptors and signals ---- */

static bool reserve_descriptors(p2p_job *job)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return true;
    job->old_limit = limit.rlim_cur;
    rlim_t needed = (rlim_t)(DESCRIPTORS_EACH * job->count + DESCRIPTORS_BESIDE);
    if (limit.rlim_cur >= needed) return true;
    limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
    if (limit.rlim_cur >= needed && setrlimit(RLIMIT_NOFILE, &limit) == 0) return true;
    return refused(job, "a higher limit (ulimit -n), or fewer ranks",
                   "supervising %d ranks needs %lu descriptors, the limit is %lu", job->count, (unsigned long)needed,
                   (unsigned long)limit.rlim_max);
}

/* A rank has tables of all other ranks too. Where memory lacks, the system would kill a process to get it. */
static bool memory_is_there(p2p_job *job)
{
    uint64_t each = RANK_LEAST + (uint64_t)job->size * RANK_LEAST_PEER + job->plan->options.memory_each,
             needed = (uint64_t)job->count * each, left = p2p__memory_left();
    if (each < job->plan->options.memory_each || needed / each != (uint64_t)job->count) needed = UINT64_MAX;
    if (needed <= left) return true;
    return refused(job, "fewer ranks, or smaller sizes",
                   "%d ranks need at least %.1f GiB of memory, %.1f MiB each, and there is %.1f GiB", job->count,
                   (double)needed / (1 << 30), (double)each / (1 << 20), (double)left / (1 << 30));
}

static bool open_job(p2p_job *job)
{
    const int *sinks = job->plan->sinks;
    const p2p_config *config = &job->plan->config;
    bool may_read = (job->count > 1 || job->hosts) && config->direct && p2p__world_find(config->world)->read &&
                    p2p__cma_works(job->hosts);
    job->scoreboard = p2p__scoreboard_create(job->size, config, may_read, &job->scoreboard_fd);
    if (!job->scoreboard) {
        size_t bytes = p2p__scoreboard_bytes(job->size, config);
        const char *advice = errno == EFBIG    ? "a higher limit on files (ulimit -f unlimited), or fewer ranks"
                             : errno == ENOMEM ? "a higher limit on memory (ulimit -v unlimited), or fewer ranks"
                                               : "fewer ranks";
        return refused(job, advice, "no shared memory for %d ranks (%zu MiB): %s", job->size, (bytes >> 20) + 1,
                       strerror(errno));
    }
    size_t size = (size_t)job->size;
    job->ranks = calloc(size, sizeof *job->ranks);
    job->watch = (p2p_watch){.size = job->size,
                             .scoreboard = job->scoreboard,
                             .seen = calloc(size, sizeof *job->watch.seen),
                             .ended = calloc(size, sizeof *job->watch.ended)};
    for (int i = 0; job->ranks && job->watch.ended && i < job->size; i++) {
        job->ranks[i] = (p2p_rank_process){.rank = i, .control = -1, .out.fd = -1, .err.fd = -1};
        job->watch.ended[i] = true;
    }
    if (!job->ranks || !job->watch.seen || !job->watch.ended || p2p__links_init(job) ||
        (config->network.placed > 1 && !(job->ports = p2p__ports_new())) || (job->hosts && !p2p__hosts_begin(job)))
        return refused(job, NULL, "no memory to supervise %d ranks", job->size);
    if (job->plan->options.repair)
        p2p__scoreboard_begin(job->scoreboard, &(scoreboard_generation){.members = job->size, .repairs = true});
    p2p__sink_init(&job->out, sinks ? sinks[0] : STDOUT_FILENO);
    p2p__sink_init(&job->err, sinks ? sinks[1] : STDERR_FILENO);
    job->spill.share = SPILL_MOST / size;
    return true;
}

/* Nothing is left to be said or written: status is that of this process, if it ends here. */
static void close_job(p2p_job *job, int status)
{
    int *statuses = job->plan->options.rank_statuses;
    for (int i = 0; job->ranks && i < job->size; i++) {
        if (statuses) statuses[i] = job->ranks[i].status;
        close_if(job->ranks[i].control);
    }
    p2p__hosts_end(job->hosts, job->hosts && !job->hosts->lost, status);
    p2p__links_free(job);
    if (job->ranks) p2p__kept_close(job);
    free(job->watch.seen);
    free(job->watch.ended);
    free(job->ports);
    free(job->out.bytes);
    free(job->err.bytes);
    free(job->ranks);
    if (job->scoreboard) p2p__scoreboard_close(job->scoreboard, true);
    const int left[] = {job->spill.fd, job->status, job->asker, job->scoreboard_fd, job->stdin_pipe, job->signals};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) close_if(left[i]);
    restore_descriptors(job);
}

int p2p__run_job(const p2p_plan *plan, p2p_err *err)
{
    p2p_job job = {.plan = plan,
                   .size = plan->size,
                   .hosts = plan->hosts,
                   .first = plan->hosts ? plan->hosts->first : 0,
                   .count = plan->hosts ? plan->hosts->ranks : plan->size,
                   .scoreboard_fd = -1,
                   .spill.fd = -1,
                   .stdin_pipe = -1,
                   .signals = -1,
                   .status = -1,
                   .asker = -1,
                   .self = getpid()};
    *err = P2P_OK;
    if (plan->config.hosts > 1 && plan->size > 1 && !plan->hosts && plan->relay < 0)
        return p2p__run_on_hosts(plan, err);
    fflush(NULL);
    bool lost_output = fcntl(STDOUT_FILENO, F_GETFD) < 0;
    int status = 1, fd;
    do fd = open("/dev/null", O_RDWR); /* descriptors 0 to 2 must be taken, or a pipe would land there */
    while (fd >= 0 && fd <= STDERR_FILENO);
    close_if(fd);
    bool ready = reserve_descriptors(&job) && memory_is_there(&job) && open_job(&job);
    if (job.hosts) ready = p2p__hosts_ready(job.hosts, ready);
    if (!ready) {
        *err = P2P_ERR_SYS;
    } else {
        if (lost_output) job.out.error = EBADF;
        job.oom_kills = p2p__oom_kills();
        job.status = p2p__status_open();
        p2p__trace_open(&job);
        job.old_dumpable = prctl(PR_GET_DUMPABLE);
        prctl(PR_SET_DUMPABLE, 0); /* what the supervisor has open is not for ranks to open through /proc */
        status = p2p__supervise(&job);
        prctl(PR_SET_DUMPABLE, job.old_dumpable);
        job.began = p2p__clocks_apply(&job);
        if (!p2p__trace_close(&job) && !status) status = 1;
        if (!p2p__record_write(&job) && !status) status = 1;
    }
    if (plan->orders) p2p__orders_ended(plan->orders, &job);
    if (!p2p__report_write(&job.report, plan, status) && !status) status = 1;
    p2p__report_free(&job.report);
    if (ready && !p2p__judges(&job)) status = 0;
    close_job(&job, status);
    return status;
}

/* ---- p2p_launch ---- */

typedef struct {
    int (*rank_main)(p2p_comm *world, void *arg);
    void *arg;
} rank_function;

/* The function, and the end of the world. */
static int run_whole(const rank_function *function, p2p_comm *world)
{
    const scoreboard_shared *shared;
    p2p_err err;
    int status;
    bool again; /* this rank has done its part, but another one has died before it had done its own */
    do {
        again = false;
        status = function->rank_main(world, function->arg);
        shared = world->engine ? world->engine->scoreboard->shared : NULL; /* it stays mapped */
        if (world->engine) world->engine->returned = !status;
        err = p2p__finish(world, status ? NULL : &again);
    } while (again && p2p_repair(&world) == P2P_OK);
    if (err && !status && shared && !atomic_load(&shared->failed))
        fprintf(stderr, "pairwise: %s\n", p2p_error_message(world));
    return status ? status : err != P2P_OK;
}

static int run_function(void *arg, int rank, int control, int scoreboard_fd, scoreboard *b)
{
    const rank_function *function = arg;
    char why[400], job[64];
    p2p_comm *world;
    snprintf(job, sizeof job, "%d,%d,%d", rank, control, -1);
    setenv(P2P_JOB_VARIABLE, job, 1);
    if (!p2p__become_rank(rank, control, scoreboard_fd, b, &world, why, sizeof why)) return run_whole(function, world);
    fprintf(stderr, "pairwise: rank %d: %s\n", rank, why);
    return 1;
}

p2p_err p2p__plan_settings(p2p_plan *plan, char *why, size_t why_bytes)
{
    p2p_err err = p2p__config_read(&plan->config, why, why_bytes);
    if (err) return err;
    const char *world = plan->options.world;
    if (world && !p2p__world_find(world)) {
        snprintf(why, why_bytes, "there is no world \"%s\"; there is: " P2P_WORLD_NAMES, world);
        return P2P_ERR_ARG;
    }
    if (world) snprintf(plan->config.world, sizeof plan->config.world, "%s", world);
    if (plan->options.strict) plan->config.strict = true;
    if (plan->options.explain) plan->config.explain = true;
    p2p_options *o = &plan->options;
    bool writes = !plan->hosts || !plan->hosts->own; /* host 0 does */
    if (!o->trace) o->trace = getenv("PAIRWISE_TRACE");
    if (!o->trace) plan->config.trace_room = 0;
    plan->config.trace_bytes = (size_t)plan->size * p2p__trace_rank_bytes(plan->size, &plan->config);
    plan->config.metrics = o->metrics != NULL;
    plan->config.record = o->record != NULL;
    plan->config.notes_bytes = p2p__notes_bytes(plan->size, &plan->config);
    if (writes && o->trace && !p2p__file_check("trace", o->trace, why, why_bytes)) return P2P_ERR_ARG;
    if (writes && o->metrics && !p2p__file_check("metrics", o->metrics, why, why_bytes)) return P2P_ERR_ARG;
    if (writes && o->record && !p2p__file_check("record", o->record, why, why_bytes)) return P2P_ERR_ARG;
    plan->config.reports = o->report; /* on every host: what its ranks have sent is noted for the report of host 0 */
    if (!writes) o->report = NULL;
    if (o->report && !p2p__file_check("report", o->report, why, why_bytes)) return P2P_ERR_ARG;
    if (o->repair < 0 || o->repair > P2P_REPAIR_MOST) {
        snprintf(why, why_bytes, "repair is %d: it is a number of processes, up to %d; 0 for none", o->repair,
                 P2P_REPAIR_MOST);
        return P2P_ERR_ARG;
    }
    if (o->repair && plan->relay >= 0) {
        snprintf(why, why_bytes, "a job whose messages are carried by another process (--relay) cannot be repaired");
        return P2P_ERR_ARG;
    }
    const char *network = plan->options.network;
    if (network && !p2p__network_parse(network, &plan->config.network, why, why_bytes)) return P2P_ERR_ARG;
    p2p_network *n = &plan->config.network;
    if (!p2p__network_place(n, plan->size, why, why_bytes)) return P2P_ERR_ARG;
    if (n->placed > 1 && (plan->hosts || plan->config.hosts > 1)) {
        snprintf(why, why_bytes,
                 "a virtual network with hosts is of one host, and the ranks of this job are on several");
        return P2P_ERR_ARG;
    }
    return P2P_OK;
}

/* What the options ask for is not what the launcher's world is; "": it is. */
static void find_difference(const p2p_options *o, const scoreboard *b, char *why, size_t why_bytes)
{
    const char *launchers = getenv("PAIRWISE_NETWORK"), *world = b->config.world;
    p2p_network asked = {.on = false};
    why[0] = '\0';
    if (o->world && strcmp(o->world, world) != 0)
        snprintf(why, why_bytes, "the launcher's world is %s, not %s" P2P_TRY "launch --world %s", world, o->world,
                 o->world);
    if (why[0] || (o->network && (!p2p__network_parse(o->network, &asked, why, why_bytes) ||
                                  !p2p__network_place(&asked, b->size, why, why_bytes))))
        return;
    if (o->network && !b->config.network.on)
        snprintf(why, why_bytes, "the launcher's world has no virtual network" P2P_TRY "launch --network %s",
                 o->network);
    else if (o->network && !p2p__network_same(&asked, &b->config.network))
        snprintf(why, why_bytes,
                 "the launcher's network is %s, not %s" P2P_TRY "launch --network %s, or without it here",
                 launchers ? launchers : "another", o->network, o->network);
    else if (o->repair && !b->generation.repairs)
        snprintf(why, why_bytes, "the launcher repairs nothing" P2P_TRY "launch --repair");
}

/* Each process is a rank already, of the launcher's world. What is wrong is wrong in all of them: one says it. */
static p2p_err run_in_world(int size, int (*rank_main)(p2p_comm *world, void *arg), void *arg, p2p_options *options)
{
    int ranks = p2p_launched(), status = 2;
    char why[600] = "";
    p2p_comm *world;
    p2p_err err = size == ranks && rank_main ? p2p__launched_world(&world) : P2P_ERR_ARG;
    if (!err && !world->engine) {
        snprintf(why, sizeof why,
                 "it has run once, and the world has ended" P2P_TRY "without launch --repair, or p2p_launch once");
        err = P2P_ERR_STATE;
    }
    if (size != ranks)
        snprintf(why, sizeof why, "%d ranks: the launcher has started %d" P2P_TRY "--ranks %d, or without it", size,
                 ranks, ranks);
    if (!err && options) find_difference(options, world->engine->scoreboard, why, sizeof why);
    if (!err && why[0]) err = P2P_ERR_ARG;
    if (why[0] && p2p__launched_rank() == 0) fprintf(stderr, "pairwise: p2p_launch: %s\n", why);
    bool repairs = !err && world->engine->scoreboard->generation.repairs;
    if (!err) status = repairs ? run_whole(&(rank_function){rank_main, arg}, world) : rank_main(world, arg);
    if (options) options->exit_status = status;
    return err ? err : status ? P2P_ERR_RANK_FAILED : P2P_OK;
}

p2p_err p2p_launch(int size, int (*rank_main)(p2p_comm *world, void *arg), void *arg, p2p_options *options)
{
    if (p2p_launched()) return run_in_world(size, rank_main, arg, options);
    char why[400];
    rank_function function = {rank_main, arg};
    p2p_plan plan = {
        .size = size, .child = run_function, .arg = &function, .debug_rank = -1, .relay = -1, .report_to = -1};
    if (options) plan.options = *options;
    p2p_err err = p2p__inside_job() ? P2P_ERR_STATE : P2P_ERR_ARG;
    double limit = plan.options.timeout_s;
    if (err == P2P_ERR_STATE)
        snprintf(why, sizeof why, P2P_INSIDE_JOB);
    else if (!(limit >= 0 && limit < 1e9))
        snprintf(why, sizeof why, "timeout_s is %g: it is a number of seconds, 0 for no limit", limit);
    else if (size < 1 || size > P2P_MAX_RANKS)
        snprintf(why, sizeof why, "%d ranks: between 1 and %d are possible", size, P2P_MAX_RANKS);
    else if (!rank_main)
        snprintf(why, sizeof why, "rank_main is NULL");
    else
        err = p2p__plan_settings(&plan, why, sizeof why);
    if (err) {
        fprintf(stderr, "pairwise: p2p_launch: %s\n", why);
        if (options) options->exit_status = 2;
        return err;
    }
    int status = p2p__run_job(&plan, &err);
    if (options) options->exit_status = status;
    return err ? err : status ? P2P_ERR_RANK_FAILED : P2P_OK;
}
