/* SPDX-License-Identifier: MIT */
/* Calls that make no sense: found before anything is sent, and the communicator works afterwards. */
#include "lab.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_fine(int size, int (*body)(p2p_comm *world))
{
    static lab_job job;
    job = (lab_job){.size = size, .body = body};
    lab_run(&job);
    lab_expect_fine(&job);
}

/* As CHECK_ERR, and the message has this fact. */
#define WANT_SAID(comm, expected, fact, call)                                                                       \
    do {                                                                                                            \
        CHECK_ERR(comm, expected, call);                                                                            \
        CHECK(strstr(p2p_error_message(comm), fact), "%s: no \"%s\" in: %s", #call, fact, p2p_error_message(comm)); \
    } while (0)

/* ---- Every call that takes a rank, a size, a buffer or a tag, with these ---- */

typedef struct {
    void *buf;
    size_t bytes;
    int peer, tag;
} arguments;

static int try_sends(p2p_comm *world, const arguments *a, p2p_err expected, const char *fact)
{
    p2p_request request = P2P_REQUEST_NULL;
    char in[4];
    WANT_SAID(world, expected, fact, p2p_send(world, a->buf, a->bytes, a->peer, a->tag));
    WANT_SAID(world, expected, fact, p2p_ssend(world, a->buf, a->bytes, a->peer, a->tag));
    WANT_SAID(world, expected, fact, p2p_isend(world, a->buf, a->bytes, a->peer, a->tag, &request));
    WANT_SAID(world, expected, fact,
              p2p_sendrecv(world, a->buf, a->bytes, a->peer, a->tag, in, sizeof in, 0, 0, P2P_STATUS_IGNORE));
    CHECK(request == P2P_REQUEST_NULL, "a request came of it");
    return 0;
}

static int try_receives(p2p_comm *world, const arguments *a, p2p_err expected, const char *fact)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_status status = {77, 78, 79};
    char out[4] = {0};
    WANT_SAID(world, expected, fact, p2p_recv(world, a->buf, a->bytes, a->peer, a->tag, &status));
    WANT_SAID(world, expected, fact, p2p_irecv(world, a->buf, a->bytes, a->peer, a->tag, &request));
    WANT_SAID(world, expected, fact,
              p2p_sendrecv(world, out, sizeof out, 0, 0, a->buf, a->bytes, a->peer, a->tag, &status));
    CHECK(request == P2P_REQUEST_NULL, "a request came of it");
    CHECK(status.source == 77 && status.tag == 78 && status.bytes == 79, "the status was written");
    return 0;
}

static int try_probes(p2p_comm *world, int source, int tag, p2p_err expected, const char *fact)
{
    bool found = true;
    p2p_status status = {77, 78, 79};
    WANT_SAID(world, expected, fact, p2p_probe(world, source, tag, &status));
    WANT_SAID(world, expected, fact, p2p_iprobe(world, source, tag, &found, &status));
    CHECK(found && status.source == 77, "an output was written");
    return 0;
}

/* Nothing was counted as sent, and messages still go round. */
static int unaffected(p2p_comm *world)
{
    p2p_traffic traffic[LAB_RANKS];
    CHECK_OK(world, p2p_stats(world, traffic));
    for (int rank = 0; rank < p2p_size(world); rank++)
        CHECK(traffic[rank].messages_sent == 0 && traffic[rank].messages_received == 0, "something was sent");
    return lab_works(world);
}

static int body_bad_rank(p2p_comm *world)
{
    static const int peers[] = {-1, -2, 2, 9, INT_MAX, INT_MIN};
    char word[4] = {0}, fact[32];
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof peers / sizeof *peers; i++) {
        arguments a = {word, sizeof word, peers[i], 0};
        snprintf(fact, sizeof fact, "%d", peers[i]);
        failed = try_sends(world, &a, P2P_ERR_RANK, fact);
        if (!failed) failed = try_sends(world, &a, P2P_ERR_RANK, "[0,2)");
        if (peers[i] == P2P_ANY_SOURCE) continue;
        if (!failed) failed = try_receives(world, &a, P2P_ERR_RANK, fact);
        if (!failed) failed = try_probes(world, peers[i], 0, P2P_ERR_RANK, fact);
    }
    return failed ? failed : unaffected(world);
}

static void bad_rank(void)
{
    run_fine(2, body_bad_rank);
}

