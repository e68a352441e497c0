/* SPDX-License-Identifier: MIT */
/* Faults of shared memory: a death while another rank copies from the dying one's memory, and memory that cannot grow.
 * The deaths of ranks that hold a place in a ring are in crash.c. */
#include "lab.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "collectives/collectives.h"
#include "p2p/message/cores.h"
#include "p2p/shared/memory.h"
#include "p2p/world/world.h"

/* ---- A rank dies while its memory is being read: half of it has been copied ---- */

enum { READ_BYTES = 1 << 20 };

static bool kill_halfway(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    size_t half = bytes / 2;
    if (!lab_cma_read(pid, to, from, half)) return false;
    lab->died_at = process_now();
    kill(pid, SIGKILL);
    return lab_wait_gone(1) && lab_cma_read(pid, (char *)to + half, from + half, bytes - half);
}

/* Rank 0 reads from rank 1, the others wait for it. */
static int body_read_death(p2p_comm *world)
{
    static unsigned char buf[READ_BYTES];
    int rank = p2p_rank(world);
    lab_instead_of_cma_read = kill_halfway;
    if (rank == 1)
        NOTE(world, p2p_send(world, buf, sizeof buf, 0, 0));
    else
        NOTE(world, p2p_recv(world, buf, sizeof buf, rank == 0, 0, P2P_STATUS_IGNORE));
    return 0;
}

static void read_death(void)
{
    static lab_job job = {.size = 3, .body = body_read_death, .options = {.world = "shm"}};
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&job);
    EXPECT(lab->died_at > 0, "nothing was read from another rank's memory");
    lab_expect_status(&job, 137);
    lab_expect_survivor(0, 1, "signal 9");
    lab_expect_survivor(2, 1, "signal 9");
}

/* ---- The system forbids to read the memory of other ranks: that is tried once, and messages still arrive ---- */

static bool refuse(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    (void)pid, (void)to, (void)from, (void)bytes;
    lab_raise_flag(0);
    errno = EPERM;
    return false;
}

static int body_read_refused(p2p_comm *world)
{
    static unsigned char out[READ_BYTES], in[READ_BYTES];
    int rank = p2p_rank(world), other = 1 - rank;
    lab_instead_of_cma_read = refuse;
    for (size_t i = 0; i < 3; i++) {
        lab_fill(out, sizeof out, rank, i);
        CHECK_OK(world, p2p_sendrecv(world, out, sizeof out, other, 0, in, sizeof in, other, 0, P2P_STATUS_IGNORE));
        CHECK(lab_intact(in, sizeof in, other, i), "not what was sent");
    }
    return 0;
}

static void read_refused(void)
{
    static lab_job job = {.size = 2, .body = body_read_refused, .options = {.world = "shm"}};
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&job);
    lab_expect_fine(&job);
    EXPECT(lab->flag[0] == 2, "%d tries to read, not one a rank", lab->flag[0]);
}

/* ---- Both ends copy a long message: the receiver begins once the sender has (flag 0), which then fails, or the
 * receiver does ---- */

static bool refuse_to_write(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    (void)pid, (void)from, (void)to, (void)bytes;
    lab_raise_flag(0);
    errno = EPERM;
    return false;
}

static bool die_halfway(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    lab_cma_write(pid, from, to, bytes / 2);
    lab->died_at = process_now();
    lab_raise_flag(0);
    raise(SIGKILL);
    return false;
}

static bool write_and_say_so(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    bool done = lab_cma_write(pid, from, to, bytes);
    lab_raise_flag(0);
    return done;
}

/* Everything else has been read (flag 1, for each chunk), and yet the receive must not return (flag 2) before this
 * does. */
static bool write_late(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    int others = READ_BYTES / (int)bytes - 1;
    lab_raise_flag(0);
    bool alone = lab_wait_flag(1, others);
    for (double until = process_now() + 0.05; process_now() < until;)
        if (lab->flag[2] > 0) return false;
    return lab_cma_write(pid, from, to, bytes) && alone;
}

static bool read_and_say_so(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    bool done = lab_wait_flag(0, 1) && lab_cma_read(pid, to, from, bytes);
    lab_raise_flag(1);
    return done;
}

