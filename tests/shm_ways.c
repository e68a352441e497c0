/* SPDX-License-Identifier: MIT */
/* shm_ways: which way a long message takes, by what the ones before it took. */
#include <string.h>

#include "p2p/world/world_shm.h"
#include "tests/util/suite.h"

enum { SOME = 1000, OFTEN = SOME - SOME / 50 };

static const size_t bytes = (size_t)1 << 20;

/* So many messages, a KiB of which takes that long in either way; how many of them took the queue. */
static int send_some(link_end *link, int count, size_t length, const uint64_t *kib_ns)
{
    int queued = 0;
    for (int i = 0; i < count; i++) {
        enum shm_way way = p2p__shm_way(link, length);
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