static int body_bad_count(p2p_comm *world)
{
    static const size_t counts[] = {(size_t)-1, (size_t)-4, (size_t)PTRDIFF_MAX + 1};
    char word[4] = {0}, fact[32];
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof counts / sizeof *counts; i++) {
        arguments a = {word, counts[i], 1, 0};
        snprintf(fact, sizeof fact, "%zu", counts[i]);
        failed = try_sends(world, &a, P2P_ERR_ARG, fact);
        if (!failed) failed = try_receives(world, &a, P2P_ERR_ARG, fact);
    }
    return failed ? failed : unaffected(world);
}

static void bad_count(void)
{
    run_fine(2, body_bad_count);
}

static int exchange_nothing(p2p_comm *world)
{
    int other = 1 - p2p_rank(world);
    p2p_status status;
    p2p_request request;
    CHECK_OK(world, p2p_sendrecv(world, NULL, 0, other, 1, NULL, 0, other, 1, &status));
    CHECK(status.bytes == 0 && status.source == other && status.tag == 1, "the status of nothing is wrong");
    CHECK_OK(world, p2p_isend(world, NULL, 0, other, 2, &request));
    CHECK_OK(world, p2p_recv(world, NULL, 0, other, 2, &status));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_irecv(world, NULL, 0, other, 3, &request));
    CHECK_OK(world, p2p_ssend(world, NULL, 0, p2p_rank(world) ? 0 : 1, 3));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return 0;
}

static int body_null_buf(p2p_comm *world)
{
    arguments a = {NULL, 4, 1, 0};
    int failed = try_sends(world, &a, P2P_ERR_ARG, "NULL");
    if (!failed) failed = try_receives(world, &a, P2P_ERR_ARG, "NULL");
    if (!failed) failed = unaffected(world);
    return failed ? failed : exchange_nothing(world);
}

static void null_buf(void)
{
    run_fine(2, body_null_buf);
}

/* ---- Other arguments ---- */

static int bad_tags(p2p_comm *world)
{
    static const int tags[] = {-1, -2, INT_MIN};
    char word[4] = {0}, fact[32];
    int failed = 0;
    for (size_t i = 0; !failed && i < sizeof tags / sizeof *tags; i++) {
        arguments a = {word, sizeof word, 1, tags[i]};
        snprintf(fact, sizeof fact, "tag %d", tags[i]);
        failed = try_sends(world, &a, P2P_ERR_ARG, fact);
        if (tags[i] == P2P_ANY_TAG) continue;
        if (!failed) failed = try_receives(world, &a, P2P_ERR_ARG, fact);
        if (!failed) failed = try_probes(world, 1, tags[i], P2P_ERR_ARG, fact);
    }
    return failed;
}

static int bad_outputs(p2p_comm *world)
{
    char word[8] = {0};
    WANT_SAID(world, P2P_ERR_ARG, "NULL", p2p_isend(world, word, 4, 1, 0, NULL));
    WANT_SAID(world, P2P_ERR_ARG, "NULL", p2p_irecv(world, word, 4, 1, 0, NULL));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_iprobe(world, 1, 0, NULL, P2P_STATUS_IGNORE));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_stats(world, NULL));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_set_errors(world, (p2p_errors)77));
    WANT_SAID(world, P2P_ERR_ARG, "overlap", p2p_sendrecv(world, word, 5, 1, 0, word + 4, 4, 1, 0, P2P_STATUS_IGNORE));
    return 0;
}

static int bad_groups(p2p_comm *world)
{
    p2p_comm *sub = NULL;
    CHECK_ERR(world, P2P_ERR_ARG, p2p_split(world, 0, 0, NULL));
    CHECK_ERR(world, P2P_ERR_ARG, p2p_split(world, -5, 0, &sub));
    CHECK(!sub, "a group of colour -5 came of it");
    CHECK(NOTE(world, p2p_free(world)) != P2P_OK, "the world was freed");
    return 0;
}

