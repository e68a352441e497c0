/* SPDX-License-Identifier: MIT */
/*
 * The crash sweep: rank r is killed at its k-th frame of two all-reduces in a row, for all r and k, until it has no
 * k-th frame left to send. It dies either before the frame has begun to leave, or when half of it has.
 *
 *      every survivor     the right result, or P2P_ERR_PEER_DEAD in time, naming r; never another result, never no end
 *      its next call      the same error, at once
 *      the job            128 + 9
 *
 * Frames are counted where they leave: this program's sendmsg stands before libc's. In the shm world it is records of
 * the rings that are counted, and half of one is its content without its head.
 */
#include "lab.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collectives/collectives.h"
#include "p2p/shared/wire.h"
#include "p2p/world/shm_queue.h"
#include "ring/ring.h"

/* ---- The trap ---- */

static struct {
    bool armed, halfway;
    long left; /* frames that may still leave whole */
} trap;

static bool begins_frame(const struct msghdr *message)
{
    uint32_t magic = WIRE_MAGIC;
    return message->msg_iovlen && message->msg_iov[0].iov_len == sizeof(wire_header) &&
           memcmp(message->msg_iov[0].iov_base, &magic, sizeof magic) == 0;
}

static _Noreturn void spring(int fd, const struct msghdr *message, int flags)
{
    struct iovec parts[2] = {message->msg_iov[0]};
    struct msghdr half = {.msg_iov = parts, .msg_iovlen = 1};
    if (message->msg_iovlen > 1) {
        parts[1] = message->msg_iov[1];
        half.msg_iovlen = 2;
    }
    parts[half.msg_iovlen - 1].iov_len /= 2;
    if (trap.halfway) syscall(SYS_sendmsg, fd, &half, flags);
    lab_die(SIGKILL);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    bool begins = trap.armed && begins_frame(message);
    if (begins && trap.left == 0) spring(fd, message, flags);
    ssize_t sent = syscall(SYS_sendmsg, fd, message, flags);
    if (begins && sent > 0) trap.left--;
    return sent;
}

/* It holds a place in the ring, and has written something into it. */
static void before_record(unsigned char *place)
{
    if (!trap.armed) return;
    if (trap.left-- > 0) return;
    if (trap.halfway) memset(place, 0x5a, QUEUE_LINE - QUEUE_HEAD);
    lab_die(SIGKILL);
}

void lab_die_at_frame(long left, bool in_it)
{
    trap.left = left;
    trap.halfway = in_it;
    trap.armed = true;
    lab_before_record = before_record;
}

/* ---- What is interrupted ---- */

static p2p_err begun_ring(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op)
{
    p2p_request request = P2P_REQUEST_NULL;
    p2p_err err = ring_iall_reduce(comm, buf, count, dtype, op, &request);
    return err ? err : p2p_wait(&request, P2P_STATUS_IGNORE);
}

static const struct algorithm {
    const char *name;
    p2p_err (*run)(p2p_comm *comm, void *buf, size_t count, enum dtype dtype, enum op op);
} algorithms[] = {
    {"naive", coll_naive_all_reduce}, {"tree", coll_tree_all_reduce}, {"doubling", coll_recursive_doubling_all_reduce},
    {"ring", ring_all_reduce},        {"begun ring", begun_ring},
};

enum { ALGORITHMS = sizeof algorithms / sizeof *algorithms, ROUNDS = 2 };

/* Buffered, and waiting for their receives even as the fifth of a buffer. */
enum { SHORT = 100, LONG = 50000 };
enum { MANY = 60 };

static const struct algorithm *algorithm;
static int64_t values[LONG];
static size_t count;
static int victim;
static long frames;
static bool halfway;

static void fill(int rank, int round)
{
    for (size_t i = 0; i < count; i++) values[i] = (rank + 1) * ((int64_t)i + 1) + round;
}

static bool is_right(int n, int round)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != n * (n + 1) / 2 * ((int64_t)i + 1) + n * round) return false;
    return true;
}