static bool read_after_write(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    return lab_wait_flag(0, 1) && lab_cma_read(pid, to, from, bytes);
}

/* The first chunk can be read, the next one cannot. */
static bool read_once(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    static int reads;
    errno = EFAULT;
    return lab_wait_flag(0, 1) && ++reads != 2 && lab_cma_read(pid, to, from, bytes);
}

static int body_both_ends(p2p_comm *world)
{
    static unsigned char buf[READ_BYTES];
    int rank = p2p_rank(world);
    if (rank == 1) {
        lab_fill(buf, sizeof buf, 1, 0);
        CHECK_OK(world, p2p_send(world, buf, sizeof buf, 0, 0));
    } else {
        NOTE(world, p2p_recv(world, buf, sizeof buf, 1, 0, P2P_STATUS_IGNORE));
        lab_raise_flag(2);
        CHECK(lab->rank[0].err || lab_intact(buf, sizeof buf, 1, 0), "not what was sent");
    }
    return 0;
}

static lab_job *both_ends(void)
{
    static lab_job job = {.size = 2, .body = body_both_ends, .options = {.world = "shm"}};
    if (p2p__cores() < 2) lab_skip("two ranks share the only core");
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&job);
    EXPECT(lab->flag[0] > 0, "the sender has written nothing to the receiver's memory");
    return &job;
}

static void write_refused(void)
{
    lab_instead_of_cma_write = refuse_to_write;
    lab_instead_of_cma_read = read_after_write;
    const lab_job *job = both_ends();
    lab_expect_fine(job);
    EXPECT(lab->flag[0] == 1, "%d tries to write, not one", lab->flag[0]);
}

static void write_waited_for(void)
{
    lab_instead_of_cma_write = write_late;
    lab_instead_of_cma_read = read_and_say_so;
    lab_expect_fine(both_ends());
}

static void write_death(void)
{
    lab_instead_of_cma_write = die_halfway;
    lab_instead_of_cma_read = read_after_write;
    const lab_job *job = both_ends();
    lab_expect_status(job, 137);
    lab_expect_survivor(0, 1, "signal 9");
}

static void read_breaks(void)
{
    lab_instead_of_cma_write = write_and_say_so;
    lab_instead_of_cma_read = read_once;
    lab_expect_fine(both_ends());
}

/* ---- A ring that is full wherever its end is, while the other side sleeps ---- */

enum { FULL_TIMES = 300, FULL_MOST = 3000 };

/* In turn one is late, so that the other has gone to sleep in a receive when the ring fills. */
static int body_full_ring(p2p_comm *world)
{
    static unsigned char out[FULL_MOST], in[FULL_MOST];
    int rank = p2p_rank(world), other = 1 - rank;
    for (size_t k = 0; k < FULL_TIMES; k++) {
        size_t bytes = k * 37 % FULL_MOST;
        bool sends = k % 2 == (size_t)rank;
        if (sends) nanosleep(&(struct timespec){0, 500000}, NULL);
        if (sends) lab_fill(out, bytes, rank, k);
        if (sends) CHECK_OK(world, p2p_send(world, out, bytes, other, 0));
        if (!sends) CHECK_OK(world, p2p_recv(world, in, bytes, other, 0, P2P_STATUS_IGNORE));
        CHECK(sends || lab_intact(in, bytes, other, k), "message %zu is not what was sent", k);
    }
    return 0;
}

static void full_ring(void)
{
    static lab_job job = {.size = 2, .body = body_full_ring, .options = {.world = "shm"}};
    setenv("PAIRWISE_SNDBUF", "1", 1);
    lab_run(&job);
    lab_expect_fine(&job);
}

/* ---- No more shared memory: no link between 0 and 2; the one between 0 and 1 keeps working ---- */

static void limit_file_size(void)
{
    p2p_config config = {.direct = 0};
    rlim_t limit = (rlim_t)(p2p__scoreboard_bytes(3, &config) + 2 * p2p__world_shm.link_memory(&config, 3) - 1);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){limit, limit});
}

static int ping(p2p_comm *world, int other)
{
    int mine = p2p_rank(world), theirs = -1;
    CHECK_OK(world,
             p2p_sendrecv(world, &mine, sizeof mine, other, 5, &theirs, sizeof theirs, other, 5, P2P_STATUS_IGNORE));
    CHECK(theirs == other, "%d came from %d", theirs, other);
    return 0;
}

