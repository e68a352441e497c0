/* SPDX-License-Identifier: MIT */
/*
 * process: see process.h. The caller becomes a subreaper: whatever a program leaves behind becomes its child, which
 * is how it is noticed. A child asks to be killed when its parent ends, so that a crashed test leaves nothing either.
 */
#include "tests/util/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_S = 60, ORPHANS_MS = 2000 };

static void fail(const char *what)
{
    perror(what);
    abort();
}

double process_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

const char *process_build_folder(void)
{
    static char path[4096];
    const char *folder = getenv("PAIRWISE_BUILD");

    if (folder) return folder;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) fail("/proc/self/exe");
    path[length] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(path, '/');
        if (slash) *slash = '\0';
    }
    return path;
}

int process_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;

    if (!folder) fail("/proc/self/fd");
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 3; /* ".", ".." and the folder itself */
}

/* Where a child's standard streams come from and go to. */
typedef struct {
    int in, out, err;
} streams;

/* Several processes may write to it, launchers of two hosts for instance: each at the end. Of a memory file the place that they
 * share is not under a lock. */
static int memory_file(const char *content)
{
    int fd = memfd_create("stream", MFD_CLOEXEC);
    size_t bytes = content ? strlen(content) : 0;

    if (fd < 0) fail("memfd_create");
    if (bytes && write(fd, content, bytes) != (ssize_t)bytes) fail("write to a memory file");
    lseek(fd, 0, SEEK_SET);
    if (fcntl(fd, F_SETFL, O_APPEND)) fail("fcntl of a memory file");
    return fd;
}

static _Noreturn void child(const streams *std, pid_t parent, int (*body)(void *), void *arg)
{
    int ends[] = {std->in, std->out, std->err};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    for (int i = 0; i < 3; i++)
        if (dup2(ends[i], i) < 0) _exit(1);
    for (int i = 0; i < 3; i++)
        if (ends[i] > 2) close(ends[i]);
    signal(SIGPIPE, SIG_DFL);
    int code = body(arg);
    fflush(NULL);
    _exit(code);
}

/* Stdio's buffers are emptied first, or the child would print them a second time. */
static pid_t start(const streams *std, int (*body)(void *), void *arg)
{
    pid_t parent = getpid();

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) fail("fork");
    if (pid == 0) child(std, parent, body, arg);
    return pid;
}

static int status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* Wait for pid, but not for ever: false if it had to be killed. */
static bool wait_for(pid_t pid, double limit_s, int *status)
{
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    int wait_status;

    if (pidfd < 0) fail("pidfd_open");
    struct pollfd ended = {.fd = pidfd, .events = POLLIN};
    bool in_time = poll(&ended, 1, (int)(limit_s * 1000)) == 1;
    if (!in_time) kill(pid, SIGKILL);
    if (waitpid(pid, &wait_status, 0) != pid) fail("waitpid");
    *status = status_of(wait_status);
    close(pidfd);
    return in_time;
}