static int body_interrupted(p2p_comm *world)
{
    int rank = p2p_rank(world), n = p2p_size(world);
    if (rank == victim) lab_die_at_frame(frames, halfway);
    for (int round = 0; round < ROUNDS; round++) {
        fill(rank, round);
        p2p_err err = NOTE(world, algorithm->run(world, values, count, DTYPE_I64, OP_SUM));
        if (err) {
            p2p_err again = coll_barrier(world);
            CHECK(again == err, "after %d, a barrier gave %d", (int)err, (int)again);
            return 0;
        }
        CHECK(is_right(n, round), "%s, %d ranks, rank %d killed at frame %ld: a wrong result is no error",
              algorithm->name, n, victim, frames);
    }
    return 0;
}

/* ---- The sweep ---- */

static void check_survivor(int rank, const char *what)
{
    const lab_slot *slot = &lab->rank[rank];
    lab_expect_back(rank);
    if (slot->err == P2P_OK) return;
    EXPECT(slot->err == P2P_ERR_PEER_DEAD, "%s: rank %d got %d: %s", what, rank, (int)slot->err, slot->message);
    EXPECT(lab_has(slot->message, "rank %d", victim) && lab_has(slot->message, "signal 9"), "%s: rank %d: %s", what,
           rank, slot->message);
    EXPECT(lab_in_time(slot->at - lab->died_at, LAB_DEATH_BAR), "%s: rank %d knew after %.3f s", what, rank,
           slot->at - lab->died_at);
}

/* Did the victim live to send so many frames? */
static bool dies_at(int n)
{
    static lab_job job;
    char what[128];
    job = (lab_job){.size = n, .body = body_interrupted};
    snprintf(what, sizeof what, "%s, %d ranks, count %zu, rank %d killed %s frame %ld", algorithm->name, n, count,
             victim, halfway ? "in" : "before", frames + 1);
    lab_run(&job);
    if (!(lab->died_at > 0)) {
        EXPECT(job.status == 0, "%s: not killed, and exit status %d", what, job.status);
        return false;
    }
    EXPECT(job.status == 137 && job.statuses[victim] == 137, "%s: exit status %d", what, job.status);
    for (int rank = 0; rank < n; rank++)
        if (rank != victim) check_survivor(rank, what);
    return true;
}

/* Frames 1, 1 + stride, ... of one rank, beginning somewhere else in each sweep; how many deaths that makes. In the shm
 * world the parts of a long message count as well: behind the first MANY they are alike, so each step is longer than
 * the last. */
static int sweep_rank(int n, long stride)
{
    static long sweeps;
    int deaths = 0;
    for (frames = sweeps++ % stride; dies_at(n); frames += frames < MANY ? stride : frames) deaths++;
    return deaths;
}

static void sweep(long stride)
{
    static const size_t counts[] = {SHORT, LONG};
    int deaths = 0;
    for (int n = 2; n <= 5; n++)
        for (size_t a = 0; a < ALGORITHMS; a++)
            for (int i = 0; i < 4; i++) {
                algorithm = &algorithms[a];
                count = counts[i / 2];
                halfway = i % 2;
                for (victim = 0; victim < n; victim++) {
                    /* short of everything, not every rank either */
                    if (stride == 1 || (n + (int)a + i + victim) % 4 == 0) deaths += sweep_rank(n, stride);
                }
            }
    EXPECT(deaths > 50, "only %d deaths", deaths);
}

static void sample(void)
{
    sweep(7);
}
static void everything(void)
{
    sweep(1);
}

const lab_case lab_crash[] = {
    {"crash-sweep", "a rank is killed at its k-th frame of an all-reduce (a sample): an error or the right result",
     sample, false},
    {"crash-sweep-all", "the same for all ranks and all k, n = 2 to 5, every algorithm", everything, true},
    {NULL, NULL, NULL, false},
};
