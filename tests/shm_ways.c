/* SPDX-License-Identifier: MIT */
// worlds: last
/* shm_ways: which way a long message takes, by what the ones before it took. */
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "p2p/message/internal.h"
#include "p2p/world/world_shm.h"
#include "tests/util/suite.h"

enum { SOME = 1000, OFTEN = SOME - SOME / 50 };

static char here[2];

static const size_t bytes = (size_t)1 << 20;

/* So many messages, a KiB of which takes that long in either way; how many of them took the queue. */
static int send_some(link_end *link, int count, size_t length, const uint64_t *kib_ns)
{
    int queued = 0;
    for (int i = 0; i < count; i++) {
        enum shm_way way = p2p__shm_way(link, here, length);
        queued += way == SHM_BY_QUEUE;
        p2p__shm_way_took(link, way, length, kib_ns[way] * length / 1024);
    }
    return queued;
}

static const uint64_t queue_is_faster[] = {[SHM_IN_ONE_COPY] = 80, [SHM_BY_QUEUE] = 50};
static const uint64_t copy_is_faster[] = {[SHM_IN_ONE_COPY] = 80, [SHM_BY_QUEUE] = 250};

Test(shm_ways, the_first_ones_take_turns)
{
    static link_end link;
    for (int i = 0; i < 6; i++) {
        int queued = send_some(&link, 1, bytes, copy_is_faster);
        cr_assert_eq(queued, i % 2, "message %d", i);
    }
}

Test(shm_ways, then_all_take_the_faster_one_but_for_a_few)
{
    static link_end queue, copy;
    send_some(&queue, SOME, bytes, queue_is_faster);
    send_some(&copy, SOME, bytes, copy_is_faster);
    int queued = send_some(&queue, SOME, bytes, queue_is_faster),
        copied = SOME - send_some(&copy, SOME, bytes, copy_is_faster);
    cr_assert(queued >= OFTEN && queued < SOME, "%d of %d through the queue", queued, SOME);
    cr_assert(copied >= OFTEN && copied < SOME, "%d of %d in one copy", copied, SOME);
}

Test(shm_ways, what_changes_is_seen)
{
    static link_end link;
    for (int i = 0; i < 3; i++) {
        send_some(&link, 100, bytes, queue_is_faster);
        cr_assert_geq(send_some(&link, SOME, bytes, queue_is_faster), OFTEN);
        send_some(&link, 100, bytes, copy_is_faster);
        cr_assert_leq(send_some(&link, SOME, bytes, copy_is_faster), SOME - OFTEN);
    }
}

Test(shm_ways, one_that_was_interrupted_changes_nothing)
{
    static link_end link;
    send_some(&link, SOME, bytes, queue_is_faster);
    for (int i = 0; i < 10; i++) {
        p2p__shm_way_took(&link, SHM_BY_QUEUE, bytes, bytes * 1000);
        cr_assert_geq(send_some(&link, 60, bytes, queue_is_faster), 58);
    }
}

Test(shm_ways, each_length_is_its_own)
{
    static link_end link;
    send_some(&link, SOME, SHM_LENGTH_LEAST, queue_is_faster);
    send_some(&link, SOME, SIZE_MAX / 1024, copy_is_faster);
    cr_assert_geq(send_some(&link, SOME, 2 * SHM_LENGTH_LEAST - 1, queue_is_faster), OFTEN);
    cr_assert_leq(send_some(&link, SOME, SHM_LENGTH_LEAST << SHM_LENGTHS, copy_is_faster), SOME - OFTEN);
    cr_assert_leq(send_some(&link, 6, 2 * SHM_LENGTH_LEAST, queue_is_faster), 3, "it has not been measured yet");
}

Test(shm_ways, what_has_not_been_timed_is_not_the_fastest)
{
    static link_end link;
    int queued = 0;
    for (int i = 0; i < SOME; i++) queued += p2p__shm_way(&link, here, bytes) == SHM_BY_QUEUE;
    cr_assert_leq(queued, SOME / 20);
}

