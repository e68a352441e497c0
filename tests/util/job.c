/* SPDX-License-Identifier: MIT */
#include "tests/util/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/util/pattern.h"

/* The job ends itself first, with the board in its output; killing it from outside is the last resort. */
enum { TIMEOUT_S = 40, LIMIT_S = 60 };

int job_patience(void)
{
    const char *given = getenv("TEST_PATIENCE");
    int times = given ? atoi(given) : 1;
    return times > 1 ? times : 1;
}

/* What the forked child and its ranks tell the test. */
typedef struct {
    p2p_err err;
    int exit_status;
    int statuses[P2P_MAX_RANKS];
    complaint complaint;
} findings;

/* One job: what to run, filled in before the fork. */
typedef struct {
    int size;
    p2p_options options;
    job_main rank_main;
    void *arg;
    findings *found;
} job;

static bool strict_job;

void *job_shared(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) abort();
    return memory;
}

bool job_is_strict(void)
{
    return strict_job;
}

int job_check_message(const void *buf, const p2p_status *status, int source, int dest, int tag, size_t bytes)
{
    CHECK(status->source == source && status->tag == tag && status->bytes == bytes,
          "status says source %d, tag %d, %zu bytes; sent were source %d, tag %d, %zu bytes", status->source,
          status->tag, status->bytes, source, tag, bytes);
    size_t wrong = pattern_wrong(buf, bytes, pattern_key(source, dest, tag));
    CHECK(wrong == bytes, "from %d, tag %d: byte %zu of %zu is wrong", source, tag, wrong, bytes);
    return 0;
}

static int rank_body(p2p_comm *world, void *arg)
{
    job *what = arg;

    complaint_rank = p2p_rank(world);
    complaint_here = &what->found->complaint;
    strict_job = what->options.strict;
    alarm((unsigned)(LIMIT_S * job_patience())); /* the last resort of the last resort */
    return what->rank_main(world, what->arg);
}

static int job_body(void *arg)
{
    job *what = arg;

    what->options.rank_statuses = what->found->statuses;
    what->found->err = p2p_launch(what->size, rank_body, what, &what->options);
    what->found->exit_status = what->options.exit_status;
    return what->found->err ? 1 : 0;
}

void job_run(int size, const p2p_options *options, job_main rank_main, void *arg, job_result *result)
{
    findings *found = job_shared(sizeof *found);
    job what = {.size = size, .rank_main = rank_main, .arg = arg, .found = found};

    if (options) what.options = *options;
    if (what.options.timeout_s <= 0) what.options.timeout_s = TIMEOUT_S * job_patience();
    found->err = P2P_ERR_TODO; /* stays if the child does not live to the end */
    process_run(job_body, &what, NULL, LIMIT_S * job_patience(), &result->process);
    result->err = found->err;
    result->exit_status = found->exit_status;
    memcpy(result->statuses, found->statuses, sizeof result->statuses);
    memcpy(result->note, found->complaint.text, sizeof result->note);
    munmap(found, sizeof *found);
}

void job_free(job_result *result)
{
    process_free(&result->process);
}

static bool all_right(const job_result *result)
{
    return result->err == P2P_OK && result->exit_status == 0 && result->note[0] == '\0' &&
           result->process.status == 0 && result->process.left_behind == 0 && result->process.err_bytes == 0;
}

static const char *explain(int size, const job_result *result)
{
    static char text[8192];

    snprintf(text, sizeof text, "%d rank(s), %s: %s\n%s, exit status %d, process status %d%s, %d left behind\n%.4000s",
             size, strict_job ? "strict" : "buffered", result->note[0] ? result->note : "no rank noted anything",
             p2p_strerror(result->err), result->exit_status, result->process.status,
             result->process.late ? " (killed: too late)" : "", result->process.left_behind, result->process.err);
    return text;
}

const char *job_right(int size, bool strict, job_main rank_main, void *arg)
{
    p2p_options options = {.strict = strict};
    const char *why = NULL;
    job_result result;

    strict_job = strict;
    job_run(size, &options, rank_main, arg, &result);
    if (!all_right(&result)) why = explain(size, &result);
    job_free(&result);
    return why;
}

const char *job_sizes(const int *sizes, size_t count, bool buffered, bool strict, job_main rank_main, void *arg)
{
    const char *why = NULL;

    for (size_t i = 0; i < count && !why; i++) {
        if (buffered) why = job_right(sizes[i], false, rank_main, arg);
        if (strict && !why) why = job_right(sizes[i], true, rank_main, arg);
    }
    return why;
}

int left_of(p2p_comm *comm)
{
    return (p2p_rank(comm) + p2p_size(comm) - 1) % p2p_size(comm);
}

int right_of(p2p_comm *comm)
{
    return (p2p_rank(comm) + 1) % p2p_size(comm);
}

bool job_is_quick(void)
{
    return getenv("QUICK") != NULL;
}

int job_next_size(int n)
{
    if (!job_is_quick() || n < 3) return n + 1;
    return n < 5 ? 5 : n < 8 ? 8 : n < 16 ? 16 : 2 * n;
}

const char *job_matrix(job_main rank_main, void *arg)
{
    static const int sizes[] = {1, 2, 3, 5, 8, 4, 7};

    return job_sizes(sizes, job_is_quick() ? 4 : 7, true, true, rank_main, arg);
}
