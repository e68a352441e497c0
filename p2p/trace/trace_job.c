/* SPDX-License-Identifier: MIT */
/* Tracing, in the supervisor: may the file be written, what was everybody doing when the job failed, and writing it. */
#include "p2p/trace/trace_job.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file beside the one to be written, so that it can be renamed: never one that is there already, nor through a link
 * that somebody has put there. -1 and errno on failure. */
static int make_temporary(const char *path, char *name, size_t bytes)
{
    if ((size_t)snprintf(name, bytes, "%s.XXXXXX", path) >= bytes) {
        errno = ENAMETOOLONG;
        return -1;
    }
    int fd = mkostemp(name, O_CLOEXEC);
    mode_t mask = umask(0);
    umask(mask);
    if (fd >= 0) fchmod(fd, 0666 & ~mask);
    return fd;
}

/* A rename would put a file in the place of a device, or of a link. */
static const char *what_else_it_is(const char *path)
{
    struct stat info;
    if (lstat(path, &info) != 0 || S_ISREG(info.st_mode)) return NULL;
    if (S_ISLNK(info.st_mode)) return "it is a link, and links are not followed; name the file itself";
    return S_ISDIR(info.st_mode) ? strerror(EISDIR) : "it is not a regular file";
}

bool p2p__trace_check(const char *path, char *why, size_t why_bytes)
{
    char name[PATH_MAX];
    if (!*path) {
        snprintf(why, why_bytes, "a trace needs the name of a file to be written");
        return false;
    }
    const char *obstacle = what_else_it_is(path);
    int fd = obstacle ? -1 : make_temporary(path, name, sizeof name);
    if (fd < 0) {
        snprintf(why, why_bytes, "the trace cannot be written to \"%.200s\": %s", path,
                 obstacle ? obstacle : strerror(errno));
        return false;
    }
    close(fd);
    unlink(name);
    return true;
}

void p2p__trace_open(p2p_job *job)
{
    if (!job->plan->config.trace_room) return;
    p2p_trace_job *trace = calloc(1, sizeof *trace);
    p2p_last_moment *ranks = calloc((size_t)job->size, sizeof *ranks);
    if (!trace || !ranks) {
        free(trace);
        free(ranks);
        return;
    }
    *trace = (p2p_trace_job){.ranks = ranks, .first = -1};
    job->trace = trace;
}

/* ---- The end ---- */

void p2p__trace_deadlock(p2p_job *job, const p2p_rank_set *stuck, const p2p_rank_set *can_act, const p2p_heart *heart)
{
    if (!job->trace) return;
    job->trace->outcome = "deadlock";
    job->trace->is_cycle = heart->is_cycle;
    for (int i = 0; i < job->size; i++) {
        p2p_last_moment *moment = &job->trace->ranks[i];
        moment->stuck = p2p__set_has(stuck, i);
        moment->heart = p2p__set_has(&heart->set, i);
        if (moment->stuck) p2p__lacking(job, i, can_act, &moment->waits_for);
    }
}

static void note_rank(p2p_job *job, int rank)
{
    p2p_last_moment *moment = &job->trace->ranks[rank];
    const p2p_sight *row = &job->seen[rank];
    moment->state = row->state;
    if (row->call.name[0]) p2p__call_text(&row->call, moment->call, sizeof moment->call);
    if (moment->stuck || moment->state != BOARD_BLOCKED) return;
    moment->waits_for = row->wait.need;
    for (int i = 0; i < row->wait.any_count; i++) p2p__set_join(&moment->waits_for, &row->wait.any[i], job->size);
}

static const char *name_of(p2p_err err)
{
    switch (err) {
    case P2P_ERR_DEADLOCK: return "deadlock";
    case P2P_ERR_TIMEOUT: return "timeout";
    case P2P_ERR_MISMATCH: return "mismatch";
    default: return "death";
    }
}

void p2p__trace_failed(p2p_job *job, p2p_err err, int rank, const char *text)
{
    p2p_trace_job *trace = job->trace;
    if (!trace) return;
    trace->failed_at = p2p__now();
    if (!trace->outcome) trace->outcome = name_of(err);
    trace->first = rank;
    snprintf(trace->text, sizeof trace->text, "%s", text);
    p2p__see(job);
    for (int i = 0; i < job->size; i++) note_rank(job, i);
}

/* ---- The file ---- */

static uint64_t count_dropped(p2p_job *job)
{
    uint64_t dropped = 0;
    for (int i = 0; i < job->size; i++)
        dropped += atomic_load(&p2p__trace_of(job->board->trace, job->size, &job->board->config, i)->dropped);
    return dropped;
}

/* What stands at the path by now is replaced, a link too: a rank may have put it there. */
static bool write_and_rename(p2p_job *job, const char *path)
{
    char name[PATH_MAX];
    int fd = make_temporary(path, name, sizeof name);
    FILE *file = fd >= 0 ? fdopen(fd, "we") : NULL;
    if (!file) {
        if (fd >= 0) close(fd), unlink(name);
        return false;
    }
    bool written = p2p__trace_write(job, file) && rename(name, path) == 0;
    int saved = errno;
    if (!written) unlink(name);
    errno = saved;
    return written;
}

bool p2p__trace_close(p2p_job *job)
{
    p2p_trace_job *trace = job->trace;
    if (!trace) return true;
    const char *path = job->plan->trace;
    if (!trace->outcome) trace->outcome = job->interrupted ? "interrupted" : job->exit_status ? "failed" : "finished";
    bool written = write_and_rename(job, path);
    if (!written) fprintf(stderr, "pairwise: the trace cannot be written to \"%s\": %s\n", path, strerror(errno));
    uint64_t dropped = count_dropped(job);
    if (written && dropped)
        fprintf(stderr,
                "pairwise: note: %s is only the beginning: there was no room for %llu events\n"
                "  try: PAIRWISE_TRACE_ROOM=%zuM\n",
                path, (unsigned long long)dropped, 4 * (job->plan->config.trace_room >> 20));
    free(trace->ranks);
    free(trace);
    job->trace = NULL;
    return written;
}
