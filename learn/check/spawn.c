/* SPDX-License-Identifier: MIT */
/*
 * A command in a process of its own. What it prints is read as fast as it comes and mostly thrown away; what it takes too
 * long for is not waited for; what it leaves is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "learn/inside.h"
#include "p2p/shared/clock.h"

enum { LOOK_MS = 50 };

double learn_now(void)
{
    return (double)p2p__now() * 1e-9;
}

/* ---- In the child ---- */

/* The learner's shell may have set anything: every run is the same. */
static bool is_kept(const char *variable)
{
    static const char *const not [] = {"PAIRWISE_", "LD_", "MAKE"};
    bool kept = true;
    for (size_t i = 0; i < sizeof not / sizeof *not ; i++) kept &= !learn_has_prefix(variable, not [i]);
    return kept;
}

/* The grader's may hold what is not for others, as a pipeline's tokens: what finds programs, headers and devices is left. */
static bool is_given_to_others(const char *variable)
{
    static const char *const names[] = {
        "PATH=",   "LANG=", "CPATH=",   "C_INCLUDE_PATH=",  "LIBRARY_PATH=", "COMPILER_PATH=",
        "TMPDIR=", "HOME=", "OCL_ICD_", "GCC_EXEC_PREFIX=", "NIX_CFLAGS",    "NIX_LDFLAGS"};
    bool given = false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) given |= learn_has_prefix(variable, names[i]);
    return given;
}

static void clean_environment(const char *variable, bool confined)
{
    char **kept = learn_memory((2 + (size_t)1024) * sizeof *kept);
    size_t count = 0;
    for (char **at = environ; *at && count < 1024; at++)
        if (confined ? is_given_to_others(*at) : is_kept(*at)) kept[count++] = *at;
    if (variable) kept[count++] = learn_copy(variable);
    environ = kept;
    setenv("ASAN_OPTIONS", CHECK_ASAN_OPTIONS, 1);
    setenv("UBSAN_OPTIONS", CHECK_UBSAN_OPTIONS, 1);
    setenv("LC_ALL", "C", 1); /* the compiler's messages, which are read here */
}

_Noreturn static void become(const learn_command_line *line, int out, int err, pid_t parent)
{
    const learn_options *o = line->options;
    int away[LEARN_GIVEN], in = open("/dev/null", O_RDONLY);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    /* What we have inherited is none of the learner's business: it could write there. */
    if (close_range(STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC) != 0)
        for (int fd = STDERR_FILENO + 1; fd < getdtablesize(); fd++) fcntl(fd, F_SETFD, FD_CLOEXEC);
    /* Descriptors that are given may lie where they are to go: so first away from there. */
    for (size_t i = 0; i < line->given_count; i++)
        away[i] = fcntl(line->given[i], F_DUPFD_CLOEXEC, CHECK_FD + LEARN_GIVEN);
    for (size_t i = 0; i < line->given_count; i++)
        if (dup2(away[i], CHECK_FD + (int)i) < 0) _exit(127);
    clean_environment(line->variable, o && o->confine);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    if (o && o->confine && o->confine(o->confine_arg, line->step) != 0) _exit(127);
    execvp(line->argv[0], (char *const *)(uintptr_t)line->argv);
    fprintf(stderr, "%s: %s\n", line->argv[0], strerror(errno));
    _exit(127);
}

/* ---- In the parent ---- */

typedef struct {
    int fd;
    learn_text *kept;
    size_t *bytes;
} stream;

/* Read what has come. Of a long text the beginning and the end are kept. */
static void take(stream *s)
{
    static const char gap[] = "\n... (much left out here) ...\n";
    char part[65536];
    const size_t half = LEARN_OUTPUT / 2;
    learn_text *t = s->kept;
    ssize_t got = read(s->fd, part, sizeof part);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        close(s->fd);
        s->fd = -1;
    }
    if (got <= 0) return;
    *s->bytes += (size_t)got;
    learn_add_bytes(t, part, (size_t)got);
    if (t->used <= 2 * LEARN_OUTPUT) return;
    memmove(t->text + half + sizeof gap - 1, t->text + t->used - half, half + 1);
    memcpy(t->text + half, gap, sizeof gap - 1);
    t->used = 2 * half + sizeof gap - 1;
}