static int body_bad_args(p2p_comm *world)
{
    int other = 1 - p2p_rank(world), word = 5, got = 0;
    size_t index = 3;
    int failed = bad_tags(world);
    if (!failed) failed = bad_outputs(world);
    if (!failed) failed = bad_groups(world);
    if (!failed) failed = unaffected(world);
    if (failed) return failed;
    CHECK(p2p_wait_all(2, NULL, NULL) == P2P_ERR_ARG, "wait_all took NULL for two requests");
    CHECK(p2p_wait_any(2, NULL, &index, NULL) == P2P_ERR_ARG, "wait_any took NULL for two requests");
    CHECK(p2p_wait_all(0, NULL, NULL) == P2P_OK, "wait_all of nothing failed");
    CHECK(p2p_wait_any(0, NULL, &index, NULL) == P2P_OK && index == (size_t)P2P_UNDEFINED, "wait_any of nothing");
    CHECK_OK(world, p2p_sendrecv(world, &word, sizeof word, other, INT_MAX, &got, sizeof got, other, INT_MAX, NULL));
    return got == 5 ? lab_works(world) : complaint_make(__FILE__, __LINE__, "tag INT_MAX carried %d", got);
}

static void launch_refused(lab_job *job, const char *what)
{
    lab_run(job);
    EXPECT(job->result == P2P_ERR_ARG, "p2p_launch with %s gave %d", what, (int)job->result);
    EXPECT(lab->flag[0] == 0, "with %s, ranks were started", what);
    EXPECT(job->text[0], "with %s, nothing was printed", what);
}

static void bad_args(void)
{
    static lab_job job = {.size = 2, .body = body_bad_args}, no_body = {.size = 2},
                   no_world = {.size = 2, .body = lab_was_run, .options = {.world = "nosuch"}},
                   no_time = {.size = 2, .body = lab_was_run, .options = {.timeout_s = -1}};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
    launch_refused(&no_body, "no function");
    launch_refused(&no_world, "an unknown world");
    launch_refused(&no_time, "a negative time limit");
}

/* ---- Before init, after finalize, twice ---- */

static int without_comm(void)
{
    int word = 0;
    p2p_request request = P2P_REQUEST_NULL;
    p2p_comm *sub = NULL;
    bool found;
    CHECK(p2p_rank(NULL) == -1 && p2p_size(NULL) == 0, "rank and size of NULL");
    CHECK(p2p_send(NULL, &word, sizeof word, 0, 0) == P2P_ERR_STATE, "p2p_send took NULL");
    CHECK(p2p_ssend(NULL, &word, sizeof word, 0, 0) == P2P_ERR_STATE, "p2p_ssend took NULL");
    CHECK(p2p_recv(NULL, &word, sizeof word, 0, 0, NULL) == P2P_ERR_STATE, "p2p_recv took NULL");
    CHECK(p2p_isend(NULL, &word, sizeof word, 0, 0, &request) == P2P_ERR_STATE, "p2p_isend took NULL");
    CHECK(p2p_irecv(NULL, &word, sizeof word, 0, 0, &request) == P2P_ERR_STATE, "p2p_irecv took NULL");
    CHECK(p2p_probe(NULL, 0, 0, NULL) == P2P_ERR_STATE, "p2p_probe took NULL");
    CHECK(p2p_iprobe(NULL, 0, 0, &found, NULL) == P2P_ERR_STATE, "p2p_iprobe took NULL");
    CHECK(p2p_split(NULL, 0, 0, &sub) == P2P_ERR_STATE, "p2p_split took NULL");
    CHECK(p2p_free(NULL) == P2P_ERR_STATE, "p2p_free took NULL");
    CHECK(p2p_finalize(NULL) == P2P_ERR_STATE, "p2p_finalize took NULL");
    CHECK(p2p_error_message(NULL)[0] == '\0', "NULL has an error message");
    return 0;
}

static int do_nothing(p2p_comm *world, void *arg)
{
    (void)world, (void)arg;
    return 0;
}

static int after_finalize(p2p_comm *world)
{
    int word = 0;
    p2p_request request = P2P_REQUEST_NULL;
    p2p_comm *sub = NULL;
    CHECK(p2p_rank(world) == -1 && p2p_size(world) == 0, "rank and size after finalize");
    CHECK_ERR(world, P2P_ERR_STATE, p2p_send(world, &word, sizeof word, 0, 0));
    CHECK_ERR(world, P2P_ERR_STATE, p2p_recv(world, &word, sizeof word, 0, 0, NULL));
    CHECK_ERR(world, P2P_ERR_STATE, p2p_isend(world, &word, sizeof word, 0, 0, &request));
    CHECK_ERR(world, P2P_ERR_STATE, p2p_split(world, 0, 0, &sub));
    CHECK(request == P2P_REQUEST_NULL && !sub, "an output was written");
    CHECK_OK(world, p2p_finalize(world));
    return 0;
}

