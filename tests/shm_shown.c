/* SPDX-License-Identifier: MIT */
// worlds: each
/*
 * shm_shown: a message that its sender writes straight to where a receive waits for it. A receive shows that only while it
 * polls; here it is shown for as long as a test wants, so that what happens meanwhile is known.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "p2p/message/internal.h"
#include "p2p/world/world_shm.h"
#include "tests/util/pattern.h"
#include "tests/util/suite.h"

enum { BYTES = 3 * FAST_PATH_MOST, TAG = 7 };

/* Both ranks see it: how far each of them is. */
typedef struct {
    _Atomic int shown, sent;
} steps;

static unsigned char out[BYTES], in[BYTES];

static void use_shm(void)
{
    setenv("PAIRWISE_WORLD", "shm", 1);
    unsetenv("PAIRWISE_SNDBUF"); /* a message that is not written there must fit into the queue */
}

TestSuite(shm_shown, .init = use_shm);

static void wait_for(_Atomic int *step)
{
    while (!atomic_load(step)) sched_yield();
}

static void fill(unsigned char *buf, int key)
{
    for (size_t i = 0; i < BYTES; i++) buf[i] = (unsigned char)(i * 7 + i / 251 + (size_t)key);
}

static bool holds(const unsigned char *buf, size_t bytes, int key)
{
    for (size_t i = 0; i < bytes; i++)
        if (buf[i] != (unsigned char)(i * 7 + i / 251 + (size_t)key)) return false;
    return true;
}

/* A receive is shown only where copies out of the queue are slow; each copy measures that anew. */
static void copies_are_slow(p2p_link *link)
{
    ((link_end *)link->state)->kib_ns = 1000;
}

/* The link is there, and all that was sent has been received. */
static int open_link(p2p_comm *world)
{
    char byte = 0;
    if (p2p_rank(world) == 0) CALL(p2p_send(world, &byte, 1, 1, 0));
    if (p2p_rank(world) == 1) CALL(p2p_recv(world, &byte, 1, 0, 0, P2P_STATUS_IGNORE));
    copies_are_slow(&world->engine->peers[p2p_rank(world) == 0].link);
    return 0;
}

/* ---- What is written there, and what is not ---- */

/* What rank 1 shows, and whether rank 0's message of BYTES with TAG is to be written there. */
typedef struct {
    const char *what;
    size_t room;
    int tag;
    uint32_t other_context;
    bool nowhere, sends_first, is_written;
} showing;

static const showing showings[] = {
    {"the very message", BYTES, TAG, 0, false, false, true},
    {"more room", BYTES + 100, TAG, 0, false, false, true},
    {"less room", BYTES - 1, TAG, 0, false, false, false},
    {"another tag", BYTES, TAG + 1, 0, false, false, false},
    {"another communicator", BYTES, TAG, 2, false, false, false},
    {"memory that is not there", BYTES, TAG, 0, true, false, false},
    {"a message before it", BYTES, TAG, 0, false, true, false},
};

static int sender(p2p_comm *world, steps *s, const showing *shows, int key)
{
    fill(out, key);
    wait_for(&s->shown);
    if (shows->sends_first) CALL(p2p_send(world, out, 8, 1, TAG + 5));
    CALL(p2p_send(world, out, BYTES, 1, TAG));
    memset(out, 0, BYTES); /* it is this rank's again */
    atomic_store(&s->sent, 1);
    return 0;
}

