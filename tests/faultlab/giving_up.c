/* SPDX-License-Identifier: MIT */
/* A sender's call ends early and its buffer is used again: whatever the receiver does later, it never gets those bytes
 * as a success. And ranks that are stopped in the middle of a copy: PAIRWISE_TIMEOUT holds for the others. */
#include "lab.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "p2p/message/cores.h"

enum { BYTES = 1 << 20 };

enum flags { GAVE_UP, RECEIVED, COPYING };

static unsigned char *buf; /* the sender's */

/* Not what was sent, for it is in use again. */
static void use_again(void)
{
    memset(buf, 0xee, BYTES);
    lab_raise_flag(GAVE_UP);
}

static int get_buffer(p2p_comm *world)
{
    static unsigned char plain[BYTES];
    void *shared = plain;
    if (lab->flag[LAB_FLAGS - 1]) CHECK_OK(world, p2p_alloc(world, BYTES, &shared));
    buf = shared;
    lab_fill(buf, BYTES, 1, 0);
    return 0;
}

/* The receive is an error that names the sender and what it did. */
static int receive_late(p2p_comm *world)
{
    static unsigned char in[BYTES];
    CHECK(lab_wait_flag(GAVE_UP, 1), "the sender did not give up");
    CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_recv(world, in, sizeof in, 1, 0, P2P_STATUS_IGNORE));
    memcpy(lab->rank[0].kept, lab->rank[0].message, sizeof lab->rank[0].kept);
    lab_raise_flag(RECEIVED);
    return 0;
}

static int wait_received(void)
{
    use_again();
    CHECK(lab_wait_flag(RECEIVED, 1), "nothing was received");
    return 0;
}

static int body_send(p2p_comm *world)
{
    if (p2p_rank(world) == 0) return receive_late(world);
    if (get_buffer(world)) return 1;
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_send(world, buf, BYTES, 0, 0));
    return wait_received();
}

/* What is under way is lost with the call that fails, though it was another's. */
static int body_isend(p2p_comm *world)
{
    p2p_request request;
    int word;
    if (p2p_rank(world) == 0) return receive_late(world);
    if (get_buffer(world)) return 1;
    CHECK_OK(world, p2p_isend(world, buf, BYTES, 0, 0, &request));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_ssend(world, &word, sizeof word, 0, 1));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_wait(&request, P2P_STATUS_IGNORE));
    return wait_received();
}

static int body_sendrecv(p2p_comm *world)
{
    int word;
    if (p2p_rank(world) == 0) return receive_late(world);
    if (get_buffer(world)) return 1;
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_sendrecv(world, buf, BYTES, 0, 0, &word, 4, 0, 1, P2P_STATUS_IGNORE));
    return wait_received();
}

/* Finalize ends in time once a call has timed out, and takes its memory with it. */
static int body_finalize(p2p_comm *world)
{
    p2p_request request;
    int word;
    if (p2p_rank(world) == 0) return receive_late(world);
    if (get_buffer(world)) return 1;
    CHECK_OK(world, p2p_isend(world, buf, BYTES, 0, 0, &request));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_recv(world, &word, sizeof word, 0, 1, P2P_STATUS_IGNORE));
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_finalize(world));
    if (!lab->flag[LAB_FLAGS - 1]) memset(buf, 0xee, BYTES);
    lab_raise_flag(GAVE_UP);
    CHECK(lab_wait_flag(RECEIVED, 1), "nothing was received");
    return 0;
}

static void give_up(int (*body)(p2p_comm *world), bool shared)
{
    static lab_job job;
    job = (lab_job){.size = 2, .body = body};
    memset(lab, 0, sizeof *lab);
    lab->flag[LAB_FLAGS - 1] = shared;
    lab_run(&job);
    FACTS(lab->rank[0].kept, "rank 1 gave up", "1048576 bytes", "tag 0", "timed out");
}

static void stale_read(void)
{
    int (*const bodies[])(p2p_comm *) = {body_send, body_isend, body_sendrecv, body_finalize};
    setenv("PAIRWISE_TIMEOUT", "1s", 1);
    setenv("PAIRWISE_DIRECT", "1", 1);
    for (int i = 0; i < 8; i++) give_up(bodies[i / 2], i % 2);
}

/* ---- The sender gives up while its memory is being read ---- */

static bool read_half(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    size_t half = bytes / 2;
    bool done = lab_cma_read(pid, to, from, half);
    lab_raise_flag(COPYING);
    return done && lab_wait_flag(GAVE_UP, 1) && lab_cma_read(pid, (char *)to + half, from + half, bytes - half);
}