static int body_lifecycle(p2p_comm *world)
{
    p2p_comm *again = NULL;
    int failed = without_comm();
    if (failed) return failed;
    CHECK(p2p_init(&again) == P2P_ERR_STATE && !again, "p2p_init in a rank");
    CHECK(p2p_launch(2, do_nothing, NULL, NULL) == P2P_ERR_STATE, "p2p_launch in a rank");
    failed = lab_works(world);
    if (failed) return failed;
    CHECK_OK(world, p2p_finalize(world));
    return after_finalize(world);
}

static void lifecycle(void)
{
    static lab_job job = {.size = 2, .body = body_lifecycle}, launched, alone;
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
    lab_run_alone(&alone, "init-twice");
    EXPECT(alone.status == 0, "without a launcher: exit status %d", alone.status);
    lab_launch(&launched, ARGS("-n", "2"), "init-twice");
    EXPECT(launched.status == 0, "under build/launch: exit status %d", launched.status);
}

/* ---- Requests ---- */

static int body_request_misuse(p2p_comm *world)
{
    int other = 1 - p2p_rank(world), out = 6, in = 0;
    p2p_request requests[2] = {P2P_REQUEST_NULL, P2P_REQUEST_NULL};
    p2p_status status = {77, 78, 79};
    size_t index = 0;
    bool done = false;
    CHECK_OK(world, p2p_irecv(world, &in, sizeof in, other, 0, &requests[0]));
    CHECK_OK(world, p2p_isend(world, &out, sizeof out, other, 0, &requests[1]));
    CHECK_OK(world, p2p_wait(&requests[0], &status));
    CHECK(requests[0] == P2P_REQUEST_NULL && in == 6 && status.bytes == sizeof in, "the first wait");
    CHECK_OK(world, p2p_wait(&requests[0], &status));
    CHECK(status.bytes == 0, "waiting twice gave %zu bytes", status.bytes);
    CHECK_OK(world, p2p_test(&requests[0], &done, P2P_STATUS_IGNORE));
    CHECK(done, "testing REQUEST_NULL is not done");
    CHECK_OK(world, p2p_wait_all(2, requests, P2P_STATUSES_IGNORE));
    CHECK(requests[1] == P2P_REQUEST_NULL, "wait_all left a request");
    CHECK_OK(world, p2p_wait_any(2, requests, &index, P2P_STATUS_IGNORE));
    CHECK(index == (size_t)P2P_UNDEFINED, "wait_any of nothing gave %zu", index);
    CHECK(p2p_wait(NULL, P2P_STATUS_IGNORE) == P2P_ERR_ARG, "p2p_wait took NULL");
    CHECK(p2p_test(NULL, &done, P2P_STATUS_IGNORE) == P2P_ERR_ARG, "p2p_test took NULL");
    CHECK(p2p_test(&requests[0], NULL, P2P_STATUS_IGNORE) == P2P_ERR_ARG, "p2p_test took NULL for done");
    return lab_works(world);
}

static void request_misuse(void)
{
    static lab_job job = {.size = 2, .body = body_request_misuse};
    lab_run(&job);
    EXPECT(job.status == 0, "exit status %d", job.status);
}

/* Leave something behind on purpose, then finalize. */
enum leak { LEAK_RECEIVE, LEAK_SEND, LEAK_GROUP };
static enum leak leak;
enum { LEAK_BYTES = 1 << 20 };

static int body_leak(p2p_comm *world)
{
    static char buf[LEAK_BYTES];
    p2p_request request;
    p2p_comm *sub;
    if (leak == LEAK_GROUP) CHECK_OK(world, p2p_split(world, 0, 0, &sub));
    if (p2p_rank(world) == 0 && leak == LEAK_RECEIVE) NOTE(world, p2p_irecv(world, buf, 100, 1, 5, &request));
    if (p2p_rank(world) == 0 && leak == LEAK_SEND) NOTE(world, p2p_isend(world, buf, LEAK_BYTES, 1, 6, &request));
    NOTE(world, p2p_finalize(world));
    return 0;
}