static int receiver(p2p_comm *world, steps *s, const showing *shows, int key)
{
    static unsigned char shown[BYTES + 100];
    p2p_engine *engine = world->engine;
    p2p_link *link = &engine->peers[0].link;
    void *nowhere = mmap(NULL, BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    p2p_short message;
    char first[8];

    memset(shown, 0, sizeof shown);
    p2p_shown receive = {world->context + shows->other_context, shows->tag, shows->nowhere ? nowhere : shown,
                         shows->room};
    copies_are_slow(link);
    CHECK(engine->world->show(&engine->end, link, &receive), "%s is not shown", shows->what);
    atomic_store(&s->shown, 1);
    wait_for(&s->sent);
    CHECK(engine->world->hide(&engine->end, link), "%s: nothing has come", shows->what);
    bool is_written = engine->world->look(&engine->end, link, &message) && !message.payload;
    CHECK(is_written == shows->is_written, "%s: it was%s written there", shows->what, is_written ? "" : " not");
    CHECK(shows->is_written ? holds(shown, BYTES, key) : holds(shown, 0, 0) && !shown[0] && !shown[BYTES / 2],
          "%s: wrong bytes where it was shown", shows->what);
    if (is_written) {
        CHECK(message.bytes == BYTES && message.tag == TAG && message.context == world->context, "another message");
        p2p__frame_received(engine, &engine->peers[0]);
        engine->world->take(&engine->end, link);
        p2p__consumed(engine, &engine->peers[0], p2p__eager_cost(message.bytes));
    } else {
        if (shows->sends_first) CALL(p2p_recv(world, first, 8, 0, TAG + 5, P2P_STATUS_IGNORE));
        CALL(p2p_recv(world, in, BYTES, 0, TAG, P2P_STATUS_IGNORE));
        CHECK(holds(in, BYTES, key), "%s: wrong bytes through the queue", shows->what);
    }
    munmap(nowhere, BYTES);
    return 0;
}

static int shows_all(p2p_comm *world, void *arg)
{
    if (!world->engine->scoreboard->may_read) return 0;
    if (open_link(world)) return 1;
    for (int i = 0; i < (int)(sizeof showings / sizeof *showings); i++) {
        steps *s = (steps *)arg + i;
        if (p2p_rank(world) == 0 && sender(world, s, &showings[i], i)) return 1;
        if (p2p_rank(world) == 1 && receiver(world, s, &showings[i], i)) return 1;
    }
    return 0;
}

Test(shm_shown, only_the_very_message_is_written_there)
{
    ASSERT_RIGHT(job_right(2, false, shows_all, job_shared(sizeof(steps) * 16)));
}

/* Where the cores share a cache, and now and then elsewhere, nothing is shown. */
static int shows_where_it_pays(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    int shown = 0;

    (void)arg;
    if (open_link(world)) return 1;
    if (p2p_rank(world) == 0) return 0;
    p2p_link *link = &engine->peers[0].link;
    for (int i = 0; i < 1000; i++) {
        bool is_shown = engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES});
        if (is_shown) CHECK(!engine->world->hide(&engine->end, link), "something has come");
        shown += is_shown;
    }
    CHECK(shown > 900 && shown < 1000, "shown %d times of 1000", shown);
    CHECK(!engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, FAST_PATH_MOST}),
          "a short one");
    ((link_end *)link->state)->kib_ns = 30;
    CHECK(!engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES}), "copies are fast");
    return 0;
}

Test(shm_shown, only_where_it_pays)
{
    ASSERT_RIGHT(job_right(2, false, shows_where_it_pays, NULL));
}

/* One copy that was interrupted changes nothing; as many as are remembered do, and one that was fast does at once. */
Test(shm_shown, one_slow_copy_is_no_slow_cache)
{
    static const struct {
        unsigned took, kib_ns;
    } copies[] = {{30, 0},    {25, 0},   {40, 0},   {30, 25},  {90000, 25}, {30, 30},
                  {35, 30},   {200, 30}, {150, 30}, {120, 35}, {130, 120},  {90000, 120},
                  {140, 120}, {45, 45},  {160, 45}, {170, 45}, {180, 45},   {150, 150}};
    link_end link = {.rings = NULL};

    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        p2p__shm_copy_took(&link, copies[i].took);
        cr_expect_eq(link.kib_ns, copies[i].kib_ns, "copy %zu of %u ns: %u", i, copies[i].took, link.kib_ns);
    }
}

/* ---- Hidden in time, or claimed by one that ends ---- */

