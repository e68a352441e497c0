/* SPDX-License-Identifier: MIT */
/*
 * shm: the ranks of a job in the shm world as threads of one process, for ThreadSanitizer, which sees nothing across
 * processes. Rings, waiting, the scoreboard, scratch segments and buffers that are read in place are all there; the supervisor is a
 * thread that opens links and passes on nudges.
 *
 *      shm RANKS        says what is wrong and ends with 1, or nothing and 0
 *
 * Every rank has an engine and maps the job's memory for itself. The sanitizer goes by addresses, so that mapping is
 * the same for all here: the program is linked with --wrap for p2p__memory_map, p2p__memory_window and munmap.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/job/launch.h"
#include "p2p/message/internal.h"
#include "p2p/shared/control.h"
#include "p2p/shared/memory.h"
#include "ring/ring.h"

enum { MOST = 8, MAP_BYTES = 1 << 30 };

#define NEED(condition, ...)                                 \
    do {                                                     \
        if (condition) break;                                \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);      \
        fprintf(stderr, __VA_ARGS__), fprintf(stderr, "\n"); \
        exit(1);                                             \
    } while (0)

#define CALL(call) NEED((call) == P2P_OK, "%s: %s", #call, p2p_error_message(comm))

/* ---- One mapping for all ---- */

static char *everything;

void *__wrap_p2p__memory_map(int fd, memory_place place, size_t bytes);
void *__real_p2p__memory_map(int fd, memory_place place, size_t bytes);
memory_window __wrap_p2p__memory_window(int fd);
int __wrap_munmap(void *at, size_t bytes);
int __real_munmap(void *at, size_t bytes);

void *__wrap_p2p__memory_map(int fd, memory_place place, size_t bytes)
{
    if (!everything) return __real_p2p__memory_map(fd, place, bytes); /* the scoreboard, by the supervisor */
    NEED(place + bytes <= MAP_BYTES, "the test needs more memory than it has mapped");
    return everything + place;
}

memory_window __wrap_p2p__memory_window(int fd)
{
    (void)fd;
    return (memory_window){everything, MAP_BYTES, 0};
}

int __wrap_munmap(void *at, size_t bytes)
{
    char *first = at;
    bool is_shared = everything && first >= everything && first < everything + MAP_BYTES;
    return is_shared ? 0 : __real_munmap(at, bytes);
}

/* ---- The supervisor ---- */

typedef struct {
    p2p_job job;
    p2p_rank_process ranks[MOST];
    int theirs[MOST]; /* the ranks' ends of their control sockets */
    _Atomic int gone;
} threads_job;

static void obey(p2p_job *job, int rank, const control_message *message)
{
    switch (message->type) {
    case CONTROL_WANT: p2p__link_want(job, rank, message->rank); break;
    case CONTROL_GOT: p2p__link_got(job, rank); break;
    case CONTROL_WAKE: p2p__tell_rank(job, message->rank, (control_message){CONTROL_NUDGE, -1, 0}, -1); break;
    default: NEED(false, "rank %d sent message %d", rank, message->type);
    }
}

static void *supervise(void *arg)
{
    threads_job *t = arg;
    struct pollfd polled[MOST];
    for (int i = 0; i < t->job.size; i++) polled[i] = (struct pollfd){.fd = t->ranks[i].control, .events = POLLIN};
    while (atomic_load(&t->gone) < t->job.size) {
        poll(polled, (nfds_t)t->job.size, 20);
        for (int i = 0; i < t->job.size; i++) {
            control_message message;
            int fd;
            bool lost;
            while (p2p__control_receive(t->ranks[i].control, &message, &fd, &lost) == 1) obey(&t->job, i, &message);
        }
    }
    return NULL;
}

/* ---- What ranks do ---- */

static unsigned char byte_of(int from, size_t number, size_t i)
{
    return (unsigned char)((size_t)from * 31 + number * 7 + i * 3 + (i >> 8));
}