static pid_t parent_of(const char *name)
{
    char path[288], text[256] = "";

    snprintf(path, sizeof path, "/proc/%s/stat", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -1;
    ssize_t got = read(fd, text, sizeof text - 1);
    close(fd);
    const char *after_name = got > 0 ? strrchr(text, ')') : NULL;
    return after_name && strlen(after_name) > 4 ? (pid_t)atoi(after_name + 4) : -1;
}

static void kill_children(void)
{
    DIR *proc = opendir("/proc");

    if (!proc) fail("/proc");
    for (struct dirent *entry; (entry = readdir(proc));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == getpid())
            kill((pid_t)atoi(entry->d_name), SIGKILL);
    closedir(proc);
}

/* Reap what is ending; what is still there after a moment is killed and counted, and so is what that leaves. */
static int left_behind(void)
{
    double until = process_now() + ORPHANS_MS * 1e-3;
    int left = 0;

    while (waitpid(-1, NULL, WNOHANG) >= 0) {
        if (process_now() < until) {
            usleep(1000);
            continue;
        }
        kill_children();
        waitpid(-1, NULL, 0);
        left++;
    }
    return left;
}

static char *content_of(int fd, size_t *bytes)
{
    struct stat file;

    if (fstat(fd, &file)) fail("fstat");
    char *text = malloc((size_t)file.st_size + 1);
    if (!text || pread(fd, text, (size_t)file.st_size, 0) != file.st_size) fail("read a memory file");
    text[file.st_size] = '\0';
    *bytes = (size_t)file.st_size;
    return text;
}

static void finish(const process *program, double limit_s, process_result *result)
{
    result->late = !wait_for(program->pid, limit_s, &result->status);
    result->seconds = process_now() - program->started;
    result->left_behind = left_behind();
    result->orphans_s = process_now() - program->started - result->seconds;
}

void process_begin(int (*body)(void *arg), void *arg, const char *input, bool together, process *program)
{
    program->in = memory_file(input);
    program->out = memory_file(NULL);
    program->err = together ? -1 : memory_file(NULL);
    program->started = process_now();
    program->pid = start(&(streams){program->in, program->out, together ? program->out : program->err}, body, arg);
}

char *process_said(const process *program)
{
    size_t bytes;

    return content_of(program->out, &bytes);
}

void process_end(process *program, double limit_s, process_result *result)
{
    *result = (process_result){.status = 0};
    finish(program, limit_s, result);
    result->out = content_of(program->out, &result->out_bytes);
    if (program->err >= 0) result->err = content_of(program->err, &result->err_bytes);
    close(program->in);
    close(program->out);
    if (program->err >= 0) close(program->err);
}

void process_run(int (*body)(void *arg), void *arg, const char *input, double limit_s, process_result *result)
{
    process program;

    process_begin(body, arg, input, false, &program);
    process_end(&program, limit_s, result);
}

void process_free(process_result *result)
{
    free(result->out);
    free(result->err);
    result->out = result->err = NULL;
}

/* ---- Command lines ---- */

static int shell(void *command)
{
    char path[4096];
    const char *launcher = getenv("TEST_LAUNCHER");

    snprintf(path, sizeof path, "%s/launch", process_build_folder());
    setenv("L", launcher ? launcher : path, 1);
    snprintf(path, sizeof path, "%s/tests", process_build_folder());
    setenv("T", path, 1);
    execl("/bin/sh", "sh", "-c", (char *)command, (char *)NULL);
    perror("/bin/sh");
    return 127;
}

void shell_run(const char *command, const char *input, process_result *result)
{
    process_run(shell, (void *)(uintptr_t)command, input, LIMIT_S, result);
}

/* ---- Programs under way ---- */

void process_start(int (*body)(void *arg), void *arg, process *program)
{
    int in[2], out[2], err[2];

    if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) fail("pipe2");
    streams std = {in[0], out[1], err[1]};
    program->started = process_now();
    program->pid = start(&std, body, arg);
    program->in = in[1];
    program->out = out[0];
    program->err = err[0];
    close(in[0]);
    close(out[1]);
    close(err[1]);
}

void shell_start(const char *command, process *program)
{
    process_start(shell, (void *)(uintptr_t)command, program);
}

/* Wait for bytes and read some: 0 at the end, and after too long. */
static size_t read_some(int fd, char *into, size_t room)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    if (poll(&ready, 1, LIMIT_S * 1000) != 1) return 0;
    ssize_t got = read(fd, into, room);
    return got > 0 ? (size_t)got : 0;
}

/* A byte at a time, so that nothing behind the text is taken. */
bool process_read_until(int fd, const char *text)
{
    size_t want = strlen(text), have = 0;
    char window[256];

    if (want > sizeof window) fail("process_read_until: text too long");
    while (have < want || memcmp(window, text, want) != 0) {
        if (have == want) memmove(window, window + 1, --have);
        if (read_some(fd, window + have, 1) == 0) return false;
        have++;
    }
    return true;
}

static char *rest_of(int fd, size_t *bytes)
{
    char *text = NULL;
    size_t room = 0, got = 1;

    for (*bytes = 0; got > 0; *bytes += got) {
        if (room - *bytes < 4096) text = realloc(text, room = 2 * room + 8192);
        if (!text) fail("realloc");
        got = read_some(fd, text + *bytes, room - *bytes - 1);
    }
    text[*bytes] = '\0';
    close(fd);
    return text;
}

void process_finish(process *program, process_result *result)
{
    close(program->in);
    result->out = rest_of(program->out, &result->out_bytes);
    result->err = rest_of(program->err, &result->err_bytes);
    finish(program, LIMIT_S, result);
}
