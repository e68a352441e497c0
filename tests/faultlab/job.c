/* SPDX-License-Identifier: MIT */
/* One launch and what is asserted about every launch: it ends, nothing is left behind, descriptors are back. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static lab_job *current; /* its text is shown when the case fails */

/* ---- Verdicts ---- */

static void show_text(void)
{
    char *copy = strdup(current->text), *rest = copy;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "    | %s\n", line);
    free(copy);
}

static void read_text(lab_job *job)
{
    ssize_t got = pread(job->capture, job->text, sizeof job->text - 1, 0);
    job->text[got > 0 ? got : 0] = '\0';
}

_Noreturn void lab_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    const char *slash = strrchr(file, '/');
    int used = snprintf(lab->reason, sizeof lab->reason, "%s:%d: ", slash ? slash + 1 : file, line);
    va_start(args, format);
    vsnprintf(lab->reason + used, sizeof lab->reason - (size_t)used, format, args);
    va_end(args);
    if (current) {
        if (current->capture >= 0) read_text(current);
        show_text();
    }
    _exit(1);
}

_Noreturn void lab_skip(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(lab->reason, sizeof lab->reason, format, args);
    va_end(args);
    _exit(77);
}

/* ---- In the supervisor ---- */

/* A job that fails leaves its ranks a second: all of them are there before one begins. */
static int rank_entry(p2p_comm *world, void *arg)
{
    const lab_job *job = arg;
    lab_rank = p2p_rank(world);
    lab->rank[lab_rank].pid = getpid();
    for (int rank = 0; rank < job->size; rank++) lab_wait_started(rank);
    if (!job->fatal) p2p_set_errors(world, P2P_ERRORS_RETURN);
    return job->body(world);
}

static void redirect(int to, int capture, const char *path)
{
    if (path && !*path) {
        close(to);
        return;
    }
    int fd = path ? open(path, O_WRONLY | O_CLOEXEC) : capture;
    if (fd < 0 || dup2(fd, to) < 0) _exit(126);
    if (path) close(fd);
}

static _Noreturn void supervise(lab_job *job)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    redirect(STDOUT_FILENO, job->capture, job->out);
    redirect(STDERR_FILENO, job->capture, job->err);
    close(job->capture);
    if (job->setup) job->setup();
    if (job->argv[0]) {
        execv(job->argv[0], job->argv);
        _exit(126);
    }
    job->options.rank_statuses = lab->result.statuses;
    lab->result.descriptors_before = process_open_files();
    lab->result.err = p2p_launch(job->size, job->body ? rank_entry : NULL, job, &job->options);
    lab->result.descriptors_after = process_open_files();
    lab->result.exit_status = job->options.exit_status;
    lab->result.children = waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
    _exit(job->options.exit_status & 255);
}

/* ---- In the case ---- */

void lab_start(lab_job *job)
{
    fflush(NULL);
    memset(lab->flag, 0, sizeof lab->flag);
    memset(lab->rank, 0, sizeof lab->rank);
    memset(&lab->result, 0, sizeof lab->result);
    lab->result.err = P2P_ERR_TODO; /* until the supervisor says better */
    lab->died_at = 0;
    current = job;
    job->text[0] = '\0';
    job->capture = memfd_create("faultlab-output", MFD_CLOEXEC);
    CHECK(job->capture >= 0, "memfd_create: %s", strerror(errno));
    job->started = process_now();
    job->pid = fork();
    CHECK(job->pid >= 0, "fork: %s", strerror(errno));
    if (job->pid == 0) supervise(job);
}

int lab_reap(double seconds)
{
    double since = process_now();
    for (;;) {
        pid_t ended = waitpid(-1, NULL, WNOHANG);
        if (ended < 0 && errno == ECHILD) return 0;
        if (ended == 0 && process_now() - since > seconds) return 1;
        if (ended == 0) lab_pause();
    }
}

static void check_left(const lab_job *job)
{
    double since = process_now();
    int left = lab_reap(LAB_DEATH_BAR);
    CHECK(lab_in_time(process_now() - since, LAB_DEATH_BAR) && !left, "a process of the job is left behind");
    if (job->argv[0] || WIFSIGNALED(job->status)) return;
    CHECK(lab->result.children == 0, "p2p_launch returned with a child left");
    CHECK(lab->result.descriptors_after == lab->result.descriptors_before, "%d descriptors before, %d after",
          lab->result.descriptors_before, lab->result.descriptors_after);
}