/* What each rank's finalize must say; NULL: nothing, it returns P2P_OK. */
static void leak_of(enum leak what, const char *at_zero, const char *amount, const char *at_one)
{
    static lab_job job;
    leak = what;
    job = (lab_job){.size = 2, .body = body_leak};
    lab_run(&job);
    lab_expect_err(0, at_zero ? P2P_ERR_LEAK : P2P_OK);
    lab_expect_err(1, at_one ? P2P_ERR_LEAK : P2P_OK);
    FACTS(lab->rank[0].message, at_zero, amount, "misuse.c:");
    if (at_one) FACTS(lab->rank[1].message, at_one);
    job = (lab_job){.size = 2, .body = body_leak, .fatal = true};
    lab_run(&job);
    lab_expect_status(&job, 1);
    FACTS(job.text, "p2p_finalize", at_zero);
}

static void request_leak(void)
{
    leak_of(LEAK_RECEIVE, "tag 5", "100 bytes", NULL);
    leak_of(LEAK_SEND, "tag 6", "1048576 bytes", "1 unreceived message: from 0, tag 6, 1048576 bytes");
    leak_of(LEAK_GROUP, "communicator", "p2p_split", "communicator");
}

/* ---- Debug mode: buffers that change; two threads ---- */

static size_t modified_bytes;

static int body_modify(p2p_comm *world)
{
    static unsigned char buf[1 << 20];
    p2p_request request;
    if (p2p_rank(world) == 1) {
        CHECK_OK(world, p2p_recv(world, NULL, 0, 0, 2, P2P_STATUS_IGNORE));
        CHECK_OK(world, p2p_recv(world, buf, modified_bytes, 0, 1, P2P_STATUS_IGNORE));
        return 0;
    }
    CHECK_OK(world, p2p_isend(world, buf, modified_bytes, 1, 1, &request));
    buf[modified_bytes / 2] ^= 1;
    CHECK_OK(world, p2p_send(world, NULL, 0, 1, 2));
    WANT_SAID(world, P2P_ERR_ARG, "buffer of isend to 1 changed before wait", p2p_wait(&request, P2P_STATUS_IGNORE));
    CHECK(request == P2P_REQUEST_NULL, "the request is still there");
    CHECK_OK(world, p2p_isend(world, buf, modified_bytes, 0, 3, &request)); /* untouched: no false alarm */
    CHECK_OK(world, p2p_recv(world, buf + sizeof buf / 2, modified_bytes, 0, 3, P2P_STATUS_IGNORE));
    CHECK_OK(world, p2p_wait(&request, P2P_STATUS_IGNORE));
    return 0;
}

static void isend_modify(void)
{
    static const size_t sizes[] = {1, 4096, 300000};
    setenv("PAIRWISE_DEBUG", "1", 1);
    for (size_t i = 0; i < 3; i++) {
        modified_bytes = sizes[i];
        run_fine(2, body_modify);
    }
}

static void *intrude(void *arg)
{
    p2p_comm *world = arg;
    bool found;
    lab_wait_inside(0);
    lab->rank[2].err = p2p_iprobe(world, 1, 0, &found, P2P_STATUS_IGNORE);
    lab_raise_flag(0);
    return NULL;
}

static int body_threads(p2p_comm *world)
{
    int word = 0;
    pthread_t other;
    if (p2p_rank(world) == 1) {
        CHECK(lab_wait_flag(0, 1), "the other thread never ran");
        CHECK_OK(world, p2p_send(world, &word, sizeof word, 0, 0));
        return lab_works(world);
    }
    CHECK(pthread_create(&other, NULL, intrude, world) == 0, "no thread");
    CHECK_OK(world, p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE));
    pthread_join(other, NULL);
    CHECK(lab->rank[2].err == P2P_ERR_STATE, "the second thread got %d", (int)lab->rank[2].err);
    return lab_works(world);
}

static void threads(void)
{
    run_fine(2, body_threads);
}

/* ---- In a forked child of a rank ---- */

static _Noreturn void use_in_child(p2p_comm *world)
{
    int word = 0, wrong = 0;
    p2p_request request = P2P_REQUEST_NULL;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(10);
    wrong += p2p_send(world, &word, sizeof word, 1, 0) != P2P_ERR_STATE;
    wrong += p2p_recv(world, &word, sizeof word, 1, 0, P2P_STATUS_IGNORE) != P2P_ERR_STATE;
    wrong += p2p_isend(world, &word, sizeof word, 1, 0, &request) != P2P_ERR_STATE;
    wrong += p2p_finalize(world) != P2P_ERR_STATE;
    _exit(wrong);
}