static int hides_first(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    steps *s = arg;

    if (open_link(world)) return 1;
    if (p2p_rank(world) == 0) return sender(world, s, &showings[0], 1);
    memset(in, 0, BYTES);
    p2p_link *link = &engine->peers[0].link;
    CHECK(engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES}), "not shown");
    CHECK(!engine->world->hide(&engine->end, link), "something has come");
    atomic_store(&s->shown, 1);
    wait_for(&s->sent);
    CHECK(!in[1] && !in[BYTES / 2], "written after it was hidden");
    CALL(p2p_recv(world, in, BYTES, 0, TAG, P2P_STATUS_IGNORE));
    CHECK(holds(in, BYTES, 1), "wrong bytes");
    return 0;
}

Test(shm_shown, nothing_is_written_once_it_is_hidden)
{
    ASSERT_RIGHT(job_right(2, false, hides_first, job_shared(sizeof(steps))));
}

/* Rank 0 claims the receive and is killed before it says that it has written: rank 1 does not wait for ever. */
static int dies_after_claim(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    steps *s = arg;

    if (open_link(world)) return 1;
    p2p_link *link = &engine->peers[p2p_rank(world) == 0].link;
    if (p2p_rank(world) == 0) {
        wait_for(&s->shown);
        atomic_fetch_add(&((link_end *)link->state)->peer_shown->state, 1);
        atomic_store(&s->sent, 1);
        raise(SIGKILL);
    }
    CHECK(engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES}), "not shown");
    atomic_store(&s->shown, 1);
    wait_for(&s->sent);
    CHECK(!engine->world->hide(&engine->end, link), "something has come from a dead rank");
    CALL(p2p_set_errors(world, P2P_ERRORS_RETURN));
    RETURNS(P2P_ERR_PEER_DEAD, p2p_recv(world, in, BYTES, 0, TAG, P2P_STATUS_IGNORE));
    atomic_store(&s->shown, 2);
    return 0;
}

Test(shm_shown, a_sender_that_dies_after_its_claim)
{
    job_result result;

    steps *s = job_shared(sizeof *s);
    job_run(2, NULL, dies_after_claim, s, &result);
    cr_assert_str_empty(result.note, "%s", result.note);
    cr_assert(!result.process.late && s->shown == 2, "rank 1 has not come to its end");
    job_free(&result);
}

/* ---- A sender of another user's, and one that overwrites what it sees ---- */

static _Atomic int *asked; /* NULL: by the system */

/* A rank that has become another user asks whether the other one is there: it is, but may not be sent a signal. */
int kill(pid_t pid, int number)
{
    if (!asked || number) return (int)syscall(SYS_kill, pid, number);
    atomic_fetch_add(asked, 1);
    errno = EPERM;
    return -1;
}

static int claims_for_long(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    steps *s = arg;

    if (open_link(world)) return 1;
    p2p_link *link = &engine->peers[p2p_rank(world) == 0].link;
    if (p2p_rank(world) == 0) {
        wait_for(&s->shown);
        shm_receive *shown = ((link_end *)link->state)->peer_shown;
        uint64_t claimed = atomic_fetch_add(&shown->state, 1) + 1;
        atomic_store(&s->sent, 1);
        while (atomic_load(&s[1].sent) < 2 && !atomic_load(&s[1].shown)) sched_yield();
        atomic_compare_exchange_strong(&shown->state, &claimed, claimed - 2);
        return 0;
    }
    CHECK(engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES}), "not shown");
    atomic_store(&s->shown, 1);
    wait_for(&s->sent);
    asked = &s[1].sent;
    CHECK(!engine->world->hide(&engine->end, link), "something has come");
    atomic_store(&s[1].shown, 1);
    asked = NULL;
    CHECK(atomic_load(&s[1].sent) > 1, "hidden though its sender is there and has claimed it");
    return 0;
}

Test(shm_shown, a_claim_of_another_user_is_waited_for)
{
    ASSERT_RIGHT(job_right(2, false, claims_for_long, job_shared(2 * sizeof(steps))));
}

