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

#include "tests/util/one_host.h"

static lab_job *current; /* its text is shown when the case fails */

/* ---- Verdicts ---- */

static void show_text(void)
{
    char *copy = strdup(current->text), *rest = copy;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "    | %s\n", line);
    free(copy);
}

static void keep_text(lab_job *job, char *said)
{
    snprintf(job->text, sizeof job->text, "%s", said);
    free(said);
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
        if (current->runs) keep_text(current, process_said(&current->process));
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
    lab_rank = complaint_rank = p2p_rank(world);
    lab->rank[lab_rank].pid = getpid();
    for (int rank = 0; rank < job->size; rank++) lab_wait_started(rank);
    if (!job->fatal) p2p_set_errors(world, P2P_ERRORS_RETURN);
    return job->body(world);
}

/* Instead of into the job's text; "" closes it. */
static void redirect(int to, const char *path)
{
    if (!path) return;
    if (!*path) {
        close(to);
        return;
    }
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || dup2(fd, to) < 0) _exit(126);
    close(fd);
}

static int supervise(void *arg)
{
    lab_job *job = arg;
    redirect(STDOUT_FILENO, job->out);
    redirect(STDERR_FILENO, job->err);
    if (job->setup) job->setup();
    if (job->argv[0]) {
        execv(job->argv[0], job->argv);
        return 126;
    }
    job->options.rank_statuses = lab->result.statuses;
    lab->result.descriptors_before = process_open_files();
    lab->result.err = p2p_launch(job->size, job->body ? rank_entry : NULL, job, &job->options);
    lab->result.descriptors_after = process_open_files();
    lab->result.exit_status = job->options.exit_status;
    lab->result.children = waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
    return job->options.exit_status & 255;
}

/* ---- In the case ---- */

void lab_start(lab_job *job)
{
    memset(lab->flag, 0, sizeof lab->flag);
    memset(lab->rank, 0, sizeof lab->rank);
    memset(&lab->result, 0, sizeof lab->result);
    lab->result.err = P2P_ERR_TODO; /* until the supervisor says better */
    lab->died_at = 0;
    current = job;
    job->text[0] = '\0';
    process_begin(supervise, job, NULL, true, &job->process);
    job->runs = true;
}

static void check_left(const lab_job *job, const process_result *result)
{
    EXPECT(lab_in_time(result->orphans_s, LAB_DEATH_BAR) && !result->left_behind,
           "a process of the job is left behind");
    if (job->argv[0] || lab->result.err == P2P_ERR_TODO) return;
    EXPECT(lab->result.children == 0, "p2p_launch returned with a child left");
    EXPECT(lab->result.descriptors_after == lab->result.descriptors_before, "%d descriptors before, %d after",
           lab->result.descriptors_before, lab->result.descriptors_after);
}

void lab_finish(lab_job *job)
{
    process_result result;
    process_end(&job->process, LAB_LONG, &result);
    job->runs = false;
    keep_text(job, result.out);
    job->seconds = result.seconds;
    job->status = result.status;
    job->result = lab->result.err;
    memcpy(job->statuses, lab->result.statuses, sizeof job->statuses);
    check_left(job, &result);
    EXPECT(!lab->complaint.made, "%s", lab->complaint.text);
    EXPECT(job->argv[0] || (job->result == P2P_OK) == (job->status == 0), "p2p_launch gave %d, exit status %d",
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
    EXPECT(got > 0, "/proc/self/exe: %s", strerror(errno));
    if (!name) return self;
    EXPECT(asprintf(&path, "%s/%s", process_build_folder(), name) > 0, "no memory");
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
    char *plain = one_host(strdup(text));
    bool has = strstr(plain, what) != NULL;
    free(plain);
    return has;
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
    EXPECT(job->status == status, "exit status %d, not %d", job->status, status);
    EXPECT(job->argv[0] || job->result == P2P_ERR_RANK_FAILED, "p2p_launch gave %d, not P2P_ERR_RANK_FAILED",
           (int)job->result);
}

void lab_expect_facts(const char *text, const char *const facts[])
{
    for (size_t i = 0; facts[i]; i++) EXPECT(lab_has(text, "%s", facts[i]), "no \"%s\" in: %.900s", facts[i], text);
}

void lab_expect_fine(const lab_job *job)
{
    EXPECT(job->status == 0, "exit status %d", job->status);
    EXPECT(job->text[0] == '\0', "it printed something");
}

void lab_expect_back(int rank)
{
    const lab_slot *slot = &lab->rank[rank];
    bool is_back = slot->line && !slot->inside;
    if (!is_back && lab->result.statuses[rank] == 128 + SIGKILL) lab->late = true;
    EXPECT(is_back, "rank %d never came back from line %d", rank, slot->line);
}

void lab_expect_err(int rank, p2p_err err)
{
    const lab_slot *slot = &lab->rank[rank];
    lab_expect_back(rank);
    EXPECT(slot->err == err, "rank %d got %d (%s), not %d: %s", rank, (int)slot->err, p2p_strerror(slot->err), (int)err,
           slot->message);
}

void lab_expect_survivor(int rank, int dead, const char *cause)
{
    char name[32];
    const lab_slot *slot = &lab->rank[rank];
    lab_expect_err(rank, P2P_ERR_PEER_DEAD);
    snprintf(name, sizeof name, "rank %d", dead);
    FACTS(slot->message, name, cause);
    EXPECT(lab_in_time(slot->at - lab->died_at, LAB_DEATH_BAR), "rank %d knew after %.3f s", rank,
           slot->at - lab->died_at);
}

void lab_expect_line(const lab_job *job, const char *file, int rank)
{
    const char *slash = strrchr(file, '/');
    EXPECT(lab_has(job->text, "%s:%d", slash ? slash + 1 : file, lab->rank[rank].line),
           "nothing printed names rank %d's line %d", rank, lab->rank[rank].line);
}