static void fill(unsigned char *buf, size_t bytes, int from, size_t number)
{
    for (size_t i = 0; i < bytes; i++) buf[i] = byte_of(from, number, i);
}

static void compare(const unsigned char *buf, size_t bytes, int from, size_t number)
{
    for (size_t i = 0; i < bytes; i++)
        NEED(buf[i] == byte_of(from, number, i), "byte %zu of message %zu from %d is wrong", i, number, from);
}

/* Long enough that a rank that waits goes to sleep. */
static void be_late(size_t number)
{
    if (number % 16 == 3) nanosleep(&(struct timespec){0, 2000000}, NULL);
}

/* Round the circle, short messages and long ones, those that fill the ring and those that are read from memory. */
static void messages(p2p_comm *comm)
{
    static const size_t sizes[] = {0, 1, 32, 33, 56, 57, 1000, 8192, 30000, 65536, 65537, 200000};
    int rank = p2p_rank(comm), n = p2p_size(comm), right = (rank + 1) % n, left = (rank + n - 1) % n;
    unsigned char *out = malloc(200000), *in = malloc(200000);
    NEED(out && in, "no memory");
    for (size_t k = 0; k < 240; k++) {
        size_t bytes = sizes[k % (sizeof sizes / sizeof *sizes)];
        if ((size_t)rank == k % (size_t)n) be_late(k);
        fill(out, bytes, rank, k);
        CALL(p2p_sendrecv(comm, out, bytes, right, 0, in, bytes, left, 0, P2P_STATUS_IGNORE));
        compare(in, bytes, left, k);
    }
    free(out);
    free(in);
}

/* More than a queue holds, before any rank receives. */
static void flood(p2p_comm *comm)
{
    enum { MESSAGES = 1500, BYTES = 200 };
    static _Thread_local unsigned char out[MESSAGES][BYTES], in[BYTES];
    static _Thread_local p2p_request requests[MESSAGES];
    int rank = p2p_rank(comm), n = p2p_size(comm), right = (rank + 1) % n, left = (rank + n - 1) % n;
    for (size_t k = 0; k < MESSAGES; k++) {
        fill(out[k], k % BYTES, rank, k);
        CALL(p2p_isend(comm, out[k], k % BYTES, right, 1, &requests[k]));
    }
    be_late((size_t)rank * 3);
    for (size_t k = 0; k < MESSAGES; k++) {
        CALL(p2p_recv(comm, in, BYTES, left, 1, P2P_STATUS_IGNORE));
        compare(in, k % BYTES, left, k);
    }
    CALL(p2p_wait_all(MESSAGES, requests, P2P_STATUSES_IGNORE));
}

typedef p2p_err (*all_reduce)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);

static void sum(p2p_comm *comm, all_reduce function, int64_t *buf, size_t count)
{
    int rank = p2p_rank(comm), n = p2p_size(comm);
    for (size_t i = 0; i < count; i++) buf[i] = (int64_t)i * (rank + 1);
    CALL(function(comm, buf, count, DTYPE_I64, OP_SUM));
    for (size_t i = 0; i < count; i++)
        NEED(buf[i] == (int64_t)i * n * (n + 1) / 2, "element %zu of %zu is wrong", i, count);
}

/* In memory of the rank's own, and in memory that the others read in place. */
static void collectives(p2p_comm *comm)
{
    static const all_reduce functions[] = {coll_one_shot_all_reduce, coll_two_shot_all_reduce, coll_all_reduce,
                                           ring_all_reduce};
    static const size_t counts[] = {0, 1, 6, 7, 1000, 20000, 100000};
    void *shared;
    int64_t *own = malloc(100000 * sizeof *own);
    NEED(own, "no memory");
    for (size_t k = 0; k < 4 * sizeof counts / sizeof *counts; k++) {
        size_t count = counts[k / 4];
        CALL(p2p_alloc(comm, count * sizeof *own, &shared));
        if (k % 3 == (size_t)p2p_rank(comm) % 3) be_late(k % 2 ? 3 : 0);
        sum(comm, functions[k % 4], own, count);
        sum(comm, functions[k % 4], shared, count);
        CALL(coll_barrier(comm));
        CALL(p2p_release(comm, shared));
    }
    free(own);
}