/* Only what was sent through the queue for that counts, not another payload that ends there. */
Test(shm_ways, what_is_timed)
{
    static link_end link;
    p2p__shm_way_ended(&link, here, bytes);
    p2p__shm_way_ended(&link, NULL, bytes);
    while (p2p__shm_way(&link, here, bytes) != SHM_BY_QUEUE) continue;
    p2p__shm_way_ended(&link, here + 1, bytes);
    p2p__shm_way_ended(&link, here, bytes - 1);
    for (int i = 0; i < SHM_LENGTHS; i++) cr_assert_eq(link.ways[i].last[SHM_BY_QUEUE].count, 0);
    p2p__shm_way_ended(&link, here, bytes);
    p2p__shm_way_ended(&link, here, bytes);
    unsigned timed = 0;
    for (int i = 0; i < SHM_LENGTHS; i++) timed += link.ways[i].last[SHM_BY_QUEUE].count;
    cr_assert_eq(timed, 1);
}

/* ---- Whoever computes is not waited for ---- */

enum { MESSAGES = 40, TAG = 3 };

/* Both ranks see it: how many messages the receiver has. */
static _Atomic int *received;

static void run(int (*body)(p2p_comm *, void *))
{
    setenv("PAIRWISE_WORLD", "shm", 1);
    unsetenv("PAIRWISE_HOSTS");
    received = mmap(NULL, sizeof *received, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq((void *)received, MAP_FAILED);
    cr_assert_eq(p2p_launch(2, body, NULL, NULL), 0);
    munmap(received, sizeof *received);
}

/* Looks at nothing of Pairwise's until the message has been received. */
static void compute_until_received(int count)
{
    while (atomic_load(received) < count) continue;
}

static int sends_and_computes(p2p_comm *world, void *arg)
{
    (void)arg;
    unsigned char *buf = calloc(1, bytes);
    int rank = p2p_rank(world), wrong = !buf;
    if (!world->engine->scoreboard->may_read) return 0;                                   /* then it has to wait */
    p2p_sendrecv(world, "", 1, !rank, TAG, &(char){0}, 1, !rank, TAG, P2P_STATUS_IGNORE); /* the link is there */
    for (int i = 0; i < MESSAGES && !wrong; i++) {
        p2p_request request = NULL;
        if (rank == 0) {
            buf[bytes - 1] = (unsigned char)i;
            p2p_isend(world, buf, bytes, 1, TAG, &request);
            compute_until_received(i + 1);
            p2p_wait(&request, P2P_STATUS_IGNORE);
        } else {
            p2p_recv(world, buf, bytes, 0, TAG, P2P_STATUS_IGNORE);
            wrong = buf[bytes - 1] != i;
            atomic_fetch_add(received, 1);
        }
    }
    free(buf);
    return wrong;
}

Test(shm_ways, a_receive_ends_while_its_sender_computes, .timeout = 60)
{
    run(sends_and_computes);
}

/* Here a receive that nobody waits for: its sender is told as soon as it looks, and may go on. */
static int receives_and_computes(p2p_comm *world, void *arg)
{
    (void)arg;
    unsigned char *buf = calloc(1, bytes);
    int rank = p2p_rank(world), wrong = !buf;
    for (int i = 0; i < MESSAGES && !wrong; i++) {
        if (rank == 0) {
            buf[bytes - 1] = (unsigned char)i;
            p2p_send(world, buf, bytes, 1, TAG);
            atomic_fetch_add(received, 1);
        } else {
            p2p_request request = NULL;
            p2p_status status;
            p2p_probe(world, 0, TAG, &status); /* it is here, and matches at once */
            p2p_irecv(world, buf, bytes, 0, TAG, &request);
            compute_until_received(i + 1);
            p2p_wait(&request, &status);
            wrong = buf[bytes - 1] != i;
        }
    }
    free(buf);
    return wrong;
}

Test(shm_ways, a_send_ends_while_its_receiver_computes, .timeout = 60)
{
    run(receives_and_computes);
}