static int body_fork_use(p2p_comm *world)
{
    int raw = -1, failed = lab_works(world);
    if (failed || p2p_rank(world) == 1) return failed ? failed : lab_works(world);
    pid_t child = fork();
    if (child == 0) use_in_child(world);
    CHECK(child > 0 && waitpid(child, &raw, 0) == child, "fork: %s", strerror(errno));
    CHECK(WIFEXITED(raw) && WEXITSTATUS(raw) == 0,
          "%d of 4 calls in the child did not give P2P_ERR_STATE (wait status %x)", WEXITSTATUS(raw), (unsigned)raw);
    return lab_works(world);
}

static void fork_use(void)
{
    run_fine(2, body_fork_use);
}

/* ---- More than 4 GiB in one message, in little memory: the same window of it mapped again and again ---- */

#define WINDOW ((size_t)64 << 20)
#define BIG_BYTES (((size_t)4 << 30) + WINDOW + 12345)
enum { WINDOWS = 66 }; /* the last one, partly used, has memory of its own */

static char *map_windows(void)
{
    char *at = mmap(NULL, WINDOWS * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    int fd = memfd_create("faultlab-window", MFD_CLOEXEC);
    if (at == MAP_FAILED || fd < 0 || ftruncate(fd, 2 * (off_t)WINDOW) != 0) return NULL;
    for (size_t i = 0; i < WINDOWS; i++) {
        off_t offset = i == WINDOWS - 1 ? (off_t)WINDOW : 0;
        if (mmap(at + i * WINDOW, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
            return NULL;
    }
    close(fd);
    return at;
}

static int body_big4g(p2p_comm *world)
{
    char *buf = map_windows(), *tail = buf + (WINDOWS - 1) * WINDOW;
    size_t tail_bytes = BIG_BYTES - (WINDOWS - 1) * WINDOW;
    p2p_status status;
    CHECK(buf, "cannot map the windows: %s", strerror(errno));
    if (p2p_rank(world) == 0) {
        lab_fill(buf, WINDOW, 0, 1);
        lab_fill(tail, tail_bytes, 0, 2);
        CHECK_OK(world, p2p_send(world, buf, BIG_BYTES, 1, 0));
        return lab_works(world);
    }
    CHECK_OK(world, p2p_recv(world, buf, BIG_BYTES + 1, 0, 0, &status));
    CHECK(status.bytes == BIG_BYTES, "%zu bytes came", status.bytes);
    CHECK(lab_intact(buf, WINDOW, 0, 1), "the body is not what was sent");
    CHECK(lab_intact(tail, tail_bytes, 0, 2) && tail[tail_bytes] == 0, "the tail is not what was sent");
    return lab_works(world);
}

static void big4g(void)
{
    run_fine(2, body_big4g);
}

const lab_case lab_misuse[] = {
    {"bad-rank", "ranks that do not exist: P2P_ERR_RANK with rank and range, no effect", bad_rank, false},
    {"bad-count", "negative counts: P2P_ERR_ARG, no effect", bad_count, false},
    {"big4g", "a message over 4 GiB arrives whole", big4g, true},
    {"null-buf", "NULL is an error, except for no bytes", null_buf, false},
    {"bad-args", "negative tags, NULL outputs, bad colours, overlap: P2P_ERR_ARG, no effect", bad_args, false},
    {"lifecycle", "before init, after finalize, twice: P2P_ERR_STATE, rank -1, size 0", lifecycle, false},
    {"request-misuse", "waiting twice is harmless: a request that is done is P2P_REQUEST_NULL", request_misuse, false},
    {"request-leak", "finalize lists pending requests and unfreed groups: P2P_ERR_LEAK", request_leak, false},
    {"isend-modify", "PAIRWISE_DEBUG=1: a buffer that changed between isend and wait is found", isend_modify, false},
    {"fork-use", "a forked child of a rank gets P2P_ERR_STATE, and the rank works on", fork_use, false},
    {"threads", "a second thread inside is found", threads, false},
    {NULL, NULL, NULL, false},
};