typedef struct {
    threads_job *job;
    int rank;
} place;

static void *be_rank(void *arg)
{
    const place *p = arg;
    threads_job *t = p->job;
    int members[MOST], n = t->job.size;
    p2p_engine *engine;
    for (int i = 0; i < n; i++) members[i] = i;
    p2p_err err = p2p__engine_create(p->rank, t->theirs[p->rank], dup(t->job.scoreboard_fd), t->job.scoreboard,
                                     &engine);
    NEED(!err, "rank %d cannot begin: %s", p->rank, p2p_strerror(err));
    p2p_comm *comm = p2p__comm_new(engine, 0, p->rank, n, members);
    NEED(comm, "no memory");
    p2p_set_errors(comm, P2P_ERRORS_RETURN);
    messages(comm);
    flood(comm);
    collectives(comm);
    CALL(coll_barrier(comm));
    p2p__comm_bury(comm);
    free(comm);
    p2p__engine_destroy(engine);
    atomic_fetch_add(&t->gone, 1);
    return NULL;
}

/* ---- A job ---- */

static void prepare(threads_job *t, int n, int sndbuf)
{
    p2p_config config;
    char why[400];
    NEED(p2p__config_read(&config, why, sizeof why) == P2P_OK, "%s", why);
    snprintf(config.world, sizeof config.world, "shm");
    config.trace_room = 0;
    config.sndbuf = (size_t)sndbuf;
    static const p2p_plan plan = {.relay = -1};
    t->job.plan = &plan;
    t->job.size = n;
    t->job.ranks = t->ranks;
    t->job.scoreboard = p2p__scoreboard_create(n, &config, false, &t->job.scoreboard_fd);
    NEED(t->job.scoreboard && p2p__links_init(&t->job) == P2P_OK, "no scoreboard: %s", strerror(errno));
    void *at = mmap(NULL, MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, t->job.scoreboard_fd, 0);
    NEED(at != MAP_FAILED, "mmap: %s", strerror(errno));
    everything = at;
    for (int i = 0; i < n; i++) {
        int ends[2];
        NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0, "socketpair: %s", strerror(errno));
        t->ranks[i] = (p2p_rank_process){.rank = i, .control = ends[0]};
        t->theirs[i] = ends[1];
    }
}

static void clean_up(threads_job *t)
{
    char *at = everything;
    for (int i = 0; i < t->job.size; i++) close(t->ranks[i].control);
    p2p__links_free(&t->job);
    everything = NULL;
    munmap(at, MAP_BYTES);
    p2p__scoreboard_close(t->job.scoreboard, true);
    close(t->job.scoreboard_fd);
}

static void run(int n, int sndbuf)
{
    threads_job t = {.gone = 0};
    place places[MOST];
    pthread_t threads[MOST + 1];
    prepare(&t, n, sndbuf);
    for (int i = 0; i < n; i++) {
        places[i] = (place){&t, i};
        NEED(pthread_create(&threads[i], NULL, be_rank, &places[i]) == 0, "no thread");
    }
    NEED(pthread_create(&threads[n], NULL, supervise, &t) == 0, "no thread");
    for (int i = 0; i <= n; i++) pthread_join(threads[i], NULL);
    clean_up(&t);
}

int main(int argc, char **argv)
{
    int n = argc == 2 ? atoi(argv[1]) : 0;
    if (n < 2 || n > MOST) {
        fprintf(stderr, "usage: shm RANKS, from 2 to %d\n", MOST);
        return 2;
    }
    run(n, 0);
    run(n, 1); /* with the smallest rings */
    return 0;
}