void lab_finish(lab_job *job)
{
    int raw = 0;
    while (waitpid(job->pid, &raw, 0) < 0) CHECK(errno == EINTR, "waitpid: %s", strerror(errno));
    job->seconds = process_now() - job->started;
    job->status = raw;
    check_left(job);
    read_text(job);
    close(job->capture);
    job->capture = -1;
    job->status = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
    job->result = lab->result.err;
    memcpy(job->statuses, lab->result.statuses, sizeof job->statuses);
    CHECK(!lab->complained, "%s", lab->complaint);
    CHECK(job->argv[0] || (job->result == P2P_OK) == (job->status == 0), "p2p_launch gave %d, exit status %d",
          (int)job->result, job->status);
}

void lab_run(lab_job *job)
{
    lab_start(job);
    lab_finish(job);
}

/* ---- Under build/launch ---- */

char *lab_build(const char *name)
{
    static char self[4096];
    char *path = NULL;
    ssize_t got = readlink("/proc/self/exe", self, sizeof self - 1);
    CHECK(got > 0, "/proc/self/exe: %s", strerror(errno));
    if (!name) return self;
    CHECK(asprintf(&path, "%s/%s", process_build_folder(), name) > 0, "no memory");
    return path;
}

void lab_launch_start(lab_job *job, const char *const args[], const char *program)
{
    size_t count = 0;
    job->argv[count++] = lab_build("launch");
    if (access(job->argv[0], X_OK) != 0) lab_skip("%s is not built", job->argv[0]);
    for (size_t i = 0; args[i] && count < 20; i++) job->argv[count++] = strdup(args[i]);
    if (program) {
        job->argv[count++] = lab_build(NULL);
        job->argv[count++] = strdup("--rank");
        job->argv[count++] = strdup(program);
    }
    job->argv[count] = NULL;
    lab_start(job);
}

void lab_launch(lab_job *job, const char *const args[], const char *program)
{
    lab_launch_start(job, args, program);
    lab_finish(job);
}

void lab_run_alone(lab_job *job, const char *program)
{
    job->argv[0] = lab_build(NULL);
    job->argv[1] = strdup("--rank");
    job->argv[2] = strdup(program);
    job->argv[3] = NULL;
    lab_run(job);
}

bool lab_in_time(double seconds, double bar)
{
    if (seconds >= bar) lab->late = true;
    return seconds < bar;
}

void lab_short_timeout(void)
{
    setenv("PAIRWISE_TIMEOUT", getenv("QUICK") ? "1s" : "3s", 1);
}

/* ---- What a case expects ---- */

bool lab_has(const char *text, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return strstr(text, what) != NULL;
}

int lab_lines_with(const char *text, const char *what)
{
    int lines = 0;
    for (const char *at = text; (at = strstr(at, what)); lines++) {
        at = strchr(at, '\n');
        if (!at) return lines + 1;
    }
    return lines;
}

void lab_expect_status(const lab_job *job, int status)
{
    CHECK(job->status == status, "exit status %d, not %d", job->status, status);
    CHECK(job->argv[0] || job->result == P2P_ERR_RANK_FAILED, "p2p_launch gave %d, not P2P_ERR_RANK_FAILED",
          (int)job->result);
}

void lab_expect_facts(const char *text, const char *const facts[])
{
    for (size_t i = 0; facts[i]; i++) CHECK(strstr(text, facts[i]), "no \"%s\" in: %.900s", facts[i], text);
}

void lab_expect_fine(const lab_job *job)
{
    CHECK(job->status == 0, "exit status %d", job->status);
    CHECK(job->text[0] == '\0', "it printed something");
}

void lab_expect_back(int rank)
{
    const lab_slot *slot = &lab->rank[rank];
    bool is_back = slot->line && !slot->inside;
    if (!is_back && lab->result.statuses[rank] == 128 + SIGKILL) lab->late = true;
    CHECK(is_back, "rank %d never came back from line %d", rank, slot->line);
}

void lab_expect_err(int rank, p2p_err err)
{
    const lab_slot *slot = &lab->rank[rank];
    lab_expect_back(rank);
    CHECK(slot->err == err, "rank %d got %d (%s), not %d: %s", rank, (int)slot->err, p2p_strerror(slot->err), (int)err,
          slot->message);
}

void lab_expect_survivor(int rank, int dead, const char *cause)
{
    char name[32];
    const lab_slot *slot = &lab->rank[rank];
    lab_expect_err(rank, P2P_ERR_PEER_DEAD);
    snprintf(name, sizeof name, "rank %d", dead);
    FACTS(slot->message, name, cause);
    CHECK(lab_in_time(slot->at - lab->died_at, LAB_DEATH_BAR), "rank %d knew after %.3f s", rank,
          slot->at - lab->died_at);
}

void lab_expect_line(const lab_job *job, const char *file, int rank)
{
    const char *slash = strrchr(file, '/');
    CHECK(lab_has(job->text, "%s:%d", slash ? slash + 1 : file, lab->rank[rank].line),
          "nothing printed names rank %d's line %d", rank, lab->rank[rank].line);
}