static int body_no_growth(p2p_comm *world)
{
    int rank = p2p_rank(world), other = 2 - rank, word = 0, failed = rank == 2 ? 0 : ping(world, 1 - rank);
    if (rank == 0) lab_raise_flag(0);
    if (failed || rank == 1) return failed ? failed : ping(world, 0);
    CHECK(lab_wait_flag(0, 1), "ranks 0 and 1 never met");
    p2p_err err = NOTE(world, p2p_sendrecv(world, &word, 4, other, 6, &word, 0, other, 6, P2P_STATUS_IGNORE));
    CHECK(err == P2P_ERR_SYS, "a link that cannot be gave %d", (int)err);
    memcpy(lab->rank[rank].kept, lab->rank[rank].message, sizeof lab->rank[rank].kept);
    return rank == 0 ? ping(world, 1) : 0;
}

static void no_growth(void)
{
    static lab_job job = {.size = 3, .body = body_no_growth, .setup = limit_file_size, .options = {.world = "shm"}};
    unsetenv("PAIRWISE_SNDBUF");
    lab_run(&job);
    lab_expect_fine(&job);
    for (int rank = 0; rank <= 2; rank += 2)
        FACTS(lab->rank[rank].kept, "shared memory", "File too large", "ulimit -f", "PAIRWISE_WORLD");
}

/* ---- A rank leaves a collective with an error, and uses its buffer again while others still read it there ---- */

enum { BARRIER_COUNT = 5000 };

static void wait_for_the_other(void)
{
    lab_before_combine = NULL;
    lab_wait_flag(0, 1);
}

/* Rank 1 has come to the first meeting and is about to read; rank 0 waits for it at the second, and gives up. */
static int body_barrier_withdrawn(p2p_comm *world)
{
    int rank = p2p_rank(world);
    void *memory;
    CHECK_OK(world, p2p_alloc(world, BARRIER_COUNT * sizeof(int64_t), &memory));
    int64_t *buf = memory;
    for (size_t i = 0; i < BARRIER_COUNT; i++) buf[i] = rank + 1;
    if (rank == 1) lab_before_combine = wait_for_the_other;
    p2p_err err = NOTE(world, coll_all_reduce(world, buf, BARRIER_COUNT, DTYPE_I64, OP_SUM));
    if (rank == 0) CHECK(err == P2P_ERR_TIMEOUT, "rank 0 did not give up: %s", p2p_error_message(world));
    if (rank == 0) memset(buf, 77, BARRIER_COUNT * sizeof *buf);
    if (rank == 0) lab_raise_flag(0);
    for (size_t i = 0; i < BARRIER_COUNT && !err; i++) CHECK(buf[i] == 3, "element %zu is %lld", i, (long long)buf[i]);
    return 0;
}

static void barrier_withdrawn(void)
{
    static lab_job job = {.size = 2, .body = body_barrier_withdrawn, .options = {.world = "shm"}};
    lab_short_timeout();
    lab_run(&job);
    EXPECT(lab->rank[1].err != P2P_OK, "rank 1 has read what rank 0 had written since");
}

const lab_case lab_shm[] = {
    {"read-death", "killed while its memory is being read: PEER_DEAD", read_death, false},
    {"read-refused", "memory that may not be read: the message comes through the ring", read_refused, false},
    {"write-refused", "memory that the sender may not write to: the receiver reads all of it", write_refused, false},
    {"write-late", "the sender is the last to write its part: the receive waits for it", write_waited_for, false},
    {"write-death", "killed while it writes to the receiver's memory: PEER_DEAD", write_death, false},
    {"read-breaks", "reading ends halfway, and the sender has written its part: all comes through the ring",
     read_breaks, false},
    {"full-ring", "a ring that is full while its reader sleeps, wherever its end is: all arrives", full_ring, false},
    {"no-growth", "shared memory that cannot grow: that link is an error with advice, others work", no_growth, false},
    {"meet-withdrawn", "gives up a collective, its buffer is used again: no other rank has a result", barrier_withdrawn,
     false},
    {NULL, NULL, NULL, false},
};