static int body_read_half(p2p_comm *world)
{
    static unsigned char in[BYTES];
    lab_instead_of_cma_read = read_half;
    if (p2p_rank(world) == 0) {
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_recv(world, in, sizeof in, 1, 0, P2P_STATUS_IGNORE));
        lab_raise_flag(RECEIVED);
        return 0;
    }
    if (get_buffer(world)) return 1;
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_send(world, buf, BYTES, 0, 0));
    return wait_received();
}

static void stale_half(void)
{
    static lab_job job = {.size = 2, .body = body_read_half, .options = {.world = "shm"}};
    lab_short_timeout();
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&job);
    EXPECT(lab->flag[COPYING], "nothing was read from another rank's memory");
}

/* ---- A rank is stopped in the middle of a copy, and goes on later ---- */

/* If the sender is to write a part of it, it has time to begin with that: it stops itself then. */
static bool stop_sender(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    for (double until = process_now() + 0.2; !lab->flag[COPYING] && lab_state(pid) != 'T' && process_now() < until;)
        lab_pause();
    if (!lab->flag[COPYING]) kill(pid, SIGSTOP);
    lab_raise_flag(COPYING);
    return lab_cma_read(pid, to, from, bytes);
}

static bool stop_writing(pid_t pid, void *from, uint64_t to, size_t bytes)
{
    raise(SIGSTOP);
    return lab_cma_write(pid, from, to, bytes);
}

/* All of it can be read from a stopped rank; nothing may be left for that one to write. */
static int body_stop_sender(p2p_comm *world)
{
    static unsigned char in[BYTES];
    lab_instead_of_cma_read = stop_sender;
    lab_instead_of_cma_write = stop_writing;
    if (p2p_rank(world) == 0) {
        CHECK(lab_wait_inside(1), "the sender is not there");
        double before = process_now();
        CHECK_OK(world, p2p_recv(world, in, sizeof in, 1, 0, P2P_STATUS_IGNORE));
        CHECK(process_now() - before < 10, "%.1f s", process_now() - before);
        CHECK(lab_intact(in, sizeof in, 1, 0), "not what was sent");
        kill(lab->rank[1].pid, SIGCONT);
        return 0;
    }
    if (get_buffer(world)) return 1;
    NOTE(world, p2p_send(world, buf, BYTES, 0, 0)); /* it may have been stopped for too long */
    kill(lab->rank[0].pid, SIGCONT);
    return 0;
}

static bool stop_reading(pid_t pid, void *to, uint64_t from, size_t bytes)
{
    size_t half = bytes / 2;
    bool done = lab_cma_read(pid, to, from, half);
    if (!lab->flag[COPYING]) {
        lab_raise_flag(COPYING);
        raise(SIGSTOP);
    }
    return done && lab_cma_read(pid, (char *)to + half, from + half, bytes - half);
}

static int body_stop_receiver(p2p_comm *world)
{
    static unsigned char in[BYTES];
    lab_instead_of_cma_read = stop_reading;
    if (p2p_rank(world) == 0) {
        CHECK_ERR(world, P2P_ERR_PEER_DEAD, p2p_recv(world, in, sizeof in, 1, 0, P2P_STATUS_IGNORE));
        lab_raise_flag(RECEIVED);
        return 0;
    }
    if (get_buffer(world)) return 1;
    double before = process_now();
    CHECK_ERR(world, P2P_ERR_TIMEOUT, p2p_send(world, buf, BYTES, 0, 0));
    CHECK(process_now() - before < 10, "timed out after %.1f s, not 1 s", process_now() - before);
    use_again();
    kill(lab->rank[0].pid, SIGCONT);
    CHECK(lab_wait_flag(RECEIVED, 1), "the receive did not end");
    return 0;
}

static void stop_mid_copy(void)
{
    static lab_job sender = {.size = 2, .body = body_stop_sender, .options = {.world = "shm"}},
                   receiver = {.size = 2, .body = body_stop_receiver, .options = {.world = "shm"}};
    lab_short_timeout();
    setenv("PAIRWISE_DIRECT", "1", 1);
    lab_run(&receiver);
    EXPECT(lab->flag[COPYING], "nothing was read from another rank's memory");
    memset(lab, 0, sizeof *lab);
    lab_run(&sender);
    EXPECT(lab->flag[COPYING], "nothing was read from another rank's memory");
}

const lab_case lab_giving_up[] = {
    {"stale-read", "a sender gives up, the receiver comes later: PEER_DEAD, never the bytes", stale_read, false},
    {"stale-half", "a sender gives up while it is being read: PEER_DEAD, never the bytes", stale_half, false},
    {"stop-mid-copy", "stopped in the middle of a copy, by either end: PAIRWISE_TIMEOUT holds", stop_mid_copy, false},
    {NULL, NULL, NULL, false},
};