/* Wait for output, or a moment. False once there can be no more. */
static bool listen_to(stream streams[2], const learn_beside *beside)
{
    struct pollfd polled[2 + LEARN_POLLED];
    for (int i = 0; i < 2; i++) polled[i] = (struct pollfd){.fd = streams[i].fd, .events = POLLIN};
    if (streams[0].fd < 0 && streams[1].fd < 0) return false;
    size_t count = 2 + (beside ? beside->polled(beside->arg, polled + 2) : 0);
    int ready = poll(polled, count, LOOK_MS);
    if (beside) beside->serve(beside->arg);
    if (ready <= 0) return true;
    for (int i = 0; i < 2; i++)
        if (polled[i].revents) take(&streams[i]);
    return true;
}

static bool ended(pid_t pid, int *status)
{
    int raw;
    if (*status >= 0) return true;
    pid_t got = waitpid(pid, &raw, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR)) return false;
    *status = got < 0 ? 127 : WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
    return true;
}

/* Whatever it started that is still there has become our child, for we are a subreaper. Only those that were killed are
 * waited for: by then a child of theirs may have become ours that would live on for long. */
void learn_stop_all(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    for (int tries = 0; tries < 1000; tries++) {
        OWNED char *children = learn_read_file(path, NULL);
        char *at = children;
        pid_t child = 0;
        for (long each; at && (each = strtol(at, &at, 10)) > 0;) {
            child = (pid_t)each;
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        if (!child) return;
    }
}

static void follow(const learn_command_line *line, pid_t pid, stream streams[2], learn_spawned *r)
{
    double until = learn_now() + line->seconds;
    int status = -1, quiet = 0;
    const learn_options *o = line->options;
    double look_at = 0;
    bool good = true;
    while (listen_to(streams, line->beside)) {
        r->flooded = r->out_bytes + r->err_bytes > LEARN_FLOOD;
        r->late = !r->flooded && learn_now() > until;
        if (o && o->watch && learn_now() > look_at) {
            good = o->watch(o->confine_arg, pid);
            look_at = learn_now() + LOOK_MS * 1e-3;
        }
        if (r->late || r->flooded || !good || (ended(pid, &status) && ++quiet > 2)) break;
    }
    if (r->late || r->flooded || !good) kill(-pid, SIGKILL);
    while (!ended(pid, &status)) {
        if (learn_now() > until) kill(-pid, SIGKILL);
        poll(NULL, 0, 1);
    }
    kill(-pid, SIGKILL);
    learn_stop_all();
    r->status = status;
}

void learn_spawn(const learn_command_line *line, learn_spawned *r)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1};
    pid_t self = getpid();
    *r = (learn_spawned){.status = 127};
    learn_add_bytes(&r->out, "", 0);
    learn_add_bytes(&r->err, "", 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    double began = learn_now();
    pid_t pid = pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0 ? fork() : -1;
    if (pid == 0) become(line, out[1], err[1], self);
    if (pid < 0) learn_add(&r->err, "%s cannot be started: %s\n", line->argv[0], strerror(errno));
    if (pid > 0) setpgid(pid, pid);
    if (out[1] >= 0) close(out[1]);
    if (err[1] >= 0) close(err[1]);
    stream streams[2] = {{out[0], &r->out, &r->out_bytes}, {err[0], &r->err, &r->err_bytes}};
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0) fcntl(streams[i].fd, F_SETFL, O_NONBLOCK);
    if (pid > 0) follow(line, pid, streams, r);
    for (int i = 0; i < 2; i++)
        if (streams[i].fd >= 0) close(streams[i].fd);
    r->seconds = learn_now() - began;
}

pid_t learn_start(const learn_command_line *line)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    pid_t self = getpid();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid_t pid = nowhere < 0 ? -1 : fork();
    if (pid == 0) become(line, nowhere, nowhere, self);
    if (pid > 0) setpgid(pid, pid);
    if (nowhere >= 0) close(nowhere);
    return pid;
}

void learn_spawned_free(learn_spawned *r)
{
    learn_text_free(&r->out);
    learn_text_free(&r->err);
}