static int overwrites(p2p_comm *world, void *arg)
{
    p2p_engine *engine = world->engine;
    steps *s = arg;

    if (open_link(world)) return 1;
    p2p_link *link = &engine->peers[p2p_rank(world) == 0].link;
    if (p2p_rank(world) == 0) {
        wait_for(&s->shown);
        atomic_store(&((link_end *)link->state)->peer_shown->state, UINT64_C(0x5555555555555556));
        return sender(world, &s[1], &showings[0], 1);
    }
    CHECK(engine->world->show(&engine->end, link, &(p2p_shown){world->context, TAG, in, BYTES}), "not shown");
    atomic_store(&s->shown, 1);
    while (atomic_load(&((link_end *)link->state)->shown->state) != UINT64_C(0x5555555555555556)) sched_yield();
    CHECK(!engine->world->hide(&engine->end, link), "something has come");
    return receiver(world, &s[1], &showings[0], 1);
}

Test(shm_shown, what_a_rank_overwrites_is_no_claim)
{
    ASSERT_RIGHT(job_right(2, false, overwrites, job_shared(2 * sizeof(steps))));
}

/* ---- Many, and then one through the queue ---- */

enum { LAPS = 40 }; /* records of a line each, in a queue of eight */

/* Rank 0 knows what rank 1 has read of the queue: nothing is written over what is still to be read. */
static int queue_after_many(p2p_comm *world, void *arg)
{
    steps *s = arg;
    p2p_request request;

    if (!world->engine->scoreboard->may_read) return 0;
    if (open_link(world)) return 1;
    for (int i = 0; i < LAPS; i++) {
        if (p2p_rank(world) == 0 && sender(world, &s[i], &showings[0], i)) return 1;
        if (p2p_rank(world) == 1 && receiver(world, &s[i], &showings[0], i)) return 1;
    }
    if (p2p_rank(world) == 0) {
        fill(out, LAPS);
        CALL(p2p_isend(world, out, BYTES, 1, TAG, &request));
        atomic_store(&s[LAPS].sent, 1);
        CALL(p2p_wait(&request, P2P_STATUS_IGNORE));
        return 0;
    }
    wait_for(&s[LAPS].sent);
    CALL(p2p_recv(world, in, BYTES, 0, TAG, P2P_STATUS_IGNORE));
    CHECK(holds(in, BYTES, LAPS), "wrong bytes through the queue");
    return 0;
}

Test(shm_shown, the_queue_goes_on_after_many)
{
    setenv("PAIRWISE_SNDBUF", "1", 1);
    ASSERT_RIGHT(job_right(2, false, queue_after_many, job_shared(sizeof(steps) * (LAPS + 1))));
}

/* ---- As programs do ---- */

/* Back and forth at once, so that a receive often waits; sizes on both sides of the limit, more room than is needed, and
 * receives that are not shown among those that are. */
static int back_and_forth(p2p_comm *world, void *arg)
{
    int rank = p2p_rank(world), other = 1 - rank;

    (void)arg;
    if (open_link(world)) return 1;
    for (int round = 0; round < 2000; round++) {
        size_t bytes = FAST_PATH_MOST - 64 + (size_t)(round * 97) % (BYTES - FAST_PATH_MOST + 64);
        int tag = round % 5 == 4 ? P2P_ANY_TAG : round, source = round % 7 == 6 ? P2P_ANY_SOURCE : other;
        p2p_status status;
        copies_are_slow(&world->engine->peers[other].link);
        for (int turn = 0; turn < 2; turn++) {
            if (turn == rank) {
                fill(out, round + rank);
                CALL(p2p_send(world, out, bytes, other, round));
                memset(out, 0, 64);
            } else {
                CALL(p2p_recv(world, in, round % 3 ? bytes : BYTES, source, tag, &status));
                CHECK(status.bytes == bytes && status.tag == round && status.source == other,
                      "%zu bytes, tag %d from %d", status.bytes, status.tag, status.source);
                CHECK(holds(in, bytes, round + other), "round %d: wrong bytes", round);
            }
        }
    }
    return 0;
}

Test(shm_shown, back_and_forth)
{
    ASSERT_RIGHT(job_right(2, false, back_and_forth, NULL));
    ASSERT_RIGHT(job_right(2, true, back_and_forth, NULL));
}
